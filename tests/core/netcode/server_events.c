/* The server tells what has happened, in this order. */
#include "netcode/server_events.h"

#include "fixture.h"

#define CLIENTS 2

struct room {
    _Alignas(max_align_t) uint8_t memory[1024];
    struct cw_server_events events;
};

static void room_open(struct room *room)
{
    *room = (struct room){0};
    struct cw_arena measured = {0};
    cw_server_events_layout(&(struct cw_server_events){0}, &measured, CLIENTS);
    assert_in_range(measured.used, 1, sizeof(room->memory));
    struct cw_arena arena = {.base = room->memory, .size = measured.used};
    cw_server_events_layout(&room->events, &arena, CLIENTS);
}

static void put(struct room *room, enum cw_netcode_server_event_type type, uint32_t client)
{
    cw_server_events_put(&room->events,
                         &(struct cw_netcode_server_event){.type = type, .client = client});
}

static void expect(struct room *room, enum cw_netcode_server_event_type type, uint32_t client)
{
    const struct cw_netcode_server_event *first = cw_server_events_first(&room->events);
    assert_non_null(first);
    assert_int_equal(first->type, type);
    assert_int_equal(first->client, client);
    assert_ptr_equal(cw_server_events_first(&room->events), first);
    cw_server_events_drop(&room->events);
}

TEST(both_ends_of_every_slot_and_a_payload_fit)
{
    struct room room;
    room_open(&room);
    assert_null(cw_server_events_first(&room.events));
    /* from every place of the ring */
    for (int round = 0; round < 20; round++) {
        for (uint32_t client = 0; client < CLIENTS; client++)
            put(&room, CW_NETCODE_SERVER_EVENT_CONNECTED, client);
        put(&room, CW_NETCODE_SERVER_EVENT_PAYLOAD, 0);
        for (uint32_t client = 0; client < CLIENTS; client++)
            put(&room, CW_NETCODE_SERVER_EVENT_DISCONNECTED, client);
        for (uint32_t client = 0; client < CLIENTS; client++)
            expect(&room, CW_NETCODE_SERVER_EVENT_CONNECTED, client);
        expect(&room, CW_NETCODE_SERVER_EVENT_PAYLOAD, 0);
        for (uint32_t client = 0; client < CLIENTS; client++)
            expect(&room, CW_NETCODE_SERVER_EVENT_DISCONNECTED, client);
        assert_null(cw_server_events_first(&room.events));
        put(&room, CW_NETCODE_SERVER_EVENT_CONNECTED, 1);
        expect(&room, CW_NETCODE_SERVER_EVENT_CONNECTED, 1);
    }
}

TEST(a_payload_waits_until_it_is_dropped)
{
    struct room room;
    room_open(&room);
    put(&room, CW_NETCODE_SERVER_EVENT_CONNECTED, 1);
    assert_false(room.events.payload_waits);
    put(&room, CW_NETCODE_SERVER_EVENT_PAYLOAD, 1);
    assert_true(room.events.payload_waits);
    expect(&room, CW_NETCODE_SERVER_EVENT_CONNECTED, 1);
    assert_true(room.events.payload_waits);
    expect(&room, CW_NETCODE_SERVER_EVENT_PAYLOAD, 1);
    assert_false(room.events.payload_waits);
}
