/* A connected client that goes to another address keeps its slot, its numbers and its messages. */
#include "move_rig.h"

static struct move_world world;

/* One round trip and a half, and nothing else changes. */
TEST(a_client_moves)
{
    struct move_client *client = move_world_start(&world);
    move_connect(&world);
    const struct cw_netcode_server_stats before = rig_stats(&world.rig);
    move_to(&world, client, 7);
    const double took = move_finish(&world, client);
    assert_true(took > 0.12);
    assert_true(took < 0.3);
    assert_in_range(client->moved_requests, 1, 2);
    assert_int_equal(move_place(&world, client), 7);
    assert_int_equal(cw_client_state(client->client), CW_CLIENT_CONNECTED);
    const struct cw_netcode_server_stats after = rig_stats(&world.rig);
    assert_int_equal(after.moves, before.moves + 1);
    assert_int_equal(after.connections, 2);
    assert_int_equal(after.pending, 0);
    move_world_stop(&world);
}

/* The slot moves after one round trip and a half, and the client knows after two, however long they
   are. It asks at its usual rate for one of them, and no more. */
TEST(moves_far_away)
{
    static const double rtts[] = {1, 5};
    for (size_t i = 0; i < sizeof rtts / sizeof *rtts; i++) {
        const double rtt = rtts[i];
        move_world_init(&world);
        rig_start(&world.rig);
        struct cw_token_grant grant = rig_grant(&world.rig, 0);
        grant.timeout_seconds = 30;
        struct move_client *client = move_client_of(&world, &grant);
        move_world_run(&world, 1);
        const struct cw_simulator_path far = {.latency_seconds = rtt / 2}, near = world.path;
        move_change_path(client, &far);
        move_world_run(&world, 4 * rtt);
        const double start = world.rig.now;
        move_to(&world, client, 1);
        while (move_place(&world, client) == 0 && world.rig.now < start + 5 * rtt)
            move_world_tick(&world);
        const double moved = world.rig.now - start;
        const double took = moved + move_finish(&world, client);
        printf("round trip %.0f s: moved after %.2f s, known after %.2f s, %u requests\n", rtt,
               moved, took, client->moved_requests);
        assert_true(moved > 1.5 * rtt - 0.1 && moved < 1.5 * rtt + 0.2);
        assert_true(took > 2 * rtt - 0.1 && took < 2 * rtt + 0.3);
        assert_in_range(client->moved_requests, 1, (uint32_t)(10 * rtt) + 2);
        assert_int_equal(move_place(&world, client), 1);
        move_world_run(&world, 4 * rtt);
        assert_false(cw_netcode_client_moving(cw_client_netcode(client->client)));
        assert_int_equal(rig_stats(&world.rig).moves, 1);
        move_change_path(client, &near);
        move_world_run(&world, 4 * rtt);
        move_world_stop(&world);
    }
}

/* Again and again, at up to 50 % loss each way. */
TEST(moves_at_loss)
{
    for (int loss = 0; loss <= 50; loss += 10) {
        double longest = 0;
        move_world_init(&world);
        world.rig.seed = (uint64_t)loss + 1;
        world.path.loss = loss / 100.0;
        rig_start(&world.rig);
        struct move_client *client = move_connect(&world);
        for (uint32_t place = 1; place <= 20; place++) {
            move_to(&world, client, place);
            const double took = move_finish(&world, client);
            assert_int_equal(move_place(&world, client), place);
            if (took > longest)
                longest = took;
            move_world_run(&world, 0.5);
        }
        printf("%d %% loss: at most %.2f s\n", loss, longest);
        assert_true(longest < (loss == 0 ? 0.3 : 4.5));
        assert_int_equal(rig_stats(&world.rig).moves, 20);
        move_world_stop(&world);
    }
}

