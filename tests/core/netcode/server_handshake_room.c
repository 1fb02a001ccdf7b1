/* The handshake of a server over its slots, alone: whom it remembers, for how long, and when a
   client gets its slot. Another test, server_handshake.c, is about what it says on the wire. */
#include "netcode/server_handshake.h"

#include "secure_rig.h"

#define CLIENTS 2
#define PENDING 3

struct room {
    _Alignas(max_align_t) uint8_t memory[65536];
    struct rig rig; /* for tokens and clients; without a server */
    struct cw_server_events events;
    struct cw_slots slots;
    struct cw_handshake handshake;
};

static void room_open(struct room *room)
{
    memset(room, 0, sizeof(*room));
    rig_init(&room->rig);
    room->rig.config.addresses = &room->rig.address;
    room->rig.config.random = (struct cw_random){netcode_fill, &room->rig.seed};
    room->rig.config.max_clients = CLIENTS;
    room->rig.config.max_pending = PENDING;
    room->rig.config.token_history = 16;
    room->slots.config = room->handshake.config = &room->rig.config;
    room->slots.events = &room->events;
    room->handshake.slots = &room->slots;
    struct cw_arena arena = {.base = room->memory, .size = sizeof(room->memory)};
    cw_server_events_layout(&room->events, &arena, CLIENTS);
    cw_slots_layout(&room->slots, &arena);
    cw_handshake_layout(&room->handshake, &arena);
    assert_non_null(room->handshake.history.by_id.entries);
    cw_slots_start(&room->slots);
    cw_handshake_start(&room->handshake);
    cw_handshake_set_time(&room->handshake, room->rig.now);
    room->rig.now += 10;
}

/* Gives the client's next packet to the handshake as a request or as a response. */
static enum cw_error give_request(struct room *room, struct cw_netcode_client *client,
                                  uint32_t from)
{
    uint8_t datagram[CW_SECURE_MAX];
    const struct cw_address at = rig_client_address(from);
    const size_t size =
        cw_netcode_client_transmit(client, datagram, sizeof(datagram), room->rig.now, NULL);
    return cw_handshake_request(&room->handshake, &at, datagram, size, room->rig.now);
}

static enum cw_error give_response(struct room *room, struct cw_netcode_client *client,
                                   uint32_t from)
{
    uint8_t datagram[CW_SECURE_MAX];
    const struct cw_address at = rig_client_address(from);
    const size_t size =
        cw_netcode_client_transmit(client, datagram, sizeof(datagram), room->rig.now, NULL);
    return cw_handshake_response(&room->handshake, &at, datagram, size, room->rig.now);
}

/* Gives the client what the room says next; false when it says nothing. */
static bool answer(struct room *room, struct cw_netcode_client *client)
{
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    const size_t size =
        cw_handshake_transmit(&room->handshake, datagram, sizeof(datagram), room->rig.now, &to);
    if (size > 0)
        cw_netcode_client_receive(client, &room->rig.address, datagram, size, room->rig.now);
    return size > 0;
}

static struct cw_netcode_client *challenged(struct room *room, uint32_t number)
{
    struct cw_netcode_client *client = rig_client(&room->rig, number);
    assert_ok(give_request(room, client, number));
    assert_true(answer(room, client));
    assert_int_equal(cw_netcode_client_state(client), CW_CLIENT_SENDING_RESPONSE);
    return client;
}

TEST(a_response_moves_a_client_to_a_slot)
{
    struct room room;
    room_open(&room);
    struct cw_netcode_client *client = challenged(&room, 1);
    assert_int_equal(room.handshake.active_count, 1);
    assert_int_equal(room.slots.clients, 0);
    assert_ok(give_response(&room, client, 1));
    assert_int_equal(room.handshake.active_count, 0);
    assert_int_equal(room.slots.clients, 1);
    assert_non_null(cw_slots_by_id(&room.slots, 1));
    assert_int_equal(cw_slots_get(&room.slots, 0)->peer.user_data[0], 1);
    assert_false(answer(&room, client));
}

TEST(full_slots_deny_request_and_response)
{
    struct room room;
    room_open(&room);
    struct cw_netcode_client *late = challenged(&room, 9);
    for (uint32_t number = 1; number <= CLIENTS; number++) {
        struct cw_netcode_client *client = challenged(&room, number);
        assert_ok(give_response(&room, client, number));
    }
    assert_int_equal(give_response(&room, late, 9), CW_ERROR_SERVER_FULL);
    struct cw_netcode_client *later = rig_client(&room.rig, 10);
    assert_int_equal(give_request(&room, later, 10), CW_ERROR_SERVER_FULL);
    assert_int_equal(room.handshake.denial_count, 2);
    assert_true(answer(&room, late));
    assert_true(answer(&room, later));
    assert_int_equal(room.handshake.denied_sent, 2);
}

TEST(the_silent_are_forgotten)
{
    struct room room;
    room_open(&room);
    struct cw_netcode_client *clients[PENDING];
    for (uint32_t i = 0; i < PENDING; i++)
        clients[i] = challenged(&room, i);
    struct cw_netcode_client *more = rig_client(&room.rig, 7);
    assert_int_equal(give_request(&room, more, 7), CW_ERROR_PENDING_FULL);
    const int32_t timeout = cw_token_grant_default().timeout_seconds;
    cw_handshake_update(&room.handshake, room.rig.now + timeout - 0.1);
    assert_int_equal(room.handshake.active_count, PENDING);
    cw_handshake_update(&room.handshake, room.rig.now + timeout);
    assert_int_equal(room.handshake.active_count, 0);
    assert_int_equal(give_response(&room, clients[0], 0), CW_ERROR_NOT_CONNECTED);
}
