/* Clients that are not connected yet may cost a server little: places, answers, requests, memory of
   tokens. All of it is bounded. */
#include "secure_rig.h"

TEST(pending_clients_time_out)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(rig, 1);
    rig_challenge(rig, client, &at);
    rig->now += 4.99;
    cw_netcode_server_update(rig->server, rig->now);
    assert_int_equal(rig_stats(rig).pending, 1);
    rig->now += 0.02;
    cw_netcode_server_update(rig->server, rig->now);
    assert_int_equal(rig_stats(rig).pending, 0);
    rig_up(rig, client, &at);
    assert_int_equal(cw_netcode_server_dropped(rig->server, CW_ERROR_NOT_CONNECTED), 1);
    rig_no_event(rig);
}

/* Seconds that it has to respond: its token's timeout, at most ten. */
TEST(pending_time)
{
    static const struct {
        int32_t timeout;
        double seconds;
    } cases[] = {{-1, 10}, {0, 10}, {1, 1}, {9, 9}, {11, 10}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig *rig = rig_open();
        const struct cw_address at = rig_client_address(1);
        struct cw_token_grant grant = rig_grant(rig, 1);
        grant.timeout_seconds = cases[i].timeout;
        uint8_t token[CW_TOKEN_SIZE];
        assert_ok(cw_token_generate(&grant, rig_key, token));
        assert_ok(rig_give_token(rig, &at, token));
        /* From its last request on. */
        rig->now += cases[i].seconds / 2;
        assert_ok(rig_give_token(rig, &at, token));
        cw_netcode_server_update(rig->server, rig->now + cases[i].seconds - 0.01);
        assert_int_equal(rig_stats(rig).pending, 1);
        cw_netcode_server_update(rig->server, rig->now + cases[i].seconds);
        assert_int_equal(rig_stats(rig).pending, 0);
    }
}

/* More clients than may be pending: the next one waits for room, and is not denied. */
TEST(pending_is_bounded)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.max_pending = 3;
    rig_start(&rig);
    uint8_t tokens[5][CW_TOKEN_SIZE];
    for (uint32_t n = 0; n < 5; n++) {
        const struct cw_address at = rig_client_address(n);
        rig_token(&rig, tokens[n], n);
        assert_int_equal(rig_give_token(&rig, &at, tokens[n]),
                         n < 3 ? CW_OK : CW_ERROR_PENDING_FULL);
    }
    const struct cw_address at = rig_client_address(4);
    rig.now += 5.01;
    cw_netcode_server_update(rig.server, rig.now);
    assert_ok(rig_give_token(&rig, &at, tokens[4]));
}

/* However often a client asks before the server gets to answer, it is answered once; and not when
   it was forgotten meanwhile. */
TEST(one_challenge_for_many_requests)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.max_pending = 2;
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    uint8_t token[CW_TOKEN_SIZE];
    rig_token(&rig, token, 1);
    const struct cw_address other = rig_client_address(2);
    uint8_t other_token[CW_TOKEN_SIZE];
    rig_token(&rig, other_token, 2);
    assert_ok(rig_give_token(&rig, &other, other_token));
    for (int i = 0; i < 100; i++)
        assert_ok(rig_give_token(&rig, &at, token));
    assert_int_equal(rig_down(&rig, NULL, NULL), 2);
    assert_int_equal(rig_stats(&rig).challenges_sent, 2);
    assert_ok(rig_give_token(&rig, &at, token));
    rig.now += 5.01;
    cw_netcode_server_update(rig.server, rig.now);
    assert_int_equal(rig_stats(&rig).pending, 0);
    assert_true(rig_silent(&rig));
    assert_ok(rig_give_token(&rig, &at, token));
    assert_int_equal(rig_down(&rig, NULL, NULL), 1);
}

/* One client changes its token again and again before the server gets to answer; the others still
   get their challenges, in the order in which they came. */
