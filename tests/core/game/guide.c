/* Tests of the client and the server of core/GAME.md as they stand there, with three players on bad
   paths, in virtual time. */
#include "client.h"
#include "server.h"

#include "base/prng.h"
#include "causeway/simulator.h"
#include "fixture.h"

#include <math.h>
#include <stdlib.h>

#define PLAYERS 3
#define FRAME   (1 / 120.0) /* a client's frame; the server plays a tick in every other one */

/* These functions are the guide's. */
void server_receive(struct server *game, uint32_t id, const struct up *up, double now);
void server_tick(struct server *game, double now);
void client_receive(struct client *game, const struct down *down, double now);
void client_frame(struct client *game, const struct input *buttons, double now);
bool client_show(struct client *game, uint32_t id, double now, struct player *shown);

struct world {
    struct cw_schema *world, *messages;
    struct server server;
    struct client clients[PLAYERS];
    struct cw_connection *near[PLAYERS], *far[PLAYERS]; /* the client's and the server's end */
    struct cw_simulator *up[PLAYERS], *down[PLAYERS];
    struct input buttons[PLAYERS];
    struct cw_prng random;
    double now;
    uint32_t frames;
    uint32_t hidden;    /* the client that has no frames now */
    uint32_t seen_hits; /* hits of player 0, by what it saw itself */
    uint32_t late_hits; /* hits, by where the others were on the server then */
};

/* Returns the time of a client, whose clock began at a time of its own. */
static double clock_of(const struct world *world, uint32_t id)
{
    return world->now + 1000.0 * id;
}

static struct cw_connection *connect(const struct cw_schema *schema)
{
    const struct cw_connection_config config = cw_connection_config_default(schema);
    struct cw_connection *connection;
    assert_int_equal(cw_connection_create(&config, &connection), CW_OK);
    return connection;
}

static struct cw_simulator *path(uint64_t seed)
{
    struct cw_simulator_config config = cw_simulator_config_default();
    struct cw_simulator *simulator;
    config.seed = seed;
    assert_int_equal(cw_simulator_create(&config, &simulator), CW_OK);
    return simulator;
}

static void change_paths(struct world *world, const struct cw_simulator_path *to)
{
    for (uint32_t id = 0; id < PLAYERS; id++) {
        assert_int_equal(cw_simulator_change(world->up[id], to), CW_OK);
        assert_int_equal(cw_simulator_change(world->down[id], to), CW_OK);
    }
}

static void start(struct world *world)
{
    const struct cw_message_type entities[] = {player_type, input_type};
    const struct cw_message_type types[] = {up_type, down_type};
    const struct cw_schema_config world_config = {.types = entities, .count = 2};
    const struct cw_schema_config messages_config = {.types = types, .count = 2};
    *world = (struct world){.random.state = 1, .hidden = PLAYERS};
    assert_int_equal(cw_schema_create(&world_config, &world->world), CW_OK);
    assert_int_equal(cw_schema_create(&messages_config, &world->messages), CW_OK);
    assert_int_equal(server_create(&world->server, world->world), CW_OK);
    world->server.tick = (uint32_t)-1000;
    for (uint32_t id = 0; id < PLAYERS; id++) {
        assert_int_equal(client_create(&world->clients[id], world->world), CW_OK);
        world->near[id] = connect(world->messages);
        world->far[id] = connect(world->messages);
        world->up[id] = path(2 * id);
        world->down[id] = path(2 * id + 1);
        world->clients[id].id = id;
        world->clients[id].connection = world->near[id];
        world->server.seats[id].connection = world->far[id];
        cw_snapshot_server_join(world->server.snapshots, id);
        cw_snapshot_server_set_priority(world->server.snapshots, id, id, 100);
    }
}

