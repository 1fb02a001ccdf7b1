/* The slots of a server, alone: who has one, what goes out of it, and when it is free again. */
#include "netcode/server_slots.h"

#include "fixture.h"
#include "netcode.h"

#define CLIENTS  3
#define PROTOCOL 77

static const struct cw_farewell kick = {.reason = CW_DISCONNECT_BY_SERVER};

struct room {
    _Alignas(max_align_t) uint8_t memory[16384];
    struct cw_netcode_server_config config;
    struct cw_server_events events;
    struct cw_slots slots;
    uint64_t seed;
};

static void room_open(struct room *room)
{
    *room = (struct room){.config = cw_netcode_server_config_default(), .seed = 1};
    room->config.random = (struct cw_random){netcode_fill, &room->seed};
    room->config.max_clients = CLIENTS;
    room->config.protocol_id = PROTOCOL;
    room->config.disconnect_packets = 2;
    room->slots.config = &room->config;
    room->slots.events = &room->events;
    struct cw_arena arena = {.base = room->memory, .size = sizeof(room->memory)};
    cw_server_events_layout(&room->events, &arena, CLIENTS);
    cw_slots_layout(&room->slots, &arena);
    assert_non_null(room->slots.by_id.entries);
    cw_slots_start(&room->slots);
}

static struct cw_peer peer_of(uint8_t number)
{
    return (struct cw_peer){
        .address = {.type = CW_ADDRESS_IPV4, .port = 4000, .bytes = {10, 0, 0, number}},
        .id = 100u + number,
        .timeout_seconds = 5,
        .client_to_server_key = {1, number},
        .server_to_client_key = {2, number},
        .user_data = {number},
    };
}

static void expect_event(struct room *room, enum cw_netcode_server_event_type type, uint32_t client)
{
    struct cw_netcode_server_event event;
    assert_true(cw_slots_next(&room->slots, &event));
    assert_int_equal(event.type, type);
    assert_int_equal(event.client, client);
}

static void expect_no_event(struct room *room)
{
    struct cw_netcode_server_event event;
    assert_false(cw_slots_next(&room->slots, &event));
}

/* Connects peer number to the slot that it must get. */
static void connect_to(struct room *room, uint8_t number, uint32_t client)
{
    const struct cw_peer peer = peer_of(number);
    cw_slots_connect(&room->slots, &peer, 0);
    expect_event(room, CW_NETCODE_SERVER_EVENT_CONNECTED, client);
    assert_memory_equal(&cw_slots_get(&room->slots, client)->peer, &peer, sizeof(peer));
}

/* The type of the next packet, which must go to that peer. */
static enum cw_secure_type next_packet(struct room *room, uint8_t number, double now)
{
    uint8_t datagram[CW_SECURE_MAX], body[CW_PAYLOAD_MAX];
    struct cw_address to;
    const size_t size = cw_slots_transmit(&room->slots, datagram, sizeof(datagram), now, &to);
    assert_int_not_equal(size, 0);
    const struct cw_peer peer = peer_of(number);
    assert_true(cw_address_equal(&to, &peer.address));
    struct cw_secure_packet packet;
    assert_ok(cw_secure_read(datagram, size,
                             &(struct cw_secure_key){.protocol_id = PROTOCOL,
                                                     .direction = CW_TO_CLIENT,
                                                     .bytes = peer.server_to_client_key},
                             NULL, body, &packet));
    return packet.type;
}

static void expect_silence(struct room *room, double now)
{
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    assert_int_equal(cw_slots_transmit(&room->slots, datagram, sizeof(datagram), now, &to), 0);
}

static enum cw_error give(struct room *room, uint8_t number, enum cw_secure_type type,
                          uint64_t sequence, const void *body, size_t body_size)
{
    const struct cw_peer peer = peer_of(number);
    struct cw_slot *slot = cw_slots_by_address(&room->slots, &peer.address);
    assert_non_null(slot);
    uint8_t datagram[CW_SECURE_MAX];
    const size_t size = cw_secure_write(
        &(struct cw_secure_packet){
            .type = type, .sequence = sequence, .body = body, .size = body_size},
        &(struct cw_secure_key){.protocol_id = PROTOCOL, .bytes = peer.client_to_server_key},
        datagram, sizeof(datagram));
    return cw_slots_receive(&room->slots, slot, datagram, size, 1);
}

