/* The server and the clients that are connected to it. */
#include "secure_rig.h"

static void connects(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    struct cw_client *client = rig_client(&rig, 77);
    assert_int_equal(rig_up(&rig, client, &at), 1);
    assert_int_equal(rig_down(&rig, client, &at), 1);
    assert_int_equal(cw_client_state(client), CW_CLIENT_SENDING_RESPONSE);
    rig_no_event(&rig);
    assert_int_equal(rig_stats(&rig).clients, 0);
    assert_int_equal(rig_up(&rig, client, &at), 1);
    assert_int_equal(rig_stats(&rig).clients, 1);
    assert_int_equal(rig_stats(&rig).pending, 0);
    struct cw_server_event event;
    assert_true(cw_server_next(rig.server, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_CONNECTED);
    rig_no_event(&rig);
    struct cw_server_client about;
    assert_true(cw_server_client(rig.server, event.client, &about));
    assert_int_equal(about.id, 77);
    assert_true(cw_address_equal(&about.address, &at));
    assert_int_equal(about.user_data[0], 77);
    assert_false(about.confirmed);
    assert_int_equal(rig_down(&rig, client, &at), 1);
    assert_int_equal(cw_client_state(client), CW_CLIENT_CONNECTED);
    assert_int_equal(cw_client_index(client), event.client);
    assert_int_equal(cw_client_max_clients(client), 4);
    assert_int_equal(rig_up(&rig, client, &at), 1);
    assert_true(cw_server_client(rig.server, event.client, &about));
    assert_true(about.confirmed);
    assert_false(cw_server_client(rig.server, event.client + 1, &about));
    assert_false(cw_server_client(rig.server, 1000000, &about));
    cw_client_destroy(client);
    rig_stop(&rig);
}

static void keeps_alive_ten_times_a_second(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    struct cw_client *client = rig_client(&rig, 1);
    const uint32_t slot = rig_connect(&rig, client, &at);
    int count = 0;
    for (int tick = 0; tick < 100; tick++) {
        rig.now += 0.01;
        cw_server_update(rig.server, rig.now);
        count += rig_down(&rig, client, &at);
    }
    assert_in_range(count, 9, 11);
    for (int tick = 0; tick < 20; tick++) {
        rig.now += tick % 2 ? 0.05 : 0.2;
        cw_server_update(rig.server, rig.now);
        assert_int_equal(cw_server_send(rig.server, slot, "x", 1), CW_OK);
        assert_int_equal(rig_down(&rig, NULL, NULL), 1);
        rig_up(&rig, client, &at);
        cw_client_update(client, rig.now);
    }
    cw_client_destroy(client);
    rig_stop(&rig);
}

/* Until something came from the client, each payload has a keep-alive before it. */
static void unconfirmed_clients_are_introduced(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    struct cw_client *client = rig_client(&rig, 1);
    rig_up(&rig, client, &at);
    rig_down(&rig, client, &at);
    rig_up(&rig, client, &at);
    struct cw_server_event event;
    assert_true(cw_server_next(rig.server, &event));
    assert_int_equal(rig_down(&rig, NULL, NULL), 1);
    uint8_t types[4], out[CW_SECURE_MAX];
    struct cw_address to;
    size_t size;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cw_server_send(rig.server, event.client, "hello", 5), CW_OK);
        for (int k = 0; k < 2; k++) {
            size = cw_server_transmit(rig.server, &to, out, sizeof(out), rig.now);
            assert_true(size > 0);
            types[2 * i + k] = out[0] & 15;
            cw_client_receive(client, NULL, out, size, rig.now);
        }
        assert_true(rig_silent(&rig));
        if (i == 0) {
            struct cw_client_event own;
            assert_true(cw_client_next(client, &own));
            assert_int_equal(own.type, CW_CLIENT_EVENT_CONNECTED);
            assert_true(cw_client_next(client, &own));
            assert_int_equal(own.type, CW_CLIENT_EVENT_PAYLOAD);
            assert_memory_equal(own.payload, "hello", 5);
        }
    }
    assert_memory_equal(types, "\4\5\4\5", 4);
    rig_up(&rig, client, &at);
    assert_int_equal(cw_server_send(rig.server, event.client, "hello", 5), CW_OK);
    assert_int_equal(cw_server_transmit(rig.server, &to, out, sizeof(out), rig.now), 23);
    assert_int_equal(out[0] & 15, CW_SECURE_PAYLOAD);
    cw_client_destroy(client);
    rig_stop(&rig);
}