static void stop(struct world *world)
{
    for (uint32_t id = 0; id < PLAYERS; id++) {
        struct client *client = &world->clients[id];
        cw_clock_sync_destroy(client->clock);
        cw_input_sender_destroy(client->inputs);
        cw_prediction_destroy(client->prediction);
        cw_snapshot_client_destroy(client->snapshots);
        cw_interpolation_destroy(client->interpolation);
        cw_history_destroy(client->seen);
        cw_connection_destroy(world->near[id]);
        cw_connection_destroy(world->far[id]);
        cw_simulator_destroy(world->up[id]);
        cw_simulator_destroy(world->down[id]);
    }
    for (uint32_t id = 0; id < MAX_PLAYERS; id++)
        cw_input_receiver_destroy(world->server.seats[id].inputs);
    cw_snapshot_server_destroy(world->server.snapshots);
    cw_history_destroy(world->server.history);
    cw_schema_destroy(world->world);
    cw_schema_destroy(world->messages);
}

static void arrive(struct cw_simulator *path, struct cw_connection *connection, double due,
                   double now)
{
    uint8_t data[2048];
    for (size_t size; (size = cw_simulator_transmit(path, data, sizeof data, due)) > 0;)
        cw_connection_receive(connection, data, size, now);
}

static void depart(struct cw_simulator *path, struct cw_connection *connection, double due,
                   double now)
{
    uint8_t data[2048];
    cw_connection_update(connection, now);
    for (size_t size; (size = cw_connection_transmit(connection, data, sizeof data, now)) > 0;)
        cw_simulator_receive(path, data, size, due);
}

static void serve(struct world *world, uint32_t id)
{
    struct cw_connection_event event;
    arrive(world->up[id], world->far[id], world->now, world->now);
    while (cw_connection_next(world->far[id], &event)) {
        if (event.type == CW_CONNECTION_EVENT_ACKED)
            cw_snapshot_server_acked(world->server.snapshots, id, event.receipt);
        if (event.type == CW_CONNECTION_EVENT_MESSAGE)
            server_receive(&world->server, id, event.message->data, world->now);
        cw_message_release(event.message);
    }
}

/* Counts what player 0 hits by its own view, and by where the others are on the server. */
static void count_hits(struct world *world)
{
    struct client *first = &world->clients[0];
    for (uint32_t id = 1; id < PLAYERS; id++) {
        struct player other;
        if (!client_show(first, id, clock_of(world, 0), &other))
            continue;
        world->seen_hits += reaches(&first->player, &other);
        world->late_hits += reaches(&first->player, &world->server.seats[id].player);
    }
}

static void play(struct world *world, uint32_t id)
{
    struct client *client = &world->clients[id];
    struct cw_connection_event event;
    const double now = clock_of(world, id);
    arrive(world->down[id], world->near[id], world->now, now);
    while (cw_connection_next(world->near[id], &event)) {
        if (event.type == CW_CONNECTION_EVENT_MESSAGE)
            client_receive(client, event.message->data, now);
        cw_message_release(event.message);
    }
    const uint32_t before = cw_tick_of(cw_clock_sync_client_time(client->clock, now - FRAME));
    client_frame(client, &world->buttons[id], now);
    if (id == 0 && cw_tick_of(cw_clock_sync_client_time(client->clock, now)) != before)
        count_hits(world);
    depart(world->up[id], world->near[id], world->now, now);
}

/* Returns a direction back to the middle when far away, else any. */
static int32_t direction(struct world *world, int32_t place)
{
    const int32_t anywhere = (int32_t)cw_prng_below(&world->random, 3) - 1;
    return place > 3000 ? -1 : place < -3000 ? 1 : anywhere;
}

static void press_buttons(struct world *world, uint32_t id)
{
    const struct player *player = &world->clients[id].player;
    if (cw_prng_below(&world->random, 60) == 0)
        world->buttons[id] = (struct input){.right = direction(world, player->x),
                                            .up = direction(world, player->y),
                                            .hit = id == 0};
}

