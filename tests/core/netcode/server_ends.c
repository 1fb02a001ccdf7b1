/* Connections end for the server by either side or by silence, and nothing is left of them. */
#include "secure_rig.h"

static void expect_gone(struct rig *rig, uint32_t slot, enum cw_disconnect_reason reason)
{
    struct cw_netcode_server_event event;
    struct cw_server_client_info about;
    assert_int_equal(rig_stats(rig).clients, 0);
    assert_true(cw_netcode_server_client(rig->server, slot, &about));
    assert_true(cw_netcode_server_next(rig->server, &event));
    assert_int_equal(event.type, CW_NETCODE_SERVER_EVENT_DISCONNECTED);
    assert_int_equal(event.client, slot);
    assert_int_equal(event.reason, reason);
    rig_no_event(rig);
}

TEST(client_disconnects)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(rig, 1);
    const uint32_t slot = rig_connect(rig, client, &at);
    cw_netcode_client_disconnect(client);
    assert_int_equal(rig_up(rig, client, &at), 10);
    expect_gone(rig, slot, CW_DISCONNECT_BY_CLIENT);
    assert_true(rig_silent(rig));
    struct cw_server_client_info about;
    assert_false(cw_netcode_server_client(rig->server, slot, &about));
    assert_int_equal(cw_netcode_server_dropped(rig->server, CW_ERROR_NOT_CONNECTED), 9);
}

TEST(server_disconnects)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(rig, 1);
    const uint32_t slot = rig_connect(rig, client, &at);
    cw_netcode_server_disconnect(rig->server, slot, 0, NULL);
    cw_netcode_server_disconnect(rig->server, slot, 0, NULL);
    cw_netcode_server_disconnect(rig->server, 1000000, 0, NULL);
    assert_int_equal(cw_netcode_server_send(rig->server, slot, (const uint8_t *)"x", 1),
                     CW_ERROR_NOT_CONNECTED);
    expect_gone(rig, slot, CW_DISCONNECT_BY_SERVER);
    assert_int_equal(rig_down(rig, client, &at), 20);
    assert_int_equal(cw_netcode_client_state(client), CW_CLIENT_KICKED);
    struct cw_server_client_info about;
    assert_false(cw_netcode_server_client(rig->server, slot, &about));
}

TEST(server_disconnects_a_client_that_does_not_know_of_its_connection)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(rig, 1);
    rig_up(rig, client, &at);
    rig_down(rig, client, &at);
    assert_int_equal(rig_up(rig, client, &at), 1);
    struct cw_netcode_server_event event;
    assert_true(cw_netcode_server_next(rig->server, &event));
    assert_int_equal(event.type, CW_NETCODE_SERVER_EVENT_CONNECTED);
    cw_netcode_server_disconnect(rig->server, event.client, 7, "not you");
    assert_int_equal(rig_down(rig, client, &at), 21);
    assert_int_equal(cw_netcode_client_state(client), CW_CLIENT_KICKED);
    assert_int_equal(cw_netcode_client_farewell(client)->code, 7);
}

TEST(server_disconnects_all)
{
    struct rig *rig = rig_open();
    const struct cw_address at_a = rig_client_address(1), at_b = rig_client_address(2);
    struct cw_netcode_client *a = rig_client(rig, 1), *b = rig_client(rig, 2);
    rig_connect(rig, a, &at_a);
    rig_connect(rig, b, &at_b);
    cw_netcode_server_disconnect_all(rig->server);
    assert_int_equal(rig_stats(rig).clients, 0);
    assert_int_equal(rig_down(rig, a, &at_a), 40);
    assert_int_equal(cw_netcode_client_state(a), CW_CLIENT_STOPPING);
}

TEST(silent_client_times_out)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(rig, 1);
    const uint32_t slot = rig_connect(rig, client, &at);
    rig->now = 12;
    cw_netcode_client_update(client, rig->now);
    assert_int_equal(rig_up(rig, client, &at), 1);
    rig->now = 16.9;
    cw_netcode_server_update(rig->server, rig->now);
    assert_int_equal(rig_stats(rig).clients, 1);
    rig->now = 17;
    cw_netcode_server_update(rig->server, rig->now);
    expect_gone(rig, slot, CW_DISCONNECT_TIMED_OUT);
    assert_int_equal(rig_down(rig, client, &at), 20);

    /* Not so with a timeout below zero. */
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    for (int32_t timeout = -1; timeout <= 1; timeout++) {
        struct cw_token_grant grant = rig_grant(rig, 2);
        grant.timeout_seconds = timeout;
        client = rig_client_of(rig, &config, &grant);
        rig_connect(rig, client, &at);
        rig->now += timeout > 0 ? 1.1 : 1e6;
        cw_netcode_server_update(rig->server, rig->now);
        assert_int_equal(rig_stats(rig).clients, timeout <= 0);
        cw_netcode_server_disconnect_all(rig->server);
        rig_down(rig, NULL, NULL);
        rig_drain(rig, NULL);
    }
}