static void payloads_both_ways(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at_a = rig_client_address(1), at_b = rig_client_address(2);
    struct cw_client *a = rig_client(&rig, 1), *b = rig_client(&rig, 2);
    const uint32_t slot_a = rig_connect(&rig, a, &at_a), slot_b = rig_connect(&rig, b, &at_b);
    assert_int_not_equal(slot_a, slot_b);
    uint8_t payload[CW_PAYLOAD_MAX + 1];
    netcode_fill(&rig.seed, payload, sizeof(payload));
    assert_int_equal(cw_server_send(rig.server, slot_a, payload, 0), CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_server_send(rig.server, slot_a, payload, sizeof(payload)),
                     CW_ERROR_PACKET_TOO_LARGE);
    assert_int_equal(cw_server_send(rig.server, 3, payload, 1), CW_ERROR_NOT_CONNECTED);
    assert_int_equal(cw_server_send(rig.server, 99, payload, 1), CW_ERROR_NOT_CONNECTED);
    for (size_t size = 1; size <= CW_PAYLOAD_MAX; size += 37) {
        struct cw_client_event down;
        struct cw_server_event up;
        assert_int_equal(cw_server_send(rig.server, slot_b, payload, size), CW_OK);
        assert_int_equal(cw_server_send(rig.server, slot_a, payload, size),
                         CW_ERROR_TRANSMIT_PENDING);
        rig_down(&rig, b, &at_b);
        assert_true(cw_client_next(b, &down));
        assert_int_equal(down.size, size);
        assert_memory_equal(down.payload, payload, size);
        assert_false(cw_client_next(a, &down));

        assert_int_equal(cw_client_send(a, payload + 1, size), CW_OK);
        rig_up(&rig, a, &at_a);
        assert_true(cw_server_next(rig.server, &up));
        assert_int_equal(up.type, CW_SERVER_EVENT_PAYLOAD);
        assert_int_equal(up.client, slot_a);
        assert_int_equal(up.size, size);
        assert_memory_equal(up.payload, payload + 1, size);
        rig_no_event(&rig);
    }
    /* One at a time: the second comes again when the first has been taken. */
    uint8_t datagrams[2][CW_SECURE_MAX];
    size_t sizes[2];
    for (int i = 0; i < 2; i++) {
        cw_client_send(a, payload, 10);
        sizes[i] = cw_client_transmit(a, NULL, datagrams[i], CW_SECURE_MAX, rig.now);
    }
    struct cw_server_event event;
    assert_int_equal(rig_give(&rig, &at_a, datagrams[0], sizes[0]), CW_OK);
    assert_int_equal(rig_give(&rig, &at_a, datagrams[1], sizes[1]), CW_ERROR_EVENTS_PENDING);
    assert_true(cw_server_next(rig.server, &event));
    assert_int_equal(rig_give(&rig, &at_a, datagrams[1], sizes[1]), CW_OK);
    cw_client_destroy(a);
    cw_client_destroy(b);
    rig_stop(&rig);
}

