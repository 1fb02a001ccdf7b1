/* The server and the clients that are connected to it. */
#include "secure_rig.h"

TEST(connects)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(rig, 77);
    assert_int_equal(rig_up(rig, client, &at), 1);
    assert_int_equal(rig_down(rig, client, &at), 1);
    assert_int_equal(cw_netcode_client_state(client), CW_CLIENT_SENDING_RESPONSE);
    rig_no_event(rig);
    assert_int_equal(rig_stats(rig).clients, 0);
    assert_int_equal(rig_up(rig, client, &at), 1);
    assert_int_equal(rig_stats(rig).clients, 1);
    assert_int_equal(rig_stats(rig).pending, 0);
    struct cw_netcode_server_event event;
    assert_true(cw_netcode_server_next(rig->server, &event));
    assert_int_equal(event.type, CW_NETCODE_SERVER_EVENT_CONNECTED);
    rig_no_event(rig);
    struct cw_server_client_info about;
    assert_true(cw_netcode_server_client(rig->server, event.client, &about));
    assert_int_equal(about.id, 77);
    assert_true(cw_address_equal(&about.address, &at));
    assert_int_equal(about.user_data[0], 77);
    assert_false(about.confirmed);
    assert_int_equal(rig_down(rig, client, &at), 1);
    assert_int_equal(cw_netcode_client_state(client), CW_CLIENT_CONNECTED);
    assert_int_equal(cw_netcode_client_index(client), event.client);
    assert_int_equal(cw_netcode_client_max_clients(client), 4);
    assert_int_equal(rig_up(rig, client, &at), 1);
    assert_true(cw_netcode_server_client(rig->server, event.client, &about));
    assert_true(about.confirmed);
    assert_false(cw_netcode_server_client(rig->server, event.client + 1, &about));
    assert_false(cw_netcode_server_client(rig->server, 1000000, &about));
    const struct cw_address elsewhere = rig_client_address(2);
    assert_int_equal(cw_netcode_server_client_at(rig->server, &at), event.client);
    assert_int_equal(cw_netcode_server_client_at(rig->server, &elsewhere), CW_SERVER_NOBODY);
    cw_netcode_server_disconnect(rig->server, event.client, 0, NULL);
    assert_int_equal(cw_netcode_server_client_at(rig->server, &at), CW_SERVER_NOBODY);
}

TEST(keeps_alive_ten_times_a_second)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(rig, 1);
    const uint32_t slot = rig_connect(rig, client, &at);
    int count = 0;
    for (int tick = 0; tick < 100; tick++) {
        rig->now += 0.01;
        cw_netcode_server_update(rig->server, rig->now);
        count += rig_down(rig, client, &at);
    }
    assert_in_range(count, 9, 11);
    for (int tick = 0; tick < 20; tick++) {
        rig->now += tick % 2 ? 0.05 : 0.2;
        cw_netcode_server_update(rig->server, rig->now);
        assert_ok(cw_netcode_server_send(rig->server, slot, (const uint8_t *)"x", 1));
        assert_int_equal(rig_down(rig, NULL, NULL), 1);
        rig_up(rig, client, &at);
        cw_netcode_client_update(client, rig->now);
    }
}

/* Until something came from the client, each payload has a keep-alive before it. */
TEST(unconfirmed_clients_are_introduced)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(rig, 1);
    rig_challenge(rig, client, &at);
    rig_up(rig, client, &at);
    struct cw_netcode_server_event event;
    assert_true(cw_netcode_server_next(rig->server, &event));
    assert_int_equal(rig_down(rig, NULL, NULL), 1);
    uint8_t types[4], out[CW_SECURE_MAX];
    struct cw_address to;
    size_t size;
    for (int i = 0; i < 2; i++) {
        assert_ok(cw_netcode_server_send(rig->server, event.client, (const uint8_t *)"hello", 5));
        for (int k = 0; k < 2; k++) {
            size = cw_netcode_server_transmit(rig->server, out, sizeof(out), rig->now, &to);
            assert_true(size > 0);
            types[2 * i + k] = out[0] & 15;
            cw_netcode_client_receive(client, NULL, out, size, rig->now);
        }
        assert_true(rig_silent(rig));
        if (i == 0) {
            struct cw_netcode_client_event own;
            assert_true(cw_netcode_client_next(client, &own));
            assert_int_equal(own.type, CW_NETCODE_CLIENT_EVENT_CONNECTED);
            assert_true(cw_netcode_client_next(client, &own));
            assert_int_equal(own.type, CW_NETCODE_CLIENT_EVENT_PAYLOAD);
            assert_memory_equal(own.payload, "hello", 5);
        }
    }
    assert_memory_equal(types, "\4\5\4\5", 4);
    rig_up(rig, client, &at);
    assert_ok(cw_netcode_server_send(rig->server, event.client, (const uint8_t *)"hello", 5));
    assert_int_equal(cw_netcode_server_transmit(rig->server, out, sizeof(out), rig->now, &to), 23);
    assert_int_equal(out[0] & 15, CW_SECURE_PAYLOAD);
}

