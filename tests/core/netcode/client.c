/* The client's state machine, line by line, against packets made by hand. */
#include "client_bench.h"
#include "config_error.h"

TEST(connects)
{
    struct bench bench = bench_setup(1, 5, 45);
    uint8_t body[CW_PAYLOAD_MAX];
    struct cw_address to;
    assert_int_equal(bench_take(&bench, body, &to), CW_SECURE_REQUEST);
    assert_true(cw_address_equal(&to, &bench.servers[0]));
    assert_int_equal(bench_take(&bench, body, NULL), -1);
    assert_ok(bench_give_challenge(&bench));
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_SENDING_RESPONSE);
    assert_int_equal(bench_take(&bench, body, NULL), CW_SECURE_RESPONSE);
    uint64_t sequence;
    const uint8_t *token = cw_challenge_get(body, &sequence);
    assert_int_equal(sequence, 99);
    for (size_t i = 0; i < CW_CHALLENGE_TOKEN_SIZE; i++)
        assert_int_equal(token[i], 0x77);
    assert_ok(bench_give_keep_alive(&bench));
    bench_expect_event(&bench, CW_NETCODE_CLIENT_EVENT_CONNECTED, CW_CLIENT_CONNECTED);
    assert_int_equal(cw_netcode_client_index(bench.client), 7);
    assert_int_equal(cw_netcode_client_max_clients(bench.client), 64);
    /* Its own keep-alive says the same. */
    uint32_t index, max_clients;
    assert_int_equal(bench_take(&bench, body, NULL), CW_SECURE_KEEP_ALIVE);
    cw_keep_alive_get(body, &index, &max_clients);
    assert_int_equal(index, 7);
    assert_int_equal(max_clients, 64);
    cw_netcode_client_disconnect(bench.client);
    assert_int_equal(cw_netcode_client_index(bench.client), 0);
    assert_int_equal(cw_netcode_client_max_clients(bench.client), 0);
}

TEST(resends_ten_times_a_second)
{
    struct bench bench = bench_setup(1, 5, 45);
    uint8_t body[CW_PAYLOAD_MAX];
    int requests = 0, responses = 0, keep_alives = 0;
    for (int tick = 0; tick < 100; tick++) {
        bench_pass(&bench, 0.01);
        requests += bench_take(&bench, body, NULL) == CW_SECURE_REQUEST;
    }
    assert_in_range(requests, 9, 11);
    bench_give_challenge(&bench);
    for (int tick = 0; tick < 100; tick++) {
        bench_pass(&bench, 0.01);
        responses += bench_take(&bench, body, NULL) == CW_SECURE_RESPONSE;
    }
    assert_in_range(responses, 9, 11);
    bench_give_keep_alive(&bench);
    for (int tick = 0; tick < 100; tick++) {
        bench_pass(&bench, 0.01);
        keep_alives += bench_take(&bench, body, NULL) == CW_SECURE_KEEP_ALIVE;
    }
    assert_in_range(keep_alives, 9, 11);
}

/* Seconds until the next packet. */
static double next_packet(struct bench *bench)
{
    uint8_t body[CW_PAYLOAD_MAX];
    double seconds = 0;
    while (bench_take(bench, body, NULL) < 0) {
        bench_pass(bench, 1.0 / 64);
        seconds += 1.0 / 64;
    }
    return seconds;
}

TEST(other_intervals)
{
    struct bench bench = bench_setup(1, 5, 45);
    struct cw_netcode_client_config config = cw_netcode_client_config_default();
    config.resend_seconds = 0.5;
    config.keep_alive_seconds = 0.25;
    bench.client = netcode_client_with(&config);
    assert_ok(cw_netcode_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE, bench.now));
    assert_true(next_packet(&bench) == 0);
    assert_true(next_packet(&bench) == 0.5);
    bench_give_challenge(&bench);
    assert_true(next_packet(&bench) == 0);
    assert_true(next_packet(&bench) == 0.5);
    bench_give_keep_alive(&bench);
    assert_true(next_packet(&bench) == 0);
    assert_true(next_packet(&bench) == 0.25);
}

