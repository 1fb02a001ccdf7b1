/* The slots of a server, alone: who has one, what goes out of it, and when it is free again. */
#include "netcode/server_slots.h"

#include "netcode.h"
#include "unit.h"

#define CLIENTS  3
#define PROTOCOL 77

static const struct cw_farewell kick = {.reason = CW_DISCONNECT_BY_SERVER};

struct fixture {
    _Alignas(max_align_t) uint8_t memory[16384];
    struct cw_netcode_server_config config;
    struct cw_server_events events;
    struct cw_slots slots;
    uint64_t seed;
};

static void fixture_open(struct fixture *fixture)
{
    *fixture = (struct fixture){.config = cw_netcode_server_config_default(), .seed = 1};
    fixture->config.random = (struct cw_random){netcode_fill, &fixture->seed};
    fixture->config.max_clients = CLIENTS;
    fixture->config.protocol_id = PROTOCOL;
    fixture->config.disconnect_packets = 2;
    fixture->slots.config = &fixture->config;
    fixture->slots.events = &fixture->events;
    struct cw_arena arena = {.base = fixture->memory, .size = sizeof(fixture->memory)};
    cw_server_events_layout(&fixture->events, &arena, CLIENTS);
    cw_slots_layout(&fixture->slots, &arena);
    assert_non_null(fixture->slots.by_id.entries);
    cw_slots_start(&fixture->slots);
}

static struct cw_client_identity identity_of(uint8_t number)
{
    return (struct cw_client_identity){
        .address = {.type = CW_ADDRESS_IPV4, .port = 4000, .bytes = {10, 0, 0, number}},
        .id = 100u + number,
        .timeout_seconds = 5,
        .client_to_server_key = {1, number},
        .server_to_client_key = {2, number},
        .user_data = {number},
    };
}

static void expect_event(struct fixture *fixture, enum cw_netcode_server_event_type type,
                         uint32_t client)
{
    struct cw_netcode_server_event event;
    assert_true(cw_slots_next(&fixture->slots, &event));
    assert_int_equal(event.type, type);
    assert_int_equal(event.client, client);
}

static void expect_no_event(struct fixture *fixture)
{
    struct cw_netcode_server_event event;
    assert_false(cw_slots_next(&fixture->slots, &event));
}

/* Connects client number to the slot that it must get. */
static void connect_to(struct fixture *fixture, uint8_t number, uint32_t client)
{
    const struct cw_client_identity identity = identity_of(number);
    cw_slots_connect(&fixture->slots, &identity, 0);
    expect_event(fixture, CW_NETCODE_SERVER_EVENT_CONNECTED, client);
    assert_memory_equal(&cw_slots_get(&fixture->slots, client)->identity, &identity,
                        sizeof(identity));
}

/* The type of the next packet, which must go to that identity. */
static enum cw_secure_type next_packet(struct fixture *fixture, uint8_t number, double now)
{
    uint8_t datagram[CW_SECURE_MAX], body[CW_PAYLOAD_MAX];
    struct cw_address to;
    const size_t size = cw_slots_transmit(&fixture->slots, datagram, sizeof(datagram), now, &to);
    assert_int_not_equal(size, 0);
    const struct cw_client_identity identity = identity_of(number);
    assert_true(cw_address_equal(&to, &identity.address));
    struct cw_secure_packet packet;
    assert_int_equal(cw_secure_read(datagram, size,
                                    &(struct cw_secure_key){.protocol_id = PROTOCOL,
                                                            .direction = CW_TO_CLIENT,
                                                            .bytes = identity.server_to_client_key},
                                    NULL, body, &packet),
                     CW_OK);
    return packet.type;
}

static void expect_silence(struct fixture *fixture, double now)
{
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    assert_int_equal(cw_slots_transmit(&fixture->slots, datagram, sizeof(datagram), now, &to), 0);
}

static enum cw_error give(struct fixture *fixture, uint8_t number, enum cw_secure_type type,
                          uint64_t sequence, const void *body, size_t body_size)
{
    const struct cw_client_identity identity = identity_of(number);
    struct cw_slot *slot = cw_slots_by_address(&fixture->slots, &identity.address);
    assert_non_null(slot);
    uint8_t datagram[CW_SECURE_MAX];
    const size_t size = cw_secure_write(
        &(struct cw_secure_packet){
            .type = type, .sequence = sequence, .body = body, .size = body_size},
        &(struct cw_secure_key){.protocol_id = PROTOCOL, .bytes = identity.client_to_server_key},
        datagram, sizeof(datagram));
    return cw_slots_receive(&fixture->slots, slot, datagram, size, 1);
}

static void peers_are_found_while_they_are_connected(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture);
    for (uint8_t number = 0; number < CLIENTS; number++) {
        const struct cw_client_identity identity = identity_of(number);
        assert_false(cw_slots_full(&fixture.slots));
        assert_null(cw_slots_get(&fixture.slots, number));
        assert_null(cw_slots_by_address(&fixture.slots, &identity.address));
        assert_null(cw_slots_by_id(&fixture.slots, identity.id));
        connect_to(&fixture, number, number);
        assert_ptr_equal(cw_slots_by_address(&fixture.slots, &identity.address),
                         cw_slots_get(&fixture.slots, number));
        assert_non_null(cw_slots_by_id(&fixture.slots, identity.id));
    }
    assert_true(cw_slots_full(&fixture.slots));
    assert_null(cw_slots_get(&fixture.slots, CLIENTS));
    const struct cw_client_identity gone = identity_of(1);
    cw_slots_disconnect(&fixture.slots, 1, &kick);
    assert_null(cw_slots_by_address(&fixture.slots, &gone.address));
    assert_null(cw_slots_by_id(&fixture.slots, gone.id));
    assert_int_equal(fixture.slots.clients, CLIENTS - 1);
    cw_slots_disconnect(&fixture.slots, 1, &kick); /* nothing more */
    cw_slots_disconnect(&fixture.slots, CLIENTS, &kick);
    expect_event(&fixture, CW_NETCODE_SERVER_EVENT_DISCONNECTED, 1);
    expect_no_event(&fixture);
}

