/* The server tells what has happened, in this order. */
#include "netcode/server_events.h"

#include "unit.h"

#define CLIENTS 2

struct fixture {
    _Alignas(max_align_t) uint8_t memory[1024];
    struct cw_server_events events;
};

static void fixture_open(struct fixture *fixture)
{
    *fixture = (struct fixture){0};
    struct cw_arena measured = {0};
    cw_server_events_layout(&(struct cw_server_events){0}, &measured, CLIENTS);
    assert_in_range(measured.used, 1, sizeof(fixture->memory));
    struct cw_arena arena = {.base = fixture->memory, .size = measured.used};
    cw_server_events_layout(&fixture->events, &arena, CLIENTS);
}

static void put(struct fixture *fixture, enum cw_netcode_server_event_type type, uint32_t client)
{
    cw_server_events_put(&fixture->events,
                         &(struct cw_netcode_server_event){.type = type, .client = client});
}

static void expect(struct fixture *fixture, enum cw_netcode_server_event_type type, uint32_t client)
{
    const struct cw_netcode_server_event *first = cw_server_events_first(&fixture->events);
    assert_non_null(first);
    assert_int_equal(first->type, type);
    assert_int_equal(first->client, client);
    assert_ptr_equal(cw_server_events_first(&fixture->events), first);
    cw_server_events_drop(&fixture->events);
}

static void both_ends_of_every_slot_and_a_payload_fit(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture);
    assert_null(cw_server_events_first(&fixture.events));
    /* from every place of the ring */
    for (int round = 0; round < 20; round++) {
        for (uint32_t client = 0; client < CLIENTS; client++)
            put(&fixture, CW_NETCODE_SERVER_EVENT_CONNECTED, client);
        put(&fixture, CW_NETCODE_SERVER_EVENT_PAYLOAD, 0);
        for (uint32_t client = 0; client < CLIENTS; client++)
            put(&fixture, CW_NETCODE_SERVER_EVENT_DISCONNECTED, client);
        for (uint32_t client = 0; client < CLIENTS; client++)
            expect(&fixture, CW_NETCODE_SERVER_EVENT_CONNECTED, client);
        expect(&fixture, CW_NETCODE_SERVER_EVENT_PAYLOAD, 0);
        for (uint32_t client = 0; client < CLIENTS; client++)
            expect(&fixture, CW_NETCODE_SERVER_EVENT_DISCONNECTED, client);
        assert_null(cw_server_events_first(&fixture.events));
        put(&fixture, CW_NETCODE_SERVER_EVENT_CONNECTED, 1);
        expect(&fixture, CW_NETCODE_SERVER_EVENT_CONNECTED, 1);
    }
}

static void a_payload_waits_until_it_is_dropped(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture);
    put(&fixture, CW_NETCODE_SERVER_EVENT_CONNECTED, 1);
    assert_false(fixture.events.payload_waits);
    put(&fixture, CW_NETCODE_SERVER_EVENT_PAYLOAD, 1);
    assert_true(fixture.events.payload_waits);
    expect(&fixture, CW_NETCODE_SERVER_EVENT_CONNECTED, 1);
    assert_true(fixture.events.payload_waits);
    expect(&fixture, CW_NETCODE_SERVER_EVENT_PAYLOAD, 1);
    assert_false(fixture.events.payload_waits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_of_every_slot_and_a_payload_fit),
        cmocka_unit_test(a_payload_waits_until_it_is_dropped),
    };
    return cmocka_run_group_tests_name("server_events", tests, NULL, NULL);
}