/* However much the server itself sends meanwhile. */
TEST(own_packets_keep_nobody)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(rig, 1);
    const uint32_t slot = rig_connect(rig, client, &at);
    for (int i = 0; i < 52; i++) {
        rig->now += 0.1;
        cw_netcode_server_send(rig->server, slot, (const uint8_t *)"x", 1);
        rig_down(rig, NULL, NULL);
        cw_netcode_server_update(rig->server, rig->now);
        if (i < 48)
            assert_int_equal(rig_stats(rig).clients, 1);
    }
    expect_gone(rig, slot, CW_DISCONNECT_TIMED_OUT);
}

/* Keep-alives and payloads show that a client is there; other packets with its keys do not. */
TEST(late_responses_keep_nobody)
{
    for (int packet = 0; packet < 3; packet++) {
        struct rig *rig = rig_open();
        const struct cw_address at = rig_client_address(1);
        struct cw_netcode_client *client = rig_client(rig, 1);
        uint8_t response[CW_SECURE_MAX];
        rig_challenge(rig, client, &at);
        const size_t size =
            cw_netcode_client_transmit(client, response, sizeof(response), rig->now, NULL);
        rig_give(rig, &at, response, size);
        rig_connect(rig, client, &at);
        rig->now += 4;
        if (packet == 0)
            rig_give(rig, &at, response, size);
        else if (packet == 1)
            cw_netcode_client_send(client, (const uint8_t *)"x", 1);
        else
            cw_netcode_client_update(client, rig->now);
        rig_up(rig, client, &at);
        rig->now += 1.1;
        cw_netcode_server_update(rig->server, rig->now);
        assert_int_equal(rig_stats(rig).clients, packet > 0);
    }
}

/* While the end of a client waits to be seen, time goes on, and it does not end again. */
TEST(ends_once)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(rig, 1);
    const uint32_t slot = rig_connect(rig, client, &at);
    cw_netcode_server_disconnect(rig->server, slot, 0, NULL);
    rig->now += 6;
    cw_netcode_server_update(rig->server, rig->now);
    expect_gone(rig, slot, CW_DISCONNECT_BY_SERVER);
    assert_int_equal(rig_down(rig, client, &at), 20);
    rig->now += 6;
    cw_netcode_server_update(rig->server, rig->now);
    assert_true(rig_silent(rig));
    rig_no_event(rig);
}

/* A slot is not given away before its old owner's end has been seen, and has nothing of him then
   (bug 7). */
TEST(slots_are_used_again)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = 1;
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_server_event event;
    for (uint64_t life = 1; life <= 5; life++) {
        struct cw_netcode_client *client = rig_client(&rig, life);
        assert_int_equal(rig_connect(&rig, client, &at), 0);
        struct cw_server_client_info about;
        assert_true(cw_netcode_server_client(rig.server, 0, &about));
        assert_int_equal(about.id, life);
        assert_int_equal(about.user_data[0], life);
        for (int i = 0; i < 300; i++) {
            cw_netcode_client_send(client, (const uint8_t *)"x", 1);
            rig_up(&rig, client, &at);
            assert_true(cw_netcode_server_next(rig.server, &event));
        }
        cw_netcode_client_disconnect(client);
        rig_up(&rig, client, &at);

        struct cw_netcode_client *early = rig_client(&rig, life + 1);
        rig_exchange(&rig, early, &at);
        assert_int_equal(cw_netcode_client_state(early), CW_CLIENT_DENIED);

        assert_true(cw_netcode_server_next(rig.server, &event));
        assert_int_equal(event.type, CW_NETCODE_SERVER_EVENT_DISCONNECTED);
        assert_false(cw_netcode_server_client(rig.server, 0, &about));
        rig.now += 1;
        cw_netcode_server_update(rig.server, rig.now);
    }
    assert_int_equal(rig_stats(&rig).connections, 5);
}

/* A payload for a client that is gone is not sent, and not in the way. */
TEST(payload_for_one_who_left)
{
    struct rig *rig = rig_open();
    const struct cw_address at_a = rig_client_address(1), at_b = rig_client_address(2);
    struct cw_netcode_client *a = rig_client(rig, 1), *b = rig_client(rig, 2);
    const uint32_t slot_a = rig_connect(rig, a, &at_a), slot_b = rig_connect(rig, b, &at_b);
    assert_ok(cw_netcode_server_send(rig->server, slot_a, (const uint8_t *)"x", 1));
    cw_netcode_server_disconnect(rig->server, slot_a, 0, NULL);
    assert_ok(cw_netcode_server_send(rig->server, slot_b, (const uint8_t *)"y", 1));
    rig_down(rig, b, &at_b);
    struct cw_netcode_client_event event;
    assert_true(cw_netcode_client_next(b, &event));
    assert_memory_equal(event.payload, "y", 1);

    /* A payload for another is sent all the same. */
    a = rig_client(rig, 3);
    rig_drain(rig, NULL);
    const uint32_t slot_c = rig_connect(rig, a, &at_a);
    assert_ok(cw_netcode_server_send(rig->server, slot_b, (const uint8_t *)"z", 1));
    cw_netcode_server_disconnect(rig->server, slot_c, 0, NULL);
    rig_down(rig, b, &at_b);
    assert_true(cw_netcode_client_next(b, &event));
    assert_memory_equal(event.payload, "z", 1);
}
