/* Tokens that were used: each from one address and for one connection, until it expires. */
#include "netcode/token_history.h"

#include "fixture.h"

#include <stdalign.h>
#include <string.h>

#define CAPACITY 20

static alignas(max_align_t) uint8_t memory[8192];
static const struct cw_address here = {.type = CW_ADDRESS_IPV4, .bytes = {10, 0, 0, 1}, .port = 1};
static const struct cw_address there = {.type = CW_ADDRESS_IPV4, .bytes = {10, 0, 0, 1}, .port = 2};

static struct cw_token_history make_history(void)
{
    struct cw_arena arena = {.base = memory, .size = sizeof memory};
    struct cw_token_history history = {0};
    memset(memory, 0, sizeof memory);
    cw_token_history_layout(&history, &arena, CAPACITY);
    assert_true(arena.used < sizeof memory);
    return history;
}

/* The MACs of all tokens begin alike, so that they have the same hash. */
static const uint8_t *mac_of(uint32_t token)
{
    static uint8_t mac[CW_MAC_BYTES];
    memset(mac, 5, sizeof mac);
    memcpy(mac + 12, &token, sizeof token);
    return mac;
}

/* Each token is another client's. */
static enum cw_error use(struct cw_token_history *history, uint32_t token,
                         const struct cw_address *address, uint64_t expire_time, uint64_t now)
{
    return cw_token_history_use(history, mac_of(token), token, address, expire_time, now);
}

/* All tokens are one client's. */
static enum cw_error use_own(struct cw_token_history *history, uint32_t token,
                             const struct cw_address *address, uint64_t expire_time, uint64_t now)
{
    return cw_token_history_use(history, mac_of(token), 7, address, expire_time, now);
}

TEST(one_address_may_use_a_token_again)
{
    struct cw_token_history history = make_history();
    assert_ok(use(&history, 1, &here, 100, 10));
    assert_ok(use(&history, 1, &here, 100, 11));
    assert_int_equal(use(&history, 1, &there, 100, 12), CW_ERROR_TOKEN_USED);
    assert_ok(use(&history, 2, &there, 100, 12));
}

TEST(a_token_is_consumed_once)
{
    struct cw_token_history history = make_history();
    assert_false(cw_token_history_consume(&history, mac_of(1)));
    assert_ok(use(&history, 1, &here, 100, 10));
    assert_ok(use(&history, 2, &here, 100, 10));
    assert_true(cw_token_history_consume(&history, mac_of(1)));
    assert_int_equal(use(&history, 1, &here, 100, 10), CW_ERROR_TOKEN_USED);
    assert_ok(use(&history, 2, &here, 100, 10));
}

/* None of those that can still be used is forgotten for a new one. */
TEST(a_full_history_waits_for_the_first_to_expire)
{
    struct cw_token_history history = make_history();
    for (uint32_t token = 0; token < CAPACITY; token++)
        assert_ok(use(&history, token, &here, 100 + token, 10));
    assert_int_equal(use(&history, 100, &here, 200, 10), CW_ERROR_HISTORY_FULL);
    for (uint32_t token = 0; token < CAPACITY; token++)
        assert_int_equal(use(&history, token, &there, 100 + token, 10), CW_ERROR_TOKEN_USED);
    assert_ok(use(&history, 100, &here, 200, 100));
    assert_int_equal(use(&history, 101, &here, 200, 100), CW_ERROR_HISTORY_FULL);
    assert_ok(use(&history, 101, &here, 200, 101));
    for (uint32_t token = 2; token < CAPACITY; token++)
        assert_int_equal(use(&history, token, &there, 100 + token, 101), CW_ERROR_TOKEN_USED);
}

TEST(a_clock_set_back_brings_no_token_back)
{
    struct cw_token_history history = make_history();
    for (uint32_t token = 0; token < CAPACITY; token++)
        assert_ok(use(&history, token, &here, 100, 10));
    assert_ok(use(&history, 100, &here, 200, 100));
    for (uint32_t token = 0; token < CAPACITY; token++)
        assert_int_equal(use(&history, token, &there, 100, 10), CW_ERROR_TOKEN_USED);
}

/* Any number of lives of the same places. */
TEST(places_are_used_again)
{
    struct cw_token_history history = make_history();
    for (uint32_t token = 0; token < 1000 * CAPACITY; token++) {
        const uint64_t now = 10 + token;
        assert_ok(use(&history, token, &here, now + CAPACITY / 2, now));
        assert_int_equal(use(&history, token, &there, now + CAPACITY / 2, now),
                         CW_ERROR_TOKEN_USED);
    }
}

/* The share of a client id goes to its newest tokens. None that made room is taken again, used or
   not, and everybody else finds a place. */
TEST(a_client_has_a_share)
{
    enum { TOKENS = 1000 };
    struct cw_token_history history = make_history();
    for (uint32_t token = 0; token < TOKENS; token++) {
        assert_ok(use_own(&history, token, &here, 2000 + token, 10));
        assert_true(cw_token_history_has(&history, mac_of(token)));
        if (token % 2)
            assert_true(cw_token_history_consume(&history, mac_of(token)));
    }
    for (uint32_t token = 0; token < TOKENS; token++) {
        const bool is_kept = token >= TOKENS - CW_TOKEN_HISTORY_SHARE;
        assert_int_equal(cw_token_history_has(&history, mac_of(token)), is_kept);
        assert_int_equal(use_own(&history, token, &here, 2000 + token, 10),
                         is_kept && token % 2 == 0 ? CW_OK : CW_ERROR_TOKEN_USED);
        if (!is_kept)
            assert_false(cw_token_history_consume(&history, mac_of(token)));
    }
    for (uint32_t other = TOKENS; other < TOKENS + CAPACITY - CW_TOKEN_HISTORY_SHARE; other++)
        assert_ok(use(&history, other, &there, 100, 10));
    assert_int_equal(use(&history, 2 * TOKENS, &there, 100, 10), CW_ERROR_HISTORY_FULL);
}

/* A token that expires before all of a full share is older than what the client uses now. Tokens
   of one second are taken up to one more than the share, as nothing tells their order then. */
TEST(a_full_share_takes_no_older_token)
{
    struct cw_token_history history = make_history();
    uint32_t token = 0;
    for (; token < CW_TOKEN_HISTORY_SHARE; token++)
        assert_ok(use_own(&history, token, &here, 100, 10));
    assert_int_equal(use_own(&history, 500, &here, 99, 10), CW_ERROR_TOKEN_USED);
    assert_ok(use_own(&history, token++, &here, 100, 10));
    assert_int_equal(use_own(&history, token++, &here, 100, 10), CW_ERROR_TOKEN_USED);
    assert_ok(use_own(&history, token++, &here, 101, 10));
    uint32_t kept = 0;
    for (uint32_t old = 0; old < token; old++)
        kept += use_own(&history, old, &here, old + 1 == token ? 101 : 100, 10) == CW_OK;
    assert_int_equal(kept, CW_TOKEN_HISTORY_SHARE);
}

/* When the tokens of a share have expired, the client has all of it again. */
TEST(a_share_is_free_again)
{
    struct cw_token_history history = make_history();
    for (uint64_t now = 10; now < 100000; now += 100)
        for (uint32_t n = 0; n < 2 * CW_TOKEN_HISTORY_SHARE; n++) {
            const uint32_t token = (uint32_t)now + n;
            assert_ok(use_own(&history, token, &here, now + 10 + n, now));
            assert_int_equal(use_own(&history, token, &there, now + 10 + n, now),
                             CW_ERROR_TOKEN_USED);
        }
}
