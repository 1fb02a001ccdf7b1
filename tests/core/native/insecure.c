/* Connecting without a backend: only to a server that was told to let everybody in. */
#include "host_pair.h"
#include "secure_rig.h"

static enum cw_error give_insecure_token(struct rig *rig, const struct cw_address *from)
{
    const struct cw_token_grant grant = rig_grant(rig, 1);
    uint8_t token[CW_TOKEN_SIZE];
    assert_ok(cw_token_insecure(&grant, token));
    return rig_give_token(rig, from, token);
}

TEST(other_servers_refuse_such_tokens)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    assert_int_equal(give_insecure_token(rig, &at), CW_ERROR_NOT_AUTHENTIC);
    assert_true(rig_silent(rig));
}

/* The private key that it has been given as well does not matter. */
TEST(an_insecure_server_takes_them_and_no_others)
{
    for (int with_key = 0; with_key < 2; with_key++) {
        struct rig rig;
        rig_init(&rig);
        rig.config.insecure = true;
        if (!with_key)
            memset(rig.config.private_key, 0, CW_KEY_BYTES);
        rig_start(&rig);
        const struct cw_address at = rig_client_address(1), other = rig_client_address(2);
        const struct cw_token_grant grant = rig_grant(&rig, 2);
        assert_int_equal(rig_give_grant(&rig, &other, &grant, rig_key), CW_ERROR_NOT_AUTHENTIC);
        assert_ok(give_insecure_token(&rig, &at));
    }
}

/* A secure server would not take one that may be older than itself. */
TEST(it_takes_them_as_soon_as_it_is_there)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.insecure = true;
    rig.config.addresses = &rig.address;
    const struct cw_address at = rig_client_address(1);
    rig.server = netcode_server_with(&rig.config);
    assert_ok(give_insecure_token(&rig, &at));
}

TEST(a_client_host_needs_only_the_address)
{
    struct host_pair pair;
    host_pair_open(&pair, CW_FINGERPRINT_AUTO);
    assert_int_equal(cw_client_host_connect_insecure(pair.client, "127.0.0.1:x", PAIR_PROTOCOL, 77),
                     CW_ERROR_ADDRESS);
    /* Port 0 reaches nobody, and the player would wait for a server that is there. */
    assert_int_equal(cw_client_host_connect_insecure(pair.client, "127.0.0.1", PAIR_PROTOCOL, 77),
                     CW_ERROR_PORT);
    assert_ok(host_pair_connect(&pair, 77));
    assert_int_equal(host_pair_connect(&pair, 77), CW_ERROR_CONNECTED);
    const struct cw_server_event event = host_pair_await_server(&pair);
    assert_int_equal(event.type, CW_SERVER_EVENT_CONNECTED);
    struct cw_server_client_info about;
    assert_true(cw_server_client(cw_host_server(pair.server), event.client, &about));
    assert_int_equal(about.id, 77);
}

TEST(a_client_host_logs_what_it_does)
{
    struct host_pair pair;
    char expected[256];
    size_t at = 0;
    host_pair_open(&pair, CW_FINGERPRINT_AUTO);
    assert_ok(host_pair_connect(&pair, 77));
    snprintf(expected, sizeof expected, "2 connecting to %s", pair.address);
    kept_log_expect(&pair.log, &at, expected);
    host_pair_await_client(&pair, CW_CLIENT_EVENT_CONNECTED);
    snprintf(expected, sizeof expected, "2 connected to %s", pair.address);
    kept_log_expect(&pair.log, &at, expected);
    cw_server_disconnect(cw_host_server(pair.server), 0, 7, "no such map");
    host_pair_await_client(&pair, CW_CLIENT_EVENT_DISCONNECTED);
    kept_log_expect(&pair.log, &at,
                    "1 disconnected: the server has disconnected this client, code 7: no such map");
    assert_int_equal(pair.log.count, at);
}

/* As with a backend's token. */
TEST(another_schema_is_refused)
{
    struct host_pair pair;
    host_pair_open(&pair, 5);
    assert_ok(host_pair_connect(&pair, 77));
    host_pair_await_client(&pair, CW_CLIENT_EVENT_DISCONNECTED);
    assert_int_equal(cw_client_state(cw_client_host_client(pair.client)), CW_CLIENT_SCHEMA);
}