/* Payloads take the place of keep-alives. */
TEST(payloads_both_ways)
{
    struct bench bench = bench_setup(1, 5, 45);
    uint8_t body[CW_PAYLOAD_MAX], payload[CW_PAYLOAD_MAX + 1];
    memset(payload, 5, sizeof(payload));
    assert_int_equal(cw_netcode_client_send(bench.client, payload, 1), CW_ERROR_NOT_CONNECTED);
    bench_to_connected(&bench);
    assert_int_equal(cw_netcode_client_send(bench.client, payload, 0), CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_netcode_client_send(bench.client, payload, CW_PAYLOAD_MAX + 1),
                     CW_ERROR_PACKET_TOO_LARGE);
    for (int tick = 0; tick < 100; tick++) {
        bench_pass(&bench, tick % 2 ? 0.05 : 0.2);
        bench_give_keep_alive(&bench);
        assert_ok(cw_netcode_client_send(bench.client, payload, CW_PAYLOAD_MAX));
        assert_int_equal(cw_netcode_client_send(bench.client, payload, 1),
                         CW_ERROR_TRANSMIT_PENDING);
        assert_int_equal(bench_take(&bench, body, NULL), CW_SECURE_PAYLOAD);
        assert_memory_equal(body, payload, CW_PAYLOAD_MAX);
        assert_int_equal(bench_take(&bench, body, NULL), -1);
    }
    assert_ok(bench_give(&bench, CW_SECURE_PAYLOAD, 5000, "hello", 5));
    assert_int_equal(bench_give(&bench, CW_SECURE_PAYLOAD, 5001, "again", 5),
                     CW_ERROR_EVENTS_PENDING);
    struct cw_netcode_client_event event;
    assert_true(cw_netcode_client_next(bench.client, &event));
    assert_int_equal(event.type, CW_NETCODE_CLIENT_EVENT_PAYLOAD);
    assert_int_equal(event.size, 5);
    assert_memory_equal(event.payload, "hello", 5);
    assert_false(cw_netcode_client_next(bench.client, &event));
    assert_ok(bench_give(&bench, CW_SECURE_PAYLOAD, 5001, "again", 5));
    assert_true(cw_netcode_client_next(bench.client, &event));
    assert_int_equal(bench_give(&bench, CW_SECURE_PAYLOAD, 5001, "again", 5), CW_ERROR_DUPLICATE);
}

TEST(payloads_before_connected_are_dropped)
{
    struct bench bench = bench_setup(1, 5, 45);
    struct cw_netcode_client_event event;
    assert_int_equal(bench_give(&bench, CW_SECURE_PAYLOAD, 1, "x", 1), CW_ERROR_UNEXPECTED);
    bench_give_challenge(&bench);
    assert_int_equal(bench_give(&bench, CW_SECURE_PAYLOAD, 2, "x", 1), CW_ERROR_UNEXPECTED);
    assert_int_equal(bench_give(&bench, CW_SECURE_DISCONNECT, 3, NULL, 0), CW_ERROR_UNEXPECTED);
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_SENDING_RESPONSE);
    assert_false(cw_netcode_client_next(bench.client, &event));
}

TEST(keep_alive_does_not_skip_the_challenge)
{
    struct bench bench = bench_setup(1, 5, 45);
    assert_int_equal(bench_give_keep_alive(&bench), CW_ERROR_UNEXPECTED);
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_SENDING_REQUEST);
}

TEST(later_challenges_change_nothing)
{
    struct bench bench = bench_setup(1, 5, 45);
    assert_ok(bench_give_challenge(&bench));
    assert_int_equal(bench_give_challenge(&bench), CW_ERROR_UNEXPECTED);
    assert_ok(bench_give_keep_alive(&bench));
    assert_int_equal(bench_give_challenge(&bench), CW_ERROR_UNEXPECTED);
    assert_int_equal(bench_give_denied(&bench), CW_ERROR_UNEXPECTED);
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_CONNECTED);
}