TEST(challenges_wait_in_order)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.max_pending = 3;
    rig_start(&rig);
    const struct cw_address at[3] = {rig_client_address(1), rig_client_address(2),
                                     rig_client_address(3)};
    for (int round = 0; round < 3; round++) {
        uint8_t token[CW_TOKEN_SIZE], datagram[CW_SECURE_MAX];
        struct cw_address to;
        rig_token(&rig, token, 1);
        assert_ok(rig_give_token(&rig, &at[0], token));
        for (int i = 0; i < 4; i++) {
            rig_token(&rig, token, 2);
            assert_ok(rig_give_token(&rig, &at[1], token));
        }
        rig_token(&rig, token, 3);
        assert_ok(rig_give_token(&rig, &at[2], token));
        for (int i = 0; i < 3; i++) {
            assert_int_equal(
                cw_netcode_server_transmit(rig.server, datagram, sizeof(datagram), rig.now, &to),
                9 + CW_CHALLENGE_BODY_SIZE + CW_MAC_BYTES);
            assert_true(cw_address_equal(&to, &at[i]));
        }
        assert_true(rig_silent(&rig));
    }
}

TEST(denials_are_bounded)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = 1;
    rig_start(&rig);
    const struct cw_address at = rig_client_address(0);
    struct cw_netcode_client *client = rig_client(&rig, 0);
    rig_connect(&rig, client, &at);
    rig_down(&rig, NULL, NULL);
    uint32_t id = 1;
    for (uint32_t waiting = 5; waiting <= 100; waiting += 19) {
        struct cw_address to, first = rig_client_address(id);
        uint8_t token[CW_TOKEN_SIZE], datagram[CW_SECURE_MAX];
        for (uint32_t n = 0; n < waiting; n++, id++) {
            const struct cw_address from = rig_client_address(id);
            rig_token(&rig, token, id);
            assert_int_equal(rig_give_token(&rig, &from, token), CW_ERROR_SERVER_FULL);
        }
        for (uint32_t n = 0; n < waiting && n < 32; n++) {
            assert_int_equal(
                cw_netcode_server_transmit(rig.server, datagram, sizeof(datagram), rig.now, &to),
                25);
            first = rig_client_address(id - waiting + n);
            assert_true(cw_address_equal(&to, &first));
        }
        assert_true(rig_silent(&rig));
    }
}

TEST(requests_are_limited)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.requests_per_second = 100;
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    uint8_t token[CW_TOKEN_SIZE], request[CW_REQUEST_SIZE];
    rig_token(&rig, token, 1);
    rig_request(request, token);
    request[100] ^= 1;
    for (int i = 0; i < 1000; i++) {
        rig.now += 0.001;
        rig_give(&rig, &at, request, sizeof(request));
    }
    assert_in_range(cw_netcode_server_dropped(rig.server, CW_ERROR_NOT_AUTHENTIC), 99, 111);
    assert_int_equal(cw_netcode_server_dropped(rig.server, CW_ERROR_NOT_AUTHENTIC) +
                         cw_netcode_server_dropped(rig.server, CW_ERROR_TOO_MANY_REQUESTS),
                     1000);
}

/* At a rate of less than one in a tenth of a second one is taken as soon as it has been saved up,
   and after any pause no more than one. */
TEST(few_requests_are_taken_one_by_one)
{
    static const struct {
        double wait;
        enum cw_error error;
    } steps[] = {{0, CW_ERROR_NOT_AUTHENTIC},
                 {0, CW_ERROR_TOO_MANY_REQUESTS},
                 {0.25, CW_ERROR_TOO_MANY_REQUESTS},
                 {0.25, CW_ERROR_NOT_AUTHENTIC},
                 {0.375, CW_ERROR_TOO_MANY_REQUESTS},
                 {0.125, CW_ERROR_NOT_AUTHENTIC},
                 {20, CW_ERROR_NOT_AUTHENTIC},
                 {0, CW_ERROR_TOO_MANY_REQUESTS},
                 /* a clock that goes back takes nothing away */
                 {-100, CW_ERROR_TOO_MANY_REQUESTS},
                 {0.5, CW_ERROR_NOT_AUTHENTIC}};
    struct rig rig;
    rig_init(&rig);
    rig.config.requests_per_second = 2;
    rig.now = -1000;
    rig.config.max_token_life_seconds = 0;
    rig.config.addresses = &rig.address;
    rig.server = netcode_server_with(&rig.config);
    const struct cw_address at = rig_client_address(1);
    const uint8_t wrong_key[CW_KEY_BYTES] = {1};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        rig.now += steps[i].wait;
        const struct cw_token_grant grant = rig_grant(&rig, 1);
        assert_int_equal(rig_give_grant(&rig, &at, &grant, wrong_key), steps[i].error);
    }
}

/* More of them come at once when they have been saved up, but no more than a tenth of a second's.
 */
