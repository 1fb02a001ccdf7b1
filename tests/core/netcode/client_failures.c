/* Every way in which a client does not get to connect, or stays no longer. */
#include "client_bench.h"

TEST(denied)
{
    for (int challenged = 0; challenged < 2; challenged++) {
        struct bench bench = bench_setup(1, 5, 45);
        if (challenged)
            bench_give_challenge(&bench);
        assert_ok(bench_give_denied(&bench));
        bench_expect_event(&bench, CW_NETCODE_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_DENIED);
        uint8_t body[CW_PAYLOAD_MAX];
        bench_pass(&bench, 1);
        assert_int_equal(bench_take(&bench, body, NULL), -1);
        /* There is nothing left to be disconnected. */
        struct cw_netcode_client_event event;
        cw_netcode_client_disconnect(bench.client);
        assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_DENIED);
        assert_false(cw_netcode_client_next(bench.client, &event));
        assert_int_equal(bench_take(&bench, body, NULL), -1);
    }
}

TEST(denied_because_of_the_schema)
{
    struct bench bench = bench_setup(1, 5, 45);
    assert_ok(bench_give(&bench, CW_SECURE_DENIED, (uint64_t)3 << 62, NULL, 0));
    bench_expect_event(&bench, CW_NETCODE_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_SCHEMA);
}

TEST(request_times_out)
{
    struct bench bench = bench_setup(1, 5, 45);
    bench_pass(&bench, 4.99);
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_SENDING_REQUEST);
    bench_pass(&bench, 0.01);
    bench_expect_event(&bench, CW_NETCODE_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_REQUEST_TIMED_OUT);
}

TEST(response_times_out)
{
    struct bench bench = bench_setup(1, 5, 45);
    bench_pass(&bench, 4);
    bench_give_challenge(&bench);
    bench_pass(&bench, 4.99);
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_SENDING_RESPONSE);
    bench_pass(&bench, 0.01);
    bench_expect_event(&bench, CW_NETCODE_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_RESPONSE_TIMED_OUT);
}

TEST(connection_times_out)
{
    struct bench bench = bench_setup(1, 5, 45);
    bench_to_connected(&bench);
    bench_pass(&bench, 4);
    assert_ok(bench_give_keep_alive(&bench));
    bench_pass(&bench, 4.99);
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_CONNECTED);
    bench_pass(&bench, 0.02);
    bench_expect_event(&bench, CW_NETCODE_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_TIMED_OUT);
    /* The server may still hear us. */
    uint8_t body[CW_PAYLOAD_MAX];
    for (int i = 0; i < 10; i++)
        assert_int_equal(bench_take(&bench, body, NULL), CW_SECURE_DISCONNECT);
    assert_int_equal(bench_take(&bench, body, NULL), -1);
}

/* A datagram that cannot be read keeps no connection alive. */
TEST(junk_does_not_keep_alive)
{
    struct bench bench = bench_setup(1, 5, 45);
    bench_to_connected(&bench);
    uint8_t junk[100];
    for (int tick = 0; tick < 100; tick++) {
        netcode_fill(&bench.seed, junk, sizeof(junk));
        junk[0] = 0x14;
        cw_netcode_client_receive(bench.client, NULL, junk, sizeof(junk), bench.now);
        bench_pass(&bench, 0.06);
    }
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_TIMED_OUT);
}

/* Nor do packets of the server that have no place there, or the client's own. */
TEST(other_packets_do_not_keep_alive)
{
    struct bench bench = bench_setup(1, 5, 45);
    uint8_t body[CW_PAYLOAD_MAX];
    for (int connected = 0; connected < 2; connected++) {
        for (int tick = 0; tick < 49; tick++) {
            bench_pass(&bench, 0.1);
            while (bench_take(&bench, body, NULL) >= 0)
                ;
            if (connected) {
                assert_int_equal(bench_give_challenge(&bench), CW_ERROR_UNEXPECTED);
                assert_int_equal(bench_give_denied(&bench), CW_ERROR_UNEXPECTED);
            } else {
                assert_int_equal(bench_give_keep_alive(&bench), CW_ERROR_UNEXPECTED);
                assert_int_equal(bench_give(&bench, CW_SECURE_PAYLOAD, bench.sequence++, "x", 1),
                                 CW_ERROR_UNEXPECTED);
            }
        }
        assert_true(cw_netcode_client_state(bench.client) > CW_CLIENT_DISCONNECTED);
        bench_pass(&bench, 0.11);
        assert_int_equal(cw_netcode_client_state(bench.client),
                         connected ? CW_CLIENT_TIMED_OUT : CW_CLIENT_REQUEST_TIMED_OUT);
        bench = bench_setup(1, 5, 45);
        bench_to_connected(&bench);
    }
}