TEST(only_from_the_server)
{
    struct bench bench = bench_setup(2, 5, 45);
    uint8_t out[CW_SECURE_MAX];
    const size_t size =
        cw_secure_write(&(struct cw_secure_packet){.type = CW_SECURE_DENIED, .sequence = 1},
                        &(struct cw_secure_key){.protocol_id = RIG_PROTOCOL,
                                                .bytes = bench.token.server_to_client_key},
                        out, sizeof(out));
    assert_int_equal(
        cw_netcode_client_receive(bench.client, &bench.servers[1], out, size, bench.now),
        CW_ERROR_WRONG_SENDER);
    assert_ok(cw_netcode_client_receive(bench.client, &bench.servers[0], out, size, bench.now));
    struct cw_netcode_client_stats stats;
    cw_netcode_client_get_stats(bench.client, &stats);
    assert_int_equal(stats.datagrams_received, 2);
    assert_int_equal(stats.datagrams_dropped, 1);
    assert_int_equal(cw_netcode_client_dropped(bench.client, CW_ERROR_WRONG_SENDER), 1);
}

TEST(server_disconnects)
{
    struct bench bench = bench_setup(1, 5, 45);
    uint8_t body[CW_PAYLOAD_MAX];
    bench_to_connected(&bench);
    assert_ok(bench_give(&bench, CW_SECURE_DISCONNECT, 1000, NULL, 0));
    bench_expect_event(&bench, CW_NETCODE_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_DISCONNECTED);
    bench_pass(&bench, 1);
    assert_int_equal(bench_take(&bench, body, NULL), -1);
    assert_int_equal(bench_give_keep_alive(&bench), CW_ERROR_NOT_CONNECTED);
    /* This was the end of it, however long one waits. */
    struct cw_netcode_client_event event;
    bench_pass(&bench, 100);
    assert_false(cw_netcode_client_next(bench.client, &event));
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_DISCONNECTED);
}

/* A payload that was still to be sent is not: after a disconnect there is no key for it. */
TEST(payload_at_the_end_is_dropped)
{
    for (int by_server = 0; by_server < 2; by_server++) {
        struct bench bench = bench_setup(1, 5, 45);
        uint8_t body[CW_PAYLOAD_MAX];
        bench_to_connected(&bench);
        assert_ok(cw_netcode_client_send(bench.client, (const uint8_t *)"x", 1));
        if (by_server)
            bench_give(&bench, CW_SECURE_DISCONNECT, 1000, NULL, 0);
        else
            cw_netcode_client_disconnect(bench.client);
        for (int i = 0; i < 10 && !by_server; i++)
            assert_int_equal(bench_take(&bench, body, NULL), CW_SECURE_DISCONNECT);
        assert_int_equal(bench_take(&bench, body, NULL), -1);
    }
}

/* An application that looks late still learns that there was a connection. */
TEST(connected_is_told_after_the_end)
{
    struct bench bench = bench_setup(1, 5, 45);
    bench_give_challenge(&bench);
    bench_give_keep_alive(&bench);
    bench_give(&bench, CW_SECURE_DISCONNECT, 1000, NULL, 0);
    struct cw_netcode_client_event event;
    assert_true(cw_netcode_client_next(bench.client, &event));
    assert_int_equal(event.type, CW_NETCODE_CLIENT_EVENT_CONNECTED);
    assert_int_equal(event.state, CW_CLIENT_CONNECTED);
    bench_expect_event(&bench, CW_NETCODE_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_DISCONNECTED);
}