TEST(burst_of_requests)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.requests_per_second = 200;
    rig.config.max_token_life_seconds = 0;
    rig.config.addresses = &rig.address;
    rig.server = netcode_server_with(&rig.config);
    const struct cw_address at = rig_client_address(1);
    const uint8_t wrong_key[CW_KEY_BYTES] = {1};
    for (int burst = 0; burst < 2; burst++) {
        const struct cw_token_grant grant = rig_grant(&rig, 1);
        for (int i = 0; i < 25; i++)
            assert_int_equal(rig_give_grant(&rig, &at, &grant, wrong_key),
                             i < 20 ? CW_ERROR_NOT_AUTHENTIC : CW_ERROR_TOO_MANY_REQUESTS);
        rig.now += 100;
    }
}

/* Somebody has all the tokens of one account that a backend gives, every second as many as a server
   lets clients be pending, and asks with them from as many addresses. Everybody else gets in at
   once. */
TEST(one_account_keeps_nobody_out)
{
    enum { ADDRESSES = 128, SECONDS = 60, ACCOUNT = 7 };
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = 64;
    rig_start(&rig);
    const struct cw_address newcomers = rig_client_address(50000);
    for (uint32_t second = 0; second < SECONDS; second++) {
        for (uint32_t n = 0; n < ADDRESSES; n++) {
            const struct cw_address at = rig_client_address(n);
            uint8_t token[CW_TOKEN_SIZE];
            rig_token(&rig, token, ACCOUNT);
            rig_give_token(&rig, &at, token);
            rig.now += 1.0 / ADDRESSES;
            assert_int_equal(rig_stats(&rig).pending, 1);
        }
        struct cw_netcode_client *newcomer = rig_client(&rig, 1000 + second);
        rig_connect(&rig, newcomer, &newcomers);
        cw_netcode_client_disconnect(newcomer);
        rig_up(&rig, newcomer, &newcomers);
        rig_drain(&rig, NULL);
    }
    assert_int_equal(rig_stats(&rig).connections, SECONDS);
}

TEST(history_is_bounded)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.token_history = 20;
    rig.config.max_pending = 100;
    rig_start(&rig);
    for (uint32_t round = 0; round < 10; round++) {
        for (uint32_t n = 0; n < 25; n++) {
            const struct cw_address at = rig_client_address(100 * round + n);
            uint8_t token[CW_TOKEN_SIZE];
            rig_token(&rig, token, n);
            assert_int_equal(rig_give_token(&rig, &at, token),
                             n < 20 ? CW_OK : CW_ERROR_HISTORY_FULL);
        }
        rig.now += 45;
        cw_netcode_server_update(rig.server, rig.now);
    }
}

/* The place of a token that was consumed goes to another one. */
TEST(history_forgets)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.token_history = 1;
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    for (uint64_t id = 1; id <= 3; id++) {
        struct cw_netcode_client *client = rig_client(&rig, id);
        rig_up(&rig, client, &at);
        rig_down(&rig, NULL, NULL);
        rig.now += 0.2;
        rig_connect(&rig, client, &at);
        assert_int_equal(cw_netcode_server_dropped(rig.server, CW_ERROR_TOKEN_USED), 0);
        cw_netcode_client_disconnect(client);
        rig_up(&rig, client, &at);
        struct cw_netcode_server_event event;
        assert_true(cw_netcode_server_next(rig.server, &event));
        rig.now += 45;
        cw_netcode_server_update(rig.server, rig.now);
    }
}

/* Wherever in a full history a token has expired, the next one takes its place. */
TEST(history_finds_what_expired)
{
    enum { CAPACITY = 9 };
    for (uint32_t short_lived = 0; short_lived < CAPACITY; short_lived++) {
        struct rig rig;
        rig_init(&rig);
        rig.config.token_history = CAPACITY;
        rig.config.max_pending = 100;
        rig_start(&rig);
        /* A start long ago, so that tokens of any life are taken. */
        rig.now += 100;
        for (uint32_t n = 0; n < CAPACITY + 2; n++) {
            const struct cw_address at = rig_client_address(n);
            struct cw_token_grant grant = rig_grant(&rig, n);
            if (n == short_lived)
                grant.life_seconds = 5;
            if (n == CAPACITY)
                rig.now += 6;
            assert_int_equal(rig_give_grant(&rig, &at, &grant, rig_key),
                             n <= CAPACITY ? CW_OK : CW_ERROR_HISTORY_FULL);
        }
    }
}