TEST(payloads_both_ways)
{
    struct rig *rig = rig_open();
    const struct cw_address at_a = rig_client_address(1), at_b = rig_client_address(2);
    struct cw_netcode_client *a = rig_client(rig, 1), *b = rig_client(rig, 2);
    const uint32_t slot_a = rig_connect(rig, a, &at_a), slot_b = rig_connect(rig, b, &at_b);
    assert_int_not_equal(slot_a, slot_b);
    uint8_t payload[CW_PAYLOAD_MAX + 1];
    netcode_fill(&rig->seed, payload, sizeof(payload));
    assert_int_equal(cw_netcode_server_send(rig->server, slot_a, payload, 0),
                     CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_netcode_server_send(rig->server, slot_a, payload, sizeof(payload)),
                     CW_ERROR_PACKET_TOO_LARGE);
    assert_int_equal(cw_netcode_server_send(rig->server, 3, payload, 1), CW_ERROR_NOT_CONNECTED);
    assert_int_equal(cw_netcode_server_send(rig->server, 99, payload, 1), CW_ERROR_NOT_CONNECTED);
    for (size_t size = 1; size <= CW_PAYLOAD_MAX; size += 109) {
        struct cw_netcode_client_event down;
        struct cw_netcode_server_event up;
        assert_ok(cw_netcode_server_send(rig->server, slot_b, payload, size));
        assert_int_equal(cw_netcode_server_send(rig->server, slot_a, payload, size),
                         CW_ERROR_TRANSMIT_PENDING);
        rig_down(rig, b, &at_b);
        assert_true(cw_netcode_client_next(b, &down));
        assert_int_equal(down.size, size);
        assert_memory_equal(down.payload, payload, size);
        assert_false(cw_netcode_client_next(a, &down));

        assert_ok(cw_netcode_client_send(a, payload + 1, size));
        rig_up(rig, a, &at_a);
        assert_true(cw_netcode_server_next(rig->server, &up));
        assert_int_equal(up.type, CW_NETCODE_SERVER_EVENT_PAYLOAD);
        assert_int_equal(up.client, slot_a);
        assert_int_equal(up.size, size);
        assert_memory_equal(up.payload, payload + 1, size);
        rig_no_event(rig);
    }
    /* One at a time: the second comes again when the first has been taken. */
    uint8_t datagrams[2][CW_SECURE_MAX];
    size_t sizes[2];
    for (int i = 0; i < 2; i++) {
        cw_netcode_client_send(a, payload, 10);
        sizes[i] = cw_netcode_client_transmit(a, datagrams[i], CW_SECURE_MAX, rig->now, NULL);
    }
    struct cw_netcode_server_event event;
    assert_ok(rig_give(rig, &at_a, datagrams[0], sizes[0]));
    assert_int_equal(rig_give(rig, &at_a, datagrams[1], sizes[1]), CW_ERROR_EVENTS_PENDING);
    assert_true(cw_netcode_server_next(rig->server, &event));
    assert_ok(rig_give(rig, &at_a, datagrams[1], sizes[1]));
}

