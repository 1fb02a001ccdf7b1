/* The pointer that an application gives a client of its server: every event of the client has it,
   and nobody else gets it. */
#include "secure_rig.h"

static int player, other;

/* Takes the next event, which must be of this type and have this pointer. */
static void expect_event(struct rig *rig, enum cw_netcode_server_event_type type, const void *user)
{
    struct cw_netcode_server_event event;
    assert_true(cw_netcode_server_next(rig->server, &event));
    assert_int_equal(event.type, type);
    assert_ptr_equal(event.user, user);
}

/* Until it has taken the client's end, and no longer, even while the client is still being told. */
TEST(it_is_the_clients_until_its_end_is_taken)
{
    for (int by_server = 0; by_server < 2; by_server++) {
        struct rig *rig = rig_open();
        const struct cw_address at = rig_client_address(1);
        struct cw_netcode_client *client = rig_client(rig, 1);
        cw_netcode_server_set_user(rig->server, 0, &player); /* nobody is there */
        const uint32_t slot = rig_connect(rig, client, &at);
        assert_null(cw_netcode_server_user(rig->server, slot));
        cw_netcode_server_set_user(rig->server, slot, &other);
        cw_netcode_server_set_user(rig->server, slot, &player);
        assert_ptr_equal(cw_netcode_server_user(rig->server, slot), &player);
        assert_null(cw_netcode_server_user(rig->server, slot + 1));

        assert_ok(cw_netcode_client_send(client, (const uint8_t *)"x", 1));
        rig_up(rig, client, &at);
        expect_event(rig, CW_NETCODE_SERVER_EVENT_PAYLOAD, &player);

        if (by_server)
            cw_netcode_server_disconnect(rig->server, slot, 0, NULL);
        else
            cw_netcode_client_disconnect(client);
        rig_up(rig, client, &at);
        assert_ptr_equal(cw_netcode_server_user(rig->server, slot), &player);
        expect_event(rig, CW_NETCODE_SERVER_EVENT_DISCONNECTED, &player);
        assert_null(cw_netcode_server_user(rig->server, slot));
        cw_netcode_server_set_user(rig->server, slot, &player); /* too late */
        assert_null(cw_netcode_server_user(rig->server, slot));
        rig_down(rig, client, &at);

        struct cw_netcode_client *next = rig_client(rig, 2);
        assert_int_equal(rig_connect(rig, next, &at), slot);
        assert_null(cw_netcode_server_user(rig->server, slot));
    }
}

TEST(a_move_keeps_it)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1), elsewhere = rig_client_address(2);
    struct cw_netcode_client *client = rig_client(rig, 1);
    const uint32_t slot = rig_connect(rig, client, &at);
    cw_netcode_server_set_user(rig->server, slot, &player);
    assert_ok(cw_netcode_client_move(client, rig->now));
    for (int i = 0; i < 4; i++)
        rig_tick(rig, client, &elsewhere);
    assert_int_equal(rig_stats(rig).moves, 1);
    assert_ptr_equal(cw_netcode_server_user(rig->server, slot), &player);
    cw_netcode_server_disconnect(rig->server, slot, 0, NULL);
    expect_event(rig, CW_NETCODE_SERVER_EVENT_DISCONNECTED, &player);
}

/* The application may have freed what the pointer of the old one points to. */
TEST(who_takes_over_a_slot_begins_without)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1), elsewhere = rig_client_address(2);
    struct cw_netcode_client *old = rig_client(rig, 1);
    const uint32_t slot = rig_connect(rig, old, &at);
    cw_netcode_server_set_user(rig->server, slot, &player);
    struct cw_netcode_client *newer = rig_client(rig, 1);
    for (int i = 0; i < 3; i++)
        rig_tick(rig, newer, &elsewhere);
    expect_event(rig, CW_NETCODE_SERVER_EVENT_DISCONNECTED, &player);
    rig_tick(rig, newer, &elsewhere);
    expect_event(rig, CW_NETCODE_SERVER_EVENT_CONNECTED, NULL);
    assert_null(cw_netcode_server_user(rig->server, slot));
}