TEST(peers_are_found_while_they_are_connected)
{
    struct room room;
    room_open(&room);
    for (uint8_t number = 0; number < CLIENTS; number++) {
        const struct cw_peer peer = peer_of(number);
        assert_false(cw_slots_full(&room.slots));
        assert_null(cw_slots_get(&room.slots, number));
        assert_null(cw_slots_by_address(&room.slots, &peer.address));
        assert_null(cw_slots_by_id(&room.slots, peer.id));
        connect_to(&room, number, number);
        assert_ptr_equal(cw_slots_by_address(&room.slots, &peer.address),
                         cw_slots_get(&room.slots, number));
        assert_non_null(cw_slots_by_id(&room.slots, peer.id));
    }
    assert_true(cw_slots_full(&room.slots));
    assert_null(cw_slots_get(&room.slots, CLIENTS));
    const struct cw_peer gone = peer_of(1);
    cw_slots_disconnect(&room.slots, 1, &kick);
    assert_null(cw_slots_by_address(&room.slots, &gone.address));
    assert_null(cw_slots_by_id(&room.slots, gone.id));
    assert_int_equal(room.slots.clients, CLIENTS - 1);
    cw_slots_disconnect(&room.slots, 1, &kick); /* nothing more */
    cw_slots_disconnect(&room.slots, CLIENTS, &kick);
    expect_event(&room, CW_NETCODE_SERVER_EVENT_DISCONNECTED, 1);
    expect_no_event(&room);
}

TEST(a_slot_is_free_when_both_sides_know)
{
    for (int told_first = 0; told_first < 2; told_first++) {
        struct room room;
        room_open(&room);
        connect_to(&room, 0, 0);
        assert_int_equal(next_packet(&room, 0, 0), CW_SECURE_KEEP_ALIVE);
        expect_silence(&room, 0);
        cw_slots_disconnect(&room.slots, 0, &kick);
        if (told_first)
            expect_event(&room, CW_NETCODE_SERVER_EVENT_DISCONNECTED, 0);
        for (uint32_t i = 0; i < 2 * room.config.disconnect_packets; i++) {
            assert_non_null(cw_slots_get(&room.slots, 0));
            assert_int_equal(next_packet(&room, 0, 0), CW_SECURE_DISCONNECT);
        }
        expect_silence(&room, 0);
        if (!told_first) {
            assert_non_null(cw_slots_get(&room.slots, 0));
            expect_event(&room, CW_NETCODE_SERVER_EVENT_DISCONNECTED, 0);
        }
        assert_null(cw_slots_get(&room.slots, 0));
        connect_to(&room, 1, 0);
    }
}

TEST(a_payload_follows_a_keep_alive_until_something_came)
{
    struct room room;
    room_open(&room);
    connect_to(&room, 0, 0);
    assert_int_equal(cw_slots_send(&room.slots, 1, (const uint8_t *)"x", 1),
                     CW_ERROR_NOT_CONNECTED);
    assert_ok(cw_slots_send(&room.slots, 0, (const uint8_t *)"x", 1));
    assert_int_equal(cw_slots_send(&room.slots, 0, (const uint8_t *)"x", 1),
                     CW_ERROR_TRANSMIT_PENDING);
    assert_int_equal(next_packet(&room, 0, 0), CW_SECURE_KEEP_ALIVE);
    assert_int_equal(next_packet(&room, 0, 0), CW_SECURE_PAYLOAD);
    expect_silence(&room, 0);
    assert_ok(give(&room, 0, CW_SECURE_PAYLOAD, 0, "y", 1));
    assert_true(cw_slots_get(&room.slots, 0)->confirmed);
    expect_event(&room, CW_NETCODE_SERVER_EVENT_PAYLOAD, 0);
    assert_int_equal(give(&room, 0, CW_SECURE_PAYLOAD, 0, "y", 1), CW_ERROR_DUPLICATE);
    assert_ok(cw_slots_send(&room.slots, 0, (const uint8_t *)"x", 1));
    assert_int_equal(next_packet(&room, 0, 0), CW_SECURE_PAYLOAD);
    expect_silence(&room, 0);
}

TEST(time_brings_keep_alives_and_ends_the_silent)
{
    struct room room;
    room_open(&room);
    connect_to(&room, 0, 0);
    assert_int_equal(next_packet(&room, 0, 0), CW_SECURE_KEEP_ALIVE);
    cw_slots_update(&room.slots, 0.05);
    expect_silence(&room, 0.05);
    cw_slots_update(&room.slots, 0.2);
    assert_int_equal(next_packet(&room, 0, 0.2), CW_SECURE_KEEP_ALIVE);
    cw_slots_update(&room.slots, 4.9);
    expect_no_event(&room);
    cw_slots_update(&room.slots, 5);
    struct cw_netcode_server_event event;
    assert_true(cw_slots_next(&room.slots, &event));
    assert_int_equal(event.type, CW_NETCODE_SERVER_EVENT_DISCONNECTED);
    assert_int_equal(event.reason, CW_DISCONNECT_TIMED_OUT);
}

TEST(a_client_that_leaves_is_not_told)
{
    struct room room;
    room_open(&room);
    connect_to(&room, 0, 0);
    assert_ok(give(&room, 0, CW_SECURE_DISCONNECT, 0, NULL, 0));
    expect_silence(&room, 1);
    struct cw_netcode_server_event event;
    assert_true(cw_slots_next(&room.slots, &event));
    assert_int_equal(event.type, CW_NETCODE_SERVER_EVENT_DISCONNECTED);
    assert_int_equal(event.reason, CW_DISCONNECT_BY_CLIENT);
    assert_null(cw_slots_get(&room.slots, 0));
}