TEST(timeout_of_nothing_never_comes)
{
    for (int32_t timeout = -1; timeout <= 1; timeout++) {
        struct bench bench = bench_setup(1, timeout, 45);
        bench_pass(&bench, timeout > 0 ? 0.9 : 44);
        assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_SENDING_REQUEST);
        bench_give_challenge(&bench);
        bench_give_keep_alive(&bench);
        bench_pass(&bench, timeout > 0 ? 1.1 : 1e6);
        assert_int_equal(cw_netcode_client_state(bench.client),
                         timeout > 0 ? CW_CLIENT_TIMED_OUT : CW_CLIENT_CONNECTED);
    }
}

/* Across servers, and whatever the timeout; but not once connected. */
TEST(token_expires)
{
    struct bench bench = bench_setup(3, 5, 12);
    bench_pass(&bench, 5);
    bench_pass(&bench, 5);
    bench_pass(&bench, 1.99);
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_SENDING_REQUEST);
    bench_pass(&bench, 0.01);
    bench_expect_event(&bench, CW_NETCODE_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_TOKEN_EXPIRED);

    bench = bench_setup(1, 5, 3);
    bench_pass(&bench, 2.9);
    bench_give_challenge(&bench);
    bench_pass(&bench, 0.11);
    bench_expect_event(&bench, CW_NETCODE_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_TOKEN_EXPIRED);

    bench = bench_setup(1, 5, 3);
    bench_to_connected(&bench);
    bench_pass(&bench, 4);
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_CONNECTED);
}

/* Each failure of one server leads to the next; the last one's is the client's. */
TEST(tries_each_server)
{
    struct bench bench = bench_setup(3, 5, 45);
    uint8_t body[CW_PAYLOAD_MAX];
    struct cw_address to;
    struct cw_netcode_client_event event;
    assert_int_equal(bench_take(&bench, body, &to), CW_SECURE_REQUEST);
    assert_true(cw_address_equal(&to, &bench.servers[0]));
    assert_ok(bench_give_denied(&bench));
    assert_false(cw_netcode_client_next(bench.client, &event));
    assert_int_equal(bench_take(&bench, body, &to), CW_SECURE_REQUEST);
    assert_true(cw_address_equal(&to, &bench.servers[1]));
    bench_give_challenge(&bench);
    assert_int_equal(bench_take(&bench, body, &to), CW_SECURE_RESPONSE);
    assert_true(cw_address_equal(&to, &bench.servers[1]));
    bench_pass(&bench, 5);
    assert_int_equal(bench_take(&bench, body, &to), CW_SECURE_REQUEST);
    assert_true(cw_address_equal(&to, &bench.servers[2]));
    assert_false(cw_netcode_client_next(bench.client, &event));
    bench_pass(&bench, 5);
    bench_expect_event(&bench, CW_NETCODE_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_REQUEST_TIMED_OUT);
}

/* Where each server has a way of its own, the application may pass over one, or the way may open
   late: the server then has the whole timeout. */
