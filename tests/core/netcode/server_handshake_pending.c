/* The handshake of a server over its slots, alone: whom it remembers, for how long, and when a
   client gets its slot. Another test, server_handshake.c, is about what it says on the wire. */
#include "netcode/server_handshake.h"

#include "secure_rig.h"

#define CLIENTS 2
#define PENDING 3

struct fixture {
    _Alignas(max_align_t) uint8_t memory[65536];
    struct rig rig; /* for tokens and clients; without a server */
    struct cw_server_events events;
    struct cw_slots slots;
    struct cw_handshake handshake;
};

static void fixture_open(struct fixture *fixture)
{
    memset(fixture, 0, sizeof(*fixture));
    rig_init(&fixture->rig);
    fixture->rig.config.addresses = &fixture->rig.address;
    fixture->rig.config.random = (struct cw_random){netcode_fill, &fixture->rig.seed};
    fixture->rig.config.max_clients = CLIENTS;
    fixture->rig.config.max_pending = PENDING;
    fixture->rig.config.token_history = 16;
    fixture->slots.config = fixture->handshake.config = &fixture->rig.config;
    fixture->slots.events = &fixture->events;
    fixture->handshake.slots = &fixture->slots;
    struct cw_arena arena = {.base = fixture->memory, .size = sizeof(fixture->memory)};
    cw_server_events_layout(&fixture->events, &arena, CLIENTS);
    cw_slots_layout(&fixture->slots, &arena);
    cw_handshake_layout(&fixture->handshake, &arena);
    assert_non_null(fixture->handshake.history.by_id.entries);
    cw_slots_start(&fixture->slots);
    cw_handshake_start(&fixture->handshake);
    cw_handshake_set_time(&fixture->handshake, fixture->rig.now);
    fixture->rig.now += 10;
}

/* Gives the client's next packet to the handshake as a request or as a response. */
static enum cw_error give_request(struct fixture *fixture, struct cw_netcode_client *client,
                                  uint32_t from)
{
    uint8_t datagram[CW_SECURE_MAX];
    const struct cw_address at = rig_client_address(from);
    const size_t size =
        cw_netcode_client_transmit(client, datagram, sizeof(datagram), fixture->rig.now, NULL);
    return cw_handshake_request(&fixture->handshake, &at, datagram, size, fixture->rig.now);
}

static enum cw_error give_response(struct fixture *fixture, struct cw_netcode_client *client,
                                   uint32_t from)
{
    uint8_t datagram[CW_SECURE_MAX];
    const struct cw_address at = rig_client_address(from);
    const size_t size =
        cw_netcode_client_transmit(client, datagram, sizeof(datagram), fixture->rig.now, NULL);
    return cw_handshake_response(&fixture->handshake, &at, datagram, size, fixture->rig.now);
}

/* Gives the client what the handshake says next; false when it says nothing. */
static bool answer(struct fixture *fixture, struct cw_netcode_client *client)
{
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    const size_t size = cw_handshake_transmit(&fixture->handshake, datagram, sizeof(datagram),
                                              fixture->rig.now, &to);
    if (size > 0)
        cw_netcode_client_receive(client, &fixture->rig.address, datagram, size, fixture->rig.now);
    return size > 0;
}

static struct cw_netcode_client *challenged(struct fixture *fixture, uint32_t number)
{
    struct cw_netcode_client *client = rig_client(&fixture->rig, number);
    assert_int_equal(give_request(fixture, client, number), CW_OK);
    assert_true(answer(fixture, client));
    assert_int_equal(cw_netcode_client_state(client), CW_CLIENT_SENDING_RESPONSE);
    return client;
}

static void a_response_moves_a_client_to_a_slot(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture);
    struct cw_netcode_client *client = challenged(&fixture, 1);
    assert_int_equal(fixture.handshake.active_count, 1);
    assert_int_equal(fixture.slots.clients, 0);
    assert_int_equal(give_response(&fixture, client, 1), CW_OK);
    assert_int_equal(fixture.handshake.active_count, 0);
    assert_int_equal(fixture.slots.clients, 1);
    assert_non_null(cw_slots_by_id(&fixture.slots, 1));
    assert_int_equal(cw_slots_get(&fixture.slots, 0)->identity.user_data[0], 1);
    assert_false(answer(&fixture, client));
    cw_netcode_client_destroy(client);
}

static void full_slots_deny_request_and_response(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture);
    struct cw_netcode_client *late = challenged(&fixture, 9);
    for (uint32_t number = 1; number <= CLIENTS; number++) {
        struct cw_netcode_client *client = challenged(&fixture, number);
        assert_int_equal(give_response(&fixture, client, number), CW_OK);
        cw_netcode_client_destroy(client);
    }
    assert_int_equal(give_response(&fixture, late, 9), CW_ERROR_SERVER_FULL);
    struct cw_netcode_client *later = rig_client(&fixture.rig, 10);
    assert_int_equal(give_request(&fixture, later, 10), CW_ERROR_SERVER_FULL);
    assert_int_equal(fixture.handshake.denial_count, 2);
    assert_true(answer(&fixture, late));
    assert_true(answer(&fixture, later));
    assert_int_equal(fixture.handshake.denied_sent, 2);
    cw_netcode_client_destroy(late);
    cw_netcode_client_destroy(later);
}

static void the_silent_are_forgotten(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture);
    struct cw_netcode_client *clients[PENDING];
    for (uint32_t i = 0; i < PENDING; i++)
        clients[i] = challenged(&fixture, i);
    struct cw_netcode_client *more = rig_client(&fixture.rig, 7);
    assert_int_equal(give_request(&fixture, more, 7), CW_ERROR_PENDING_FULL);
    const int32_t timeout = cw_token_grant_default().timeout_seconds;
    cw_handshake_update(&fixture.handshake, fixture.rig.now + timeout - 0.1);
    assert_int_equal(fixture.handshake.active_count, PENDING);
    cw_handshake_update(&fixture.handshake, fixture.rig.now + timeout);
    assert_int_equal(fixture.handshake.active_count, 0);
    assert_int_equal(give_response(&fixture, clients[0], 0), CW_ERROR_NOT_CONNECTED);
    for (uint32_t i = 0; i < PENDING; i++)
        cw_netcode_client_destroy(clients[i]);
    cw_netcode_client_destroy(more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_response_moves_a_client_to_a_slot),
        cmocka_unit_test(full_slots_deny_request_and_response),
        cmocka_unit_test(the_silent_are_forgotten),
    };
    return cmocka_run_group_tests_name("server_handshake_pending", tests, NULL, NULL);
}