/* A payload for one, when all have something to be sent. */
TEST(payload_among_keep_alives)
{
    struct rig *rig = rig_open();
    const struct cw_address at_a = rig_client_address(1), at_b = rig_client_address(2);
    struct cw_netcode_client *a = rig_client(rig, 1), *b = rig_client(rig, 2);
    const uint32_t slots[2] = {rig_connect(rig, a, &at_a), rig_connect(rig, b, &at_b)};
    for (int i = 0; i < 4; i++) {
        rig->now += 0.2;
        cw_netcode_client_update(a, rig->now);
        cw_netcode_client_update(b, rig->now);
        rig_up(rig, a, &at_a);
        rig_up(rig, b, &at_b);
        cw_netcode_server_update(rig->server, rig->now);
        assert_ok(cw_netcode_server_send(rig->server, slots[i % 2], (const uint8_t *)"x", 1));
        uint8_t datagram[CW_SECURE_MAX];
        struct cw_address to;
        for (int k = 0; k < 2; k++) {
            assert_true(cw_netcode_server_transmit(rig->server, datagram, sizeof(datagram),
                                                   rig->now, &to) > 0);
            const bool to_a = cw_address_equal(&to, &at_a);
            assert_int_equal(datagram[0] & 15,
                             to_a == (i % 2 == 0) ? CW_SECURE_PAYLOAD : CW_SECURE_KEEP_ALIVE);
        }
        assert_true(rig_silent(rig));
    }
}

/* The bytes behind the four of an IPv4 address are no part of it. */
TEST(addresses_with_other_bytes_behind)
{
    struct rig *rig = rig_open();
    struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(rig, 1);
    rig_connect(rig, client, &at);
    memset(at.bytes + 4, 0xee, 12);
    assert_ok(cw_netcode_client_send(client, (const uint8_t *)"x", 1));
    rig_up(rig, client, &at);
    struct cw_netcode_server_event event;
    assert_true(cw_netcode_server_next(rig->server, &event));
    assert_int_equal(event.type, CW_NETCODE_SERVER_EVENT_PAYLOAD);
}

TEST(many_clients)
{
    enum { COUNT = CW_SERVER_MAX_CLIENTS };
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = COUNT;
    rig.config.requests_per_second = 1e6;
    rig_start(&rig);
    static struct cw_netcode_client *clients[COUNT];
    static uint32_t slots[COUNT];
    for (uint32_t n = 0; n < COUNT; n++) {
        const struct cw_address at = rig_client_address(n);
        clients[n] = rig_client(&rig, n);
        rig_challenge(&rig, clients[n], &at);
        rig_up(&rig, clients[n], &at);
        struct cw_netcode_server_event event;
        assert_true(cw_netcode_server_next(rig.server, &event));
        slots[n] = event.client;
        rig_down(&rig, clients[n], &at);
        assert_int_equal(cw_netcode_client_state(clients[n]), CW_CLIENT_CONNECTED);
    }
    assert_int_equal(rig_stats(&rig).clients, COUNT);
    const struct cw_address too_late = rig_client_address(COUNT);
    uint8_t token[CW_TOKEN_SIZE];
    rig_token(&rig, token, COUNT);
    assert_int_equal(rig_give_token(&rig, &too_late, token), CW_ERROR_SERVER_FULL);
    for (uint32_t n = 0; n < COUNT; n++) {
        const struct cw_address at = rig_client_address(n);
        struct cw_netcode_server_event event;
        cw_netcode_client_send(clients[n], (const uint8_t *)&n, sizeof(n));
        rig_up(&rig, clients[n], &at);
        assert_true(cw_netcode_server_next(rig.server, &event));
        assert_int_equal(event.client, slots[n]);
        assert_memory_equal(event.payload, &n, sizeof(n));
    }
    /* Every other one leaves; the rest is still found. */
    for (uint32_t n = 0; n < COUNT; n += 2)
        cw_netcode_server_disconnect(rig.server, slots[n], 0, NULL);
    rig_down(&rig, NULL, NULL);
    struct cw_netcode_server_event event;
    while (cw_netcode_server_next(rig.server, &event))
        ;
    assert_int_equal(rig_stats(&rig).clients, COUNT / 2);
    for (uint32_t n = 0; n < COUNT; n++) {
        const struct cw_address at = rig_client_address(n);
        cw_netcode_client_send(clients[n], (const uint8_t *)&n, sizeof(n));
        rig_up(&rig, clients[n], &at);
        assert_int_equal(cw_netcode_server_next(rig.server, &event), n % 2);
    }
}