TEST(told_which_server_to_try)
{
    struct bench bench = bench_setup(3, 5, 45);
    struct cw_netcode_client *client = bench.client;
    uint8_t body[CW_PAYLOAD_MAX];
    struct cw_address to;
    assert_int_equal(cw_netcode_client_server_index(client), 0);
    assert_int_equal(cw_netcode_client_try_server(client, 3, bench.now), CW_ERROR_INVALID_ARGUMENT);
    bench_give_challenge(&bench);
    assert_ok(cw_netcode_client_try_server(client, 1, bench.now));
    assert_int_equal(cw_netcode_client_server_index(client), 1);
    assert_int_equal(bench_take(&bench, body, &to), CW_SECURE_REQUEST);
    assert_true(cw_address_equal(&to, &bench.servers[1]));

    bench_pass(&bench, 4.9);
    bench.now += 10;
    assert_ok(cw_netcode_client_try_server(client, 1, bench.now));
    bench_pass(&bench, 4.9);
    assert_int_equal(cw_netcode_client_server_index(client), 1);
    bench_pass(&bench, 0.1);
    assert_int_equal(cw_netcode_client_server_index(client), 2);

    bench.sequence = 0;
    bench_to_connected(&bench);
    assert_int_equal(cw_netcode_client_try_server(client, 0, bench.now), CW_ERROR_CONNECTED);
    assert_int_equal(cw_netcode_client_server_index(client), 2);
    cw_netcode_client_disconnect(client);
    assert_int_equal(cw_netcode_client_try_server(client, 0, bench.now), CW_ERROR_NOT_CONNECTED);
    assert_int_equal(cw_netcode_client_state(client), CW_CLIENT_DISCONNECTED);
}

/* A server's numbers start anew with the next server, the client's never do. */
TEST(sequences_across_servers)
{
    struct bench bench = bench_setup(2, 5, 45);
    uint8_t first[CW_SECURE_MAX], second[CW_SECURE_MAX];
    bench_give_challenge(&bench);
    bench_pass(&bench, 0);
    cw_netcode_client_transmit(bench.client, first, sizeof(first), bench.now, NULL);
    bench_pass(&bench, 5);
    cw_netcode_client_transmit(bench.client, second, sizeof(second), bench.now, NULL);
    bench.sequence = 0;
    bench_give_challenge(&bench);
    cw_netcode_client_transmit(bench.client, second, sizeof(second), bench.now, NULL);
    assert_int_equal(first[0], 0x13);
    assert_int_equal(second[0], 0x13);
    assert_int_not_equal(first[1], second[1]);
    bench.sequence = 0;
    assert_ok(bench_give_keep_alive(&bench));
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_CONNECTED);
}

TEST(tokens_refused)
{
    struct bench bench = bench_setup(1, 5, 45);
    assert_int_equal(cw_netcode_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE, bench.now),
                     CW_ERROR_CONNECTED);
    cw_netcode_client_disconnect(bench.client);
    assert_int_equal(cw_netcode_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE, bench.now),
                     CW_ERROR_TOKEN_USED);
    bench_make_token(&bench, 1, 5, 45);
    assert_int_equal(
        cw_netcode_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE - 1, bench.now),
        CW_ERROR_TOKEN_SIZE);
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_INVALID_TOKEN);
    bench.bytes[3] ^= 1;
    assert_int_equal(cw_netcode_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE, bench.now),
                     CW_ERROR_VERSION);
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_INVALID_TOKEN);
    bench.bytes[3] ^= 1;
    assert_ok(cw_netcode_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE, bench.now));
    bench_to_connected(&bench);
}

TEST(schema_of_the_token)
{
    struct cw_netcode_client_config config = cw_netcode_client_config_default();
    config.fingerprint = 5;
    struct cw_netcode_client *client = netcode_client_with(&config);
    struct rig rig;
    rig_init(&rig);
    struct cw_token_grant grant = rig_grant(&rig, 1);
    uint8_t token[CW_TOKEN_SIZE];
    grant.fingerprint = 6;
    assert_ok(cw_token_generate(&grant, rig_key, token));
    assert_int_equal(cw_netcode_client_connect(client, token, sizeof(token), 0), CW_ERROR_SCHEMA);
    assert_int_equal(cw_netcode_client_state(client), CW_CLIENT_SCHEMA);
    assert_int_equal(cw_netcode_client_server_address(client)->type, CW_ADDRESS_NONE);
    grant.fingerprint = 0;
    assert_ok(cw_token_generate(&grant, rig_key, token));
    assert_ok(cw_netcode_client_connect(client, token, sizeof(token), 0));
    cw_netcode_client_disconnect(client);
    grant.fingerprint = 5;
    assert_ok(cw_token_generate(&grant, rig_key, token));
    assert_ok(cw_netcode_client_connect(client, token, sizeof(token), 0));

    /* A client without a fingerprint compares none. */
    config.fingerprint = 0;
    client = netcode_client_with(&config);
    assert_ok(cw_netcode_client_connect(client, token, sizeof(token), 0));
}