static void run(struct world *world, double seconds, bool moving)
{
    const uint32_t end = world->frames + (uint32_t)(seconds / FRAME);
    for (; world->frames < end; world->frames++) {
        world->now = world->frames * FRAME;
        for (uint32_t id = 0; id < PLAYERS; id++)
            serve(world, id);
        if (world->frames % 2 == 0) {
            server_tick(&world->server, world->now);
            for (uint32_t id = 0; id < PLAYERS; id++)
                depart(world->down[id], world->far[id], world->now, world->now);
        }
        for (uint32_t id = 0; id < PLAYERS; id++) {
            if (moving)
                press_buttons(world, id);
            else
                world->buttons[id] = (struct input){0};
            if (id != world->hidden)
                play(world, id);
        }
    }
}

static struct cw_prediction_stats stats_of(const struct world *world, uint32_t id)
{
    struct cw_prediction_stats stats;
    cw_prediction_get_stats(world->clients[id].prediction, &stats);
    return stats;
}

static void assert_all_agree(struct world *world)
{
    for (uint32_t id = 0; id < PLAYERS; id++)
        for (uint32_t other = 0; other < PLAYERS; other++) {
            struct player shown;
            const struct player *truth = &world->server.seats[other].player;
            assert_true(client_show(&world->clients[id], other, clock_of(world, id), &shown));
            assert_int_equal(shown.x, truth->x);
            assert_int_equal(shown.y, truth->y);
            assert_int_equal(shown.hits, truth->hits);
        }
}

TEST(all_see_the_same_in_the_end)
{
    struct world world;
    start(&world);
    change_paths(&world, &(struct cw_simulator_path){.latency_seconds = 0.05,
                                                     .jitter_seconds = 0.02,
                                                     .loss = 0.05,
                                                     .duplicate = 0.02});
    run(&world, 5, true);
    struct cw_prediction_stats before[PLAYERS];
    for (uint32_t id = 0; id < PLAYERS; id++)
        before[id] = stats_of(&world, id);
    const uint32_t hits = world.server.seats[0].player.hits;
    world.seen_hits = world.late_hits = 0;
    run(&world, 120, true);
    for (uint32_t id = 1; id < PLAYERS; id++) {
        const struct cw_prediction_stats stats = stats_of(&world, id);
        print_message("player %u: %d corrections of %d\n", id,
                      (int)(stats.corrections - before[id].corrections),
                      (int)(stats.compared - before[id].compared));
        assert_true(stats.compared - before[id].compared > 5000);
        assert_true(stats.corrections - before[id].corrections < 60);
    }
    /* Player 0 does not predict its hits. */
    assert_true(stats_of(&world, 0).corrections > before[0].corrections + 10);
    const int counted = (int)(world.server.seats[0].player.hits - hits);
    print_message("%d hits; it saw %u, and would have had %u without the rewind\n", counted,
                  world.seen_hits, world.late_hits);
    assert_true(world.seen_hits > 100);
    assert_true(abs(counted - (int)world.seen_hits) <= 2);

    change_paths(&world, &(struct cw_simulator_path){.latency_seconds = 0.05});
    run(&world, 3, false);
    assert_all_agree(&world);
    struct player nobody;
    assert_false(client_show(&world.clients[0], PLAYERS, world.now, &nobody));
    stop(&world);
}

TEST(a_hidden_tab_catches_up)
{
    struct world world;
    start(&world);
    change_paths(&world, &(struct cw_simulator_path){.latency_seconds = 0.05});
    run(&world, 5, true);
    world.hidden = 2;
    run(&world, 8, true);
    world.hidden = PLAYERS;
    run(&world, 2, true);
    const uint64_t corrections = stats_of(&world, 2).corrections;
    const uint64_t compared = stats_of(&world, 2).compared;
    run(&world, 5, true);
    assert_int_equal(stats_of(&world, 2).corrections, corrections);
    assert_true(stats_of(&world, 2).compared > compared + 290);
    run(&world, 2, false);
    assert_all_agree(&world);
    stop(&world);
}