/* However much has happened before the application looks, it learns all of it, in order. */
TEST(events_wait)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = 2;
    rig_start(&rig);
    struct cw_netcode_client *clients[2];
    for (int round = 0; round < 3; round++) {
        for (uint32_t n = 0; n < 2; n++) {
            const struct cw_address at = rig_client_address(n);
            clients[n] = rig_client(&rig, n);
            rig_challenge(&rig, clients[n], &at);
            rig_exchange(&rig, clients[n], &at);
        }
        for (uint32_t n = 0; n < 2; n++) {
            const struct cw_address at = rig_client_address(n);
            assert_ok(cw_netcode_client_send(clients[n], (const uint8_t *)"x", 1));
            rig_up(&rig, clients[n], &at);
        }
        cw_netcode_server_disconnect_all(rig.server);
        rig_down(&rig, NULL, NULL);
        static const enum cw_netcode_server_event_type types[] = {
            CW_NETCODE_SERVER_EVENT_CONNECTED, CW_NETCODE_SERVER_EVENT_CONNECTED,
            CW_NETCODE_SERVER_EVENT_PAYLOAD, CW_NETCODE_SERVER_EVENT_DISCONNECTED,
            CW_NETCODE_SERVER_EVENT_DISCONNECTED};
        static const uint32_t owners[] = {0, 1, 0, 0, 1};
        for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
            struct cw_netcode_server_event event;
            assert_true(cw_netcode_server_next(rig.server, &event));
            assert_int_equal(event.type, types[i]);
            assert_int_equal(event.client, owners[i]);
        }
        rig_no_event(&rig);
    }
}

TEST(too_small_a_buffer_loses_nothing)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    uint8_t token[CW_TOKEN_SIZE], out[CW_SECURE_MAX];
    struct cw_address to;
    rig_token(rig, token, 1);
    assert_ok(rig_give_token(rig, &at, token));
    assert_int_equal(cw_netcode_server_transmit(rig->server, out, CW_SECURE_MAX - 1, rig->now, &to),
                     0);
    assert_true(cw_netcode_server_transmit(rig->server, out, CW_SECURE_MAX, rig->now, &to) > 0);
}

/* Both ends count the same datagrams and bytes. */
TEST(statistics)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(rig, 1);
    rig_connect(rig, client, &at);
    assert_ok(cw_netcode_client_send(client, (const uint8_t *)"hello", 5));
    rig_up(rig, client, &at);
    assert_int_equal(rig_drain(rig, NULL), 1);
    rig_give(rig, &at, "junk", 4);
    const struct cw_netcode_server_stats server = rig_stats(rig);
    struct cw_netcode_client_stats own;
    cw_netcode_client_get_stats(client, &own);
    /* Request, response, two keep-alives, payload. */
    assert_int_equal(own.datagrams_sent, 4);
    assert_int_equal(own.bytes_sent,
                     CW_REQUEST_SIZE + (2 + 308 + 16) + (2 + 8 + 16) + (2 + 5 + 16));
    assert_int_equal(server.datagrams_received, own.datagrams_sent + 1);
    assert_int_equal(server.bytes_received, own.bytes_sent + 4);
    assert_int_equal(server.datagrams_dropped, 1);
    assert_int_equal(own.datagrams_dropped, 0);
    assert_int_equal(cw_netcode_server_dropped(rig->server, CW_ERROR_PACKET_SHORT), 1);
    assert_int_equal(cw_netcode_server_dropped(rig->server, CW_OK), 0);
    assert_int_equal(cw_netcode_client_dropped(client, CW_OK), 0);
    assert_int_equal(server.datagrams_sent, 2);
    assert_int_equal(server.bytes_sent, (9 + 308 + 16) + (2 + 8 + 16));
    assert_int_equal(own.datagrams_received, server.datagrams_sent);
    assert_int_equal(own.bytes_received, server.bytes_sent);
    assert_int_equal(server.challenges_sent, 1);
    assert_int_equal(server.denied_sent, 0);
    assert_int_equal(server.connections, 1);
}