static void expect_gone(struct rig *rig, uint32_t slot, enum cw_disconnect_reason reason)
{
    struct cw_server_event event;
    struct cw_server_client about;
    assert_int_equal(rig_stats(rig).clients, 0);
    assert_true(cw_server_client(rig->server, slot, &about));
    assert_true(cw_server_next(rig->server, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_DISCONNECTED);
    assert_int_equal(event.client, slot);
    assert_int_equal(event.reason, reason);
    rig_no_event(rig);
}

static void client_disconnects(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    struct cw_client *client = rig_client(&rig, 1);
    const uint32_t slot = rig_connect(&rig, client, &at);
    cw_client_disconnect(client);
    assert_int_equal(rig_up(&rig, client, &at), 10);
    expect_gone(&rig, slot, CW_DISCONNECT_BY_CLIENT);
    assert_true(rig_silent(&rig));
    struct cw_server_client about;
    assert_false(cw_server_client(rig.server, slot, &about));
    assert_int_equal(rig_stats(&rig).dropped[CW_ERROR_NOT_CONNECTED], 9);
    cw_client_destroy(client);
    rig_stop(&rig);
}

static void server_disconnects(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    struct cw_client *client = rig_client(&rig, 1);
    const uint32_t slot = rig_connect(&rig, client, &at);
    cw_server_disconnect(rig.server, slot);
    cw_server_disconnect(rig.server, slot);
    cw_server_disconnect(rig.server, 1000000);
    assert_int_equal(cw_server_send(rig.server, slot, "x", 1), CW_ERROR_NOT_CONNECTED);
    expect_gone(&rig, slot, CW_DISCONNECT_BY_SERVER);
    assert_int_equal(rig_down(&rig, client, &at), 10);
    assert_int_equal(cw_client_state(client), CW_CLIENT_DISCONNECTED);
    struct cw_server_client about;
    assert_false(cw_server_client(rig.server, slot, &about));
    cw_client_destroy(client);
    rig_stop(&rig);
}

static void server_disconnects_all(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at_a = rig_client_address(1), at_b = rig_client_address(2);
    struct cw_client *a = rig_client(&rig, 1), *b = rig_client(&rig, 2);
    rig_connect(&rig, a, &at_a);
    rig_connect(&rig, b, &at_b);
    cw_server_disconnect_all(rig.server);
    assert_int_equal(rig_stats(&rig).clients, 0);
    assert_int_equal(rig_down(&rig, a, &at_a), 20);
    assert_int_equal(cw_client_state(a), CW_CLIENT_DISCONNECTED);
    cw_client_destroy(a);
    cw_client_destroy(b);
    rig_stop(&rig);
}

static void silent_client_times_out(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    struct cw_client *client = rig_client(&rig, 1);
    const uint32_t slot = rig_connect(&rig, client, &at);
    rig.now += 4.9;
    cw_server_update(rig.server, rig.now);
    assert_int_equal(rig_stats(&rig).clients, 1);
    rig.now += 0.2;
    cw_server_update(rig.server, rig.now);
    expect_gone(&rig, slot, CW_DISCONNECT_TIMED_OUT);
    assert_int_equal(rig_down(&rig, client, &at), 10);
    cw_client_destroy(client);

    /* Not so with a timeout below zero. */
    struct cw_token_grant grant = rig_grant(&rig, 2);
    grant.timeout_seconds = -1;
    uint8_t token[CW_TOKEN_SIZE];
    const struct cw_client_config config = cw_client_config_default();
    assert_int_equal(cw_token_generate(token, &grant, rig_key), CW_OK);
    assert_int_equal(cw_client_create(&client, &config), CW_OK);
    assert_int_equal(cw_client_connect(client, token, sizeof(token), rig.now), CW_OK);
    rig_connect(&rig, client, &at);
    rig.now += 1e6;
    cw_server_update(rig.server, rig.now);
    assert_int_equal(rig_stats(&rig).clients, 1);
    cw_client_destroy(client);
    rig_stop(&rig);
}

/* A slot is not given away before its old owner's end has been seen, and has nothing of him then
   (bug 7). */
static void slots_are_used_again(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = 1;
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    struct cw_server_event event;
    for (uint64_t life = 1; life <= 5; life++) {
        struct cw_client *client = rig_client(&rig, life);
        assert_int_equal(rig_connect(&rig, client, &at), 0);
        struct cw_server_client about;
        assert_true(cw_server_client(rig.server, 0, &about));
        assert_int_equal(about.id, life);
        assert_int_equal(about.user_data[0], life);
        for (int i = 0; i < 300; i++) {
            cw_client_send(client, "x", 1);
            rig_up(&rig, client, &at);
            assert_true(cw_server_next(rig.server, &event));
        }
        cw_client_disconnect(client);
        rig_up(&rig, client, &at);

        struct cw_client *early = rig_client(&rig, life + 1);
        rig_up(&rig, early, &at);
        rig_down(&rig, early, &at);
        assert_int_equal(cw_client_state(early), CW_CLIENT_DENIED);
        cw_client_destroy(early);

        assert_true(cw_server_next(rig.server, &event));
        assert_int_equal(event.type, CW_SERVER_EVENT_DISCONNECTED);
        assert_false(cw_server_client(rig.server, 0, &about));
        cw_client_destroy(client);
        rig.now += 1;
        cw_server_update(rig.server, rig.now);
    }
    assert_int_equal(rig_stats(&rig).connections, 5);
    rig_stop(&rig);
}

/* What was to be sent to a client that is gone is not sent, and not in the way. */
static void payload_for_one_who_left(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at_a = rig_client_address(1), at_b = rig_client_address(2);
    struct cw_client *a = rig_client(&rig, 1), *b = rig_client(&rig, 2);
    const uint32_t slot_a = rig_connect(&rig, a, &at_a), slot_b = rig_connect(&rig, b, &at_b);
    assert_int_equal(cw_server_send(rig.server, slot_a, "x", 1), CW_OK);
    cw_server_disconnect(rig.server, slot_a);
    assert_int_equal(cw_server_send(rig.server, slot_b, "y", 1), CW_OK);
    rig_down(&rig, b, &at_b);
    struct cw_client_event event;
    assert_true(cw_client_next(b, &event));
    assert_memory_equal(event.payload, "y", 1);
    cw_client_destroy(a);
    cw_client_destroy(b);
    rig_stop(&rig);
}

/* What lies behind the four bytes of an IPv4 address is no part of it. */
static void addresses_with_other_bytes_behind(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    struct cw_address at = rig_client_address(1);
    struct cw_client *client = rig_client(&rig, 1);
    rig_connect(&rig, client, &at);
    memset(at.bytes + 4, 0xee, 12);
    assert_int_equal(cw_client_send(client, "x", 1), CW_OK);
    rig_up(&rig, client, &at);
    struct cw_server_event event;
    assert_true(cw_server_next(rig.server, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_PAYLOAD);
    cw_client_destroy(client);
    rig_stop(&rig);
}

static void many_clients(void **state)
{
    (void)state;
    enum { COUNT = CW_SERVER_MAX_CLIENTS };
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = COUNT;
    rig.config.requests_per_second = 1e6;
    rig_start(&rig);
    static struct cw_client *clients[COUNT];
    static uint32_t slots[COUNT];
    for (uint32_t n = 0; n < COUNT; n++) {
        const struct cw_address at = rig_client_address(n);
        clients[n] = rig_client(&rig, n);
        rig_up(&rig, clients[n], &at);
        rig_down(&rig, clients[n], &at);
        rig_up(&rig, clients[n], &at);
        struct cw_server_event event;
        assert_true(cw_server_next(rig.server, &event));
        slots[n] = event.client;
        rig_down(&rig, clients[n], &at);
        assert_int_equal(cw_client_state(clients[n]), CW_CLIENT_CONNECTED);
    }
    assert_int_equal(rig_stats(&rig).clients, COUNT);
    for (uint32_t n = 0; n < COUNT; n++) {
        const struct cw_address at = rig_client_address(n);
        struct cw_server_event event;
        cw_client_send(clients[n], &n, sizeof(n));
        rig_up(&rig, clients[n], &at);
        assert_true(cw_server_next(rig.server, &event));
        assert_int_equal(event.client, slots[n]);
        assert_memory_equal(event.payload, &n, sizeof(n));
    }
    /* Every other one leaves; the rest is still found. */
    for (uint32_t n = 0; n < COUNT; n += 2)
        cw_server_disconnect(rig.server, slots[n]);
    rig_down(&rig, NULL, NULL);
    struct cw_server_event event;
    while (cw_server_next(rig.server, &event))
        ;
    assert_int_equal(rig_stats(&rig).clients, COUNT / 2);
    for (uint32_t n = 0; n < COUNT; n++) {
        const struct cw_address at = rig_client_address(n);
        cw_client_send(clients[n], &n, sizeof(n));
        rig_up(&rig, clients[n], &at);
        assert_int_equal(cw_server_next(rig.server, &event), n % 2);
        cw_client_destroy(clients[n]);
    }
    rig_stop(&rig);
}

static size_t largest_allocation, allocations, releases;

static void *counted_allocate(void *context, size_t size)
{
    (void)context;
    allocations++;
    largest_allocation = size;
    return malloc(size);
}

static void counted_release(void *context, void *memory, size_t size)
{
    (void)context;
    releases++;
    assert_int_equal(size, largest_allocation);
    free(memory);
}

static void *no_allocate(void *context, size_t size)
{
    (void)context;
    (void)size;
    return NULL;
}

static void one_allocation(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig.config.allocator =
        (struct cw_allocator){.allocate = counted_allocate, .release = counted_release};
    rig_start(&rig);
    assert_int_equal(largest_allocation, cw_server_memory(&rig.config));
    const struct cw_address at = rig_client_address(1);
    struct cw_client *client = rig_client(&rig, 1);
    rig_connect(&rig, client, &at);
    cw_client_destroy(client);
    rig_stop(&rig);
    assert_int_equal(allocations, 1);
    assert_int_equal(releases, 1);
    rig.config.allocator = (struct cw_allocator){.allocate = no_allocate};
    assert_int_equal(cw_server_create(&rig.server, &rig.config), CW_ERROR_NO_MEMORY);
}

static void configs_refused(void **state)
{
    (void)state;
    struct rig rig;
    struct cw_server *server;
    rig_init(&rig);
    rig.config.addresses = &rig.address;
    const struct cw_server_config good = rig.config;
    struct cw_server_config bad = good;
    const struct cw_address none = {0};
    assert_true(cw_server_memory(&good) > 0);
#define REFUSED(change, error)                                                                     \
    bad = good;                                                                                    \
    bad.change;                                                                                    \
    assert_int_equal(cw_server_create(&server, &bad), error);                                      \
    assert_int_equal(cw_server_memory(&bad), 0)
    REFUSED(max_clients = 0, CW_ERROR_CONFIG_CLIENTS);
    REFUSED(max_clients = 1025, CW_ERROR_CONFIG_CLIENTS);
    REFUSED(max_pending = 65537, CW_ERROR_CONFIG_CLIENTS);
    REFUSED(token_history = UINT32_MAX, CW_ERROR_CONFIG_CLIENTS);
    REFUSED(address_count = 0, CW_ERROR_CONFIG_ADDRESSES);
    REFUSED(address_count = 33, CW_ERROR_CONFIG_ADDRESSES);
    REFUSED(addresses = NULL, CW_ERROR_CONFIG_ADDRESSES);
    REFUSED(addresses = &none, CW_ERROR_CONFIG_ADDRESSES);
    REFUSED(keep_alive_seconds = 0, CW_ERROR_CONFIG_TIME);
    REFUSED(requests_per_second = 0, CW_ERROR_CONFIG_TIME);
    REFUSED(unix_offset = 0.0 / 0.0, CW_ERROR_CONFIG_TIME);
    REFUSED(disconnect_packets = 0, CW_ERROR_CONFIG_DISCONNECT_PACKETS);
#undef REFUSED
    cw_server_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connects),
        cmocka_unit_test(keeps_alive_ten_times_a_second),
        cmocka_unit_test(unconfirmed_clients_are_introduced),
        cmocka_unit_test(payloads_both_ways),
        cmocka_unit_test(client_disconnects),
        cmocka_unit_test(server_disconnects),
        cmocka_unit_test(server_disconnects_all),
        cmocka_unit_test(silent_client_times_out),
        cmocka_unit_test(slots_are_used_again),
        cmocka_unit_test(payload_for_one_who_left),
        cmocka_unit_test(addresses_with_other_bytes_behind),
        cmocka_unit_test(many_clients),
        cmocka_unit_test(one_allocation),
        cmocka_unit_test(configs_refused),
    };
    return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