/* The token has expired and is forgotten; the slot is there. */
TEST(moves_after_the_token_has_expired)
{
    move_world_init(&world);
    world.rig.config.token_history = 1;
    rig_start(&world.rig);
    struct move_client *client = move_connect(&world);
    move_world_run(&world, 60);
    struct move_client *later = move_connect(&world); /* takes the one place of the history */
    for (uint32_t place = 1; place <= 3; place++) {
        move_to(&world, client, place);
        assert_true(move_finish(&world, client) < 0.3);
        assert_int_equal(move_place(&world, client), place);
        move_world_run(&world, 600);
    }
    assert_int_equal(move_place(&world, later), 0);
    move_world_stop(&world);
}

/* The server's clock is set to before the token was made: that is no matter for a client which is
   connected. */
TEST(moves_when_the_clock_is_set)
{
    struct move_client *client = move_world_start(&world);
    cw_netcode_server_set_unix_offset(cw_server_netcode(world.rig.server), RIG_UNIX - 1000);
    move_to(&world, client, 1);
    assert_true(move_finish(&world, client) < 0.3);
    assert_int_equal(move_place(&world, client), 1);
    move_world_stop(&world);
}

/* The address changes before the last move has ended, and what went to the last one still arrives.
   The client ends where it was last. */
TEST(moves_in_a_row)
{
    move_world_init(&world);
    world.path.loss = 0.1;
    rig_start(&world.rig);
    struct move_client *client = move_connect(&world);
    client->keeps_old = true;
    for (uint32_t ticks = 0; ticks < 40; ticks++) {
        const uint32_t first = 1 + 3 * ticks;
        for (uint32_t i = 0; i < 3; i++) {
            move_to(&world, client, first + i);
            for (uint32_t tick = 0; tick < ticks / 2; tick++)
                move_world_tick(&world);
        }
        move_finish(&world, client);
        assert_int_equal(move_place(&world, client), first + 2);
    }
    move_world_stop(&world);
}

/* The client comes back to where it was while it is still on the way to elsewhere. */
TEST(moves_there_and_back)
{
    struct move_client *client = move_world_start(&world);
    for (uint32_t ticks = 1; ticks < 40; ticks++) {
        move_to(&world, client, ticks);
        for (uint32_t tick = 0; tick < ticks; tick++)
            move_world_tick(&world);
        move_to(&world, client, 0);
        move_finish(&world, client);
        assert_int_equal(move_place(&world, client), 0);
        move_world_run(&world, 0.5);
        assert_int_equal(move_place(&world, client), 0);
    }
    move_world_stop(&world);
}

/* Nothing has changed but that the client thinks so. It goes on sending. */
TEST(a_move_to_the_same_address)
{
    struct move_client *client = move_world_start(&world);
    const uint32_t taken = client->up_taken;
    move_to(&world, client, 0);
    assert_true(move_finish(&world, client) < 2.2);
    assert_true(client->up_taken > taken + 100);
    assert_int_equal(rig_stats(&world.rig).moves, 0);
    move_world_stop(&world);
}

/* Begins a move and runs until the server has just sent its challenge. */
static void move_as_far_as_the_challenge(struct move_client *client)
{
    const uint64_t before = rig_stats(&world.rig).challenges_sent;
    move_to(&world, client, 1);
    while (rig_stats(&world.rig).challenges_sent == before)
        move_world_tick(&world);
}

/* While both addresses work, what comes to the old one does not end the move, even when all of the
   first responses are lost. */
TEST(the_old_address_still_works)
{
    struct move_client *client = move_world_start(&world);
    const struct cw_simulator_path gone = {.loss = 1}, good = world.path;
    client->keeps_old = true;
    move_as_far_as_the_challenge(client);
    assert_ok(cw_simulator_change(client->up, &gone));
    move_world_run(&world, 0.5);
    assert_int_equal(move_place(&world, client), 0);
    assert_true(cw_netcode_client_moving(cw_client_netcode(client->client)));
    assert_ok(cw_simulator_change(client->up, &good));
    move_finish(&world, client);
    assert_int_equal(move_place(&world, client), 1);
    move_world_stop(&world);
}