static void a_slot_is_free_when_both_sides_know(void **state)
{
    (void)state;
    for (int told_first = 0; told_first < 2; told_first++) {
        struct fixture fixture;
        fixture_open(&fixture);
        connect_to(&fixture, 0, 0);
        assert_int_equal(next_packet(&fixture, 0, 0), CW_SECURE_KEEP_ALIVE);
        expect_silence(&fixture, 0);
        cw_slots_disconnect(&fixture.slots, 0, &kick);
        if (told_first)
            expect_event(&fixture, CW_NETCODE_SERVER_EVENT_DISCONNECTED, 0);
        for (uint32_t i = 0; i < 2 * fixture.config.disconnect_packets; i++) {
            assert_non_null(cw_slots_get(&fixture.slots, 0));
            assert_int_equal(next_packet(&fixture, 0, 0), CW_SECURE_DISCONNECT);
        }
        expect_silence(&fixture, 0);
        if (!told_first) {
            assert_non_null(cw_slots_get(&fixture.slots, 0));
            expect_event(&fixture, CW_NETCODE_SERVER_EVENT_DISCONNECTED, 0);
        }
        assert_null(cw_slots_get(&fixture.slots, 0));
        connect_to(&fixture, 1, 0);
    }
}

static void a_payload_follows_a_keep_alive_until_something_came(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture);
    connect_to(&fixture, 0, 0);
    assert_int_equal(cw_slots_send(&fixture.slots, 1, (const uint8_t *)"x", 1),
                     CW_ERROR_NOT_CONNECTED);
    assert_int_equal(cw_slots_send(&fixture.slots, 0, (const uint8_t *)"x", 1), CW_OK);
    assert_int_equal(cw_slots_send(&fixture.slots, 0, (const uint8_t *)"x", 1),
                     CW_ERROR_TRANSMIT_PENDING);
    assert_int_equal(next_packet(&fixture, 0, 0), CW_SECURE_KEEP_ALIVE);
    assert_int_equal(next_packet(&fixture, 0, 0), CW_SECURE_PAYLOAD);
    expect_silence(&fixture, 0);
    assert_int_equal(give(&fixture, 0, CW_SECURE_PAYLOAD, 0, "y", 1), CW_OK);
    assert_true(cw_slots_get(&fixture.slots, 0)->confirmed);
    expect_event(&fixture, CW_NETCODE_SERVER_EVENT_PAYLOAD, 0);
    assert_int_equal(give(&fixture, 0, CW_SECURE_PAYLOAD, 0, "y", 1), CW_ERROR_DUPLICATE);
    assert_int_equal(cw_slots_send(&fixture.slots, 0, (const uint8_t *)"x", 1), CW_OK);
    assert_int_equal(next_packet(&fixture, 0, 0), CW_SECURE_PAYLOAD);
    expect_silence(&fixture, 0);
}

static void time_brings_keep_alives_and_ends_the_silent(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture);
    connect_to(&fixture, 0, 0);
    assert_int_equal(next_packet(&fixture, 0, 0), CW_SECURE_KEEP_ALIVE);
    cw_slots_update(&fixture.slots, 0.05);
    expect_silence(&fixture, 0.05);
    cw_slots_update(&fixture.slots, 0.2);
    assert_int_equal(next_packet(&fixture, 0, 0.2), CW_SECURE_KEEP_ALIVE);
    cw_slots_update(&fixture.slots, 4.9);
    expect_no_event(&fixture);
    cw_slots_update(&fixture.slots, 5);
    struct cw_netcode_server_event event;
    assert_true(cw_slots_next(&fixture.slots, &event));
    assert_int_equal(event.type, CW_NETCODE_SERVER_EVENT_DISCONNECTED);
    assert_int_equal(event.reason, CW_DISCONNECT_TIMED_OUT);
}

static void a_client_that_leaves_is_not_told(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture);
    connect_to(&fixture, 0, 0);
    assert_int_equal(give(&fixture, 0, CW_SECURE_DISCONNECT, 0, NULL, 0), CW_OK);
    expect_silence(&fixture, 1);
    struct cw_netcode_server_event event;
    assert_true(cw_slots_next(&fixture.slots, &event));
    assert_int_equal(event.type, CW_NETCODE_SERVER_EVENT_DISCONNECTED);
    assert_int_equal(event.reason, CW_DISCONNECT_BY_CLIENT);
    assert_null(cw_slots_get(&fixture.slots, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peers_are_found_while_they_are_connected),
        cmocka_unit_test(a_slot_is_free_when_both_sides_know),
        cmocka_unit_test(a_payload_follows_a_keep_alive_until_something_came),
        cmocka_unit_test(time_brings_keep_alives_and_ends_the_silent),
        cmocka_unit_test(a_client_that_leaves_is_not_told),
    };
    return cmocka_run_group_tests_name("server_slots", tests, NULL, NULL);
}
