/* A server logs who comes, moves and goes, and who is refused, but never all of a flood. */
#include "kept_log.h"
#include "secure_rig.h"

#include <inttypes.h>

#define REFUSED                                                                                    \
    "1 refused 10.1.0.9:1009: the token or packet was altered, or sealed with another key"

static void open_logged(struct rig *rig, struct kept_log *log, enum cw_log_level level)
{
    *log = (struct kept_log){0};
    rig_init(rig);
    rig->config.log = kept_log_at(log, level);
    rig_start(rig);
}

/* Checks the line about a client that has connected, which has the id of its token. */
static void expect_connected(const struct kept_log *log, size_t *at, const struct rig *rig,
                             const struct cw_netcode_client *client)
{
    struct cw_server_client_info about;
    char line[128];
    const uint64_t token = cw_netcode_client_token_id(client);
    snprintf(line, sizeof line,
             "2 client 0 (id 42) connected from 10.1.0.1:1001 with token %016" PRIx64, token);
    kept_log_expect(log, at, line);
    assert_true(cw_netcode_server_client(rig->server, 0, &about));
    assert_true(token != 0 && about.token_id == token);
}

TEST(clients_are_followed_from_their_start_to_their_end)
{
    struct kept_log log;
    struct rig rig;
    open_logged(&rig, &log, CW_LOG_INFO);
    size_t at = 0;
    const struct cw_address here = rig_client_address(1), there = rig_client_address(2);

    struct cw_netcode_client *client = rig_client(&rig, 42);
    rig_connect(&rig, client, &here);
    expect_connected(&log, &at, &rig, client);
    assert_ok(cw_netcode_client_move(client, rig.now));
    for (int i = 0; i < 4; i++)
        rig_tick(&rig, client, &there);
    kept_log_expect(&log, &at, "2 client 0 (id 42) moved to 10.1.0.2:1002");
    struct cw_netcode_client *newer = rig_client(&rig, 42);
    for (int i = 0; i < 3; i++)
        rig_tick(&rig, newer, &here);
    kept_log_expect(&log, &at,
                    "2 client 0 (id 42) disconnected: the same client has connected anew");
    rig_drain(&rig, NULL);
    rig_connect(&rig, newer, &here);
    expect_connected(&log, &at, &rig, newer);
    cw_netcode_server_disconnect(rig.server, 0, 7, "two\nlines");
    kept_log_expect(&log, &at, "2 client 0 (id 42) disconnected: by the server, code 7: two lines");
    rig_down(&rig, NULL, NULL);
    rig_drain(&rig, NULL);

    for (uint64_t id = UINT64_MAX - 2; id < UINT64_MAX; id++) {
        client = rig_client(&rig, id);
        rig_connect(&rig, client, &here);
        at++;
        if (id == UINT64_MAX - 2) {
            cw_netcode_client_disconnect(client);
            rig_up(&rig, client, &here);
            kept_log_expect(
                &log, &at,
                "2 client 0 (id 18446744073709551613) disconnected: the client has left");
        } else {
            rig.now += 6;
            cw_netcode_server_update(rig.server, rig.now);
            kept_log_expect(&log, &at,
                            "2 client 0 (id 18446744073709551614) disconnected: timed out, nothing "
                            "came any more");
        }
        rig_down(&rig, NULL, NULL);
        rig_drain(&rig, NULL);
    }
    assert_int_equal(log.count, at);
}

/* A request with a token of another backend. */
static void refuse_one(struct rig *rig)
{
    static const uint8_t other_key[CW_KEY_BYTES] = {1};
    const struct cw_address from = rig_client_address(9);
    const struct cw_token_grant grant = rig_grant(rig, 1);
    assert_int_equal(rig_give_grant(rig, &from, &grant, other_key), CW_ERROR_NOT_AUTHENTIC);
}

/* A stranger can send as many as he likes. */
TEST(refusals_are_limited)
{
    struct kept_log log;
    struct rig rig;
    open_logged(&rig, &log, CW_LOG_WARNING);
    for (int i = 0; i < 400; i++)
        refuse_one(&rig);
    assert_int_equal(log.count, 10);
    size_t at = 0;
    for (int i = 0; i < 10; i++)
        kept_log_expect(&log, &at, REFUSED);
    rig.now += 1.01;
    refuse_one(&rig);
    refuse_one(&rig);
    assert_int_equal(log.count, 11);
    kept_log_expect(&log, &at, REFUSED " (390 such lines were left out before this one)");
    rig.now += 1000;
    for (int i = 0; i < 100; i++)
        refuse_one(&rig);
    assert_int_equal(log.count, 21);
    kept_log_expect(&log, &at, REFUSED " (1 such lines were left out before this one)");
    kept_log_expect(&log, &at, REFUSED);
}

/* So can a player whose program goes to and fro. */
TEST(moves_are_limited)
{
    struct kept_log log;
    struct rig rig;
    open_logged(&rig, &log, CW_LOG_INFO);
    const struct cw_address places[] = {rig_client_address(1), rig_client_address(2)};
    struct cw_netcode_client *client = rig_client(&rig, 42);
    rig_connect(&rig, client, &places[0]);
    const double start = rig.now;
    for (int i = 1; i <= 50; i++) {
        assert_ok(cw_netcode_client_move(client, rig.now));
        for (int tick = 0; tick < 4; tick++)
            rig_tick(&rig, client, &places[i % 2]);
    }
    assert_int_equal(rig_stats(&rig).moves, 50);
    const double seconds = rig.now - start;
    assert_true(seconds < 35); /* or all might be told */
    assert_true((double)log.count <= 1 + 10 + seconds);
    assert_true(log.count > 10);
    assert_non_null(strstr(log.lines[log.count - 1], "such lines were left out before this one)"));
}

TEST(each_level_says_more)
{
    for (enum cw_log_level level = CW_LOG_NONE; level <= CW_LOG_DEBUG; level++) {
        struct kept_log log;
        struct rig rig;
        open_logged(&rig, &log, level);
        refuse_one(&rig);
        assert_int_equal(log.count, level >= CW_LOG_WARNING);
        const struct cw_address at = rig_client_address(1);
        struct cw_netcode_client *client = rig_client(&rig, 1);
        rig_connect(&rig, client, &at);
        assert_int_equal(log.count, level >= CW_LOG_INFO ? 2 : level);
        rig_give(&rig, &at, "not a packet of this client", 27);
        assert_int_equal(log.count, level);
        if (level == CW_LOG_DEBUG)
            assert_non_null(strstr(log.lines[2], "3 dropped a packet from 10.1.0.1:1001: "));
    }
}

TEST(an_insecure_server_says_so)
{
    struct kept_log log = {0};
    struct rig rig;
    rig_init(&rig);
    rig.config.insecure = true;
    rig.config.log = kept_log_at(&log, CW_LOG_WARNING);
    rig_start(&rig);
    assert_int_equal(log.count, 1);
    assert_non_null(strstr(log.lines[0], "1 INSECURE: "));
}

TEST(there_is_none_by_default)
{
    const struct cw_log log = cw_netcode_server_config_default().log;
    assert_null(log.write);
    assert_int_equal(log.level, CW_LOG_INFO);
}