/* The confirmations are lost for a while: responses come again, and move nothing. */
TEST(confirmations_are_lost)
{
    struct move_client *client = move_world_start(&world);
    const struct cw_simulator_path gone = {.loss = 1}, good = world.path;
    move_as_far_as_the_challenge(client);
    assert_ok(cw_simulator_change(client->down, &gone));
    move_world_run(&world, 0.7);
    assert_int_equal(move_place(&world, client), 1);
    assert_true(cw_netcode_client_moving(cw_client_netcode(client->client)));
    assert_ok(cw_simulator_change(client->down, &good));
    assert_true(move_finish(&world, client) < 0.3);
    assert_int_equal(rig_stats(&world.rig).moves, 1);
    move_world_stop(&world);
}

/* The address changes once more, unnoticed, between request and response: the client asks again
   from where it is now. */
TEST(the_address_changes_unnoticed)
{
    struct move_client *client = move_world_start(&world);
    move_as_far_as_the_challenge(client);
    client->keeps_old = true;
    client->place = 2;
    assert_true(move_finish(&world, client) < 1.5);
    assert_int_equal(move_place(&world, client), 2);
    move_world_stop(&world);
}

/* A relay starts anew, with all players of a server on it. */
TEST(all_clients_move_at_once)
{
    enum { CLIENTS = 64 };
    move_world_init(&world);
    world.rig.config.max_clients = CLIENTS;
    world.path = (struct cw_simulator_path){.latency_seconds = 0.04};
    rig_start(&world.rig);
    for (uint32_t n = 0; n < CLIENTS; n++) {
        const struct cw_token_grant grant = rig_grant(&world.rig, n);
        move_client_of(&world, &grant);
    }
    move_world_run(&world, 1);
    for (uint32_t n = 0; n < CLIENTS; n++)
        move_to(&world, &world.clients[n], 1);
    move_world_run(&world, 0.3);
    for (uint32_t n = 0; n < CLIENTS; n++) {
        assert_false(cw_netcode_client_moving(cw_client_netcode(world.clients[n].client)));
        assert_int_equal(move_place(&world, &world.clients[n]), 1);
        assert_in_range(world.clients[n].moved_requests, 1, 2);
    }
    move_world_stop(&world);
}

static void send_file(struct move_client *client, const uint8_t *bytes, uint32_t size, double now)
{
    struct cw_connection *connection = cw_client_connection(client->client);
    struct cw_message *message;
    assert_ok(cw_connection_create_message(connection, MOVE_FILE, &message));
    assert_ok(cw_message_attach(message, (uint8_t *)bytes, size, NULL, NULL));
    assert_ok(cw_connection_send(connection, MOVE_BLOCKS, message, now));
}

/* In the middle of big data, at each of its tenths. */
TEST(moves_during_blocks)
{
    static uint8_t bytes[60000];
    move_world_init(&world);
    world.path.loss = 0.05;
    rig_start(&world.rig);
    struct move_client *client = move_connect(&world);
    for (uint32_t place = 1; place <= 10; place++) {
        send_file(client, bytes, sizeof bytes, world.rig.now);
        move_world_run(&world, 0.05 * place);
        move_to(&world, client, place);
        move_finish(&world, client);
        for (int i = 0; i < 1200 && client->files < place; i++)
            move_world_tick(&world);
        assert_int_equal(client->files, place);
    }
    move_world_stop(&world);
}

/* After the slot has ended there is nothing to move: the client times out. */
TEST(the_slot_is_gone)
{
    struct move_client *client = move_world_start(&world);
    const struct cw_simulator_path gone = {.loss = 1}, good = world.path;
    move_change_path(client, &gone);
    move_world_run(&world, 4.5);
    cw_server_disconnect_all(world.rig.server);
    move_server_tick(&world);
    move_change_path(client, &good);
    move_to(&world, client, 1);
    move_world_run(&world, 1);
    assert_int_equal(cw_client_state(client->client), CW_CLIENT_TIMED_OUT);
    assert_false(cw_netcode_client_moving(cw_client_netcode(client->client)));
    assert_int_equal(cw_netcode_client_move(cw_client_netcode(client->client), world.rig.now),
                     CW_ERROR_NOT_CONNECTED);
    assert_int_equal(rig_stats(&world.rig).clients, 0);
    assert_true(cw_server_dropped(world.rig.server, CW_ERROR_TOKEN_USED) > 3);
}