TEST(client_disconnects)
{
    struct bench bench = bench_setup(1, 5, 45);
    uint8_t body[CW_PAYLOAD_MAX];
    bench_to_connected(&bench);
    cw_netcode_client_disconnect(bench.client);
    bench_expect_event(&bench, CW_NETCODE_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_DISCONNECTED);
    for (int i = 0; i < 10; i++)
        assert_int_equal(bench_take(&bench, body, NULL), CW_SECURE_DISCONNECT);
    assert_int_equal(bench_take(&bench, body, NULL), -1);
    cw_netcode_client_disconnect(bench.client);
    assert_int_equal(bench_take(&bench, body, NULL), -1);

    /* A client that has answered a challenge may have a slot already. */
    bench = bench_setup(1, 5, 45);
    bench_give_challenge(&bench);
    cw_netcode_client_disconnect(bench.client);
    for (int i = 0; i < 10; i++)
        assert_int_equal(bench_take(&bench, body, NULL), CW_SECURE_DISCONNECT);
    assert_int_equal(bench_take(&bench, body, NULL), -1);

    bench = bench_setup(1, 5, 45);
    cw_netcode_client_disconnect(bench.client);
    bench_expect_event(&bench, CW_NETCODE_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_DISCONNECTED);
    assert_int_equal(bench_take(&bench, body, NULL), -1);
}

/* Bug 7: nothing of the old life is left. */
TEST(second_connection_is_like_the_first)
{
    struct bench bench = bench_setup(2, 5, 45);
    bench_give_denied(&bench);
    bench_to_connected(&bench);
    bench_give(&bench, CW_SECURE_PAYLOAD, 70000, "x", 1);
    cw_netcode_client_disconnect(bench.client);
    bench_make_token(&bench, 1, 5, 45);
    bench.sequence = 0;
    assert_ok(cw_netcode_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE, bench.now));
    struct cw_netcode_client_stats stats;
    struct cw_netcode_client_event event;
    cw_netcode_client_get_stats(bench.client, &stats);
    assert_int_equal(stats.datagrams_received, 0);
    assert_int_equal(stats.datagrams_sent, 0);
    assert_false(cw_netcode_client_next(bench.client, &event));
    assert_int_equal(cw_netcode_client_index(bench.client), 0);
    assert_true(
        cw_address_equal(cw_netcode_client_server_address(bench.client), &bench.servers[0]));
    uint8_t out[CW_SECURE_MAX];
    bench_give_challenge(&bench);
    assert_true(cw_netcode_client_transmit(bench.client, out, sizeof(out), bench.now, NULL) > 0);
    assert_int_equal(out[0], 0x13);
    assert_int_equal(out[1], 0);
    assert_ok(bench_give_keep_alive(&bench));
    bench_expect_event(&bench, CW_NETCODE_CLIENT_EVENT_CONNECTED, CW_CLIENT_CONNECTED);
}

TEST(configs_at_the_limits)
{
    struct cw_netcode_client_config config = cw_netcode_client_config_default();
    config.disconnect_packets = 100;
    config.resend_seconds = config.keep_alive_seconds = 10;
    assert_true(cw_netcode_client_memory(&config) > 0);
    config.disconnect_packets = 1;
    assert_true(cw_netcode_client_memory(&config) > 0);
    cw_netcode_client_destroy(NULL);
}

TEST(too_small_a_buffer_loses_nothing)
{
    struct bench bench = bench_setup(1, 5, 45);
    uint8_t out[CW_SECURE_MAX];
    assert_int_equal(
        cw_netcode_client_transmit(bench.client, out, CW_SECURE_MAX - 1, bench.now, NULL), 0);
    assert_int_equal(cw_netcode_client_transmit(bench.client, out, CW_SECURE_MAX, bench.now, NULL),
                     CW_REQUEST_SIZE);
}

TEST(states_have_names)
{
    for (int i = CW_CLIENT_SCHEMA; i <= CW_CLIENT_CONNECTED; i++) {
        assert_non_null(cw_client_state_string((enum cw_client_state)i));
        assert_string_not_equal(cw_client_state_string((enum cw_client_state)i), "unknown state");
    }
}
