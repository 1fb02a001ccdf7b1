/* Tests of the client and the server of core/GAME.md as they stand there, with three players on bad
   paths, in virtual time. */
#include "game.h"

#include "base/prng.h"
#include "causeway/simulator.h"
#include "fixture.h"

#include <math.h>
#include <stdlib.h>

#define PLAYERS 3
#define FRAME   (1 / 120.0) /* a client's frame; every other one is a turn of the server's loop */

/* These functions are the guide's. */
void server_event(struct cw_game_server *game, const struct cw_server_event *event, double now);
void server_play(struct cw_game_server *game, double now);
void server_send(struct cw_game_server *game, uint32_t id, struct cw_connection *to, double now);
void client_event(struct cw_game_client *game, const struct cw_client_event *event, double now);
void client_frame(struct cw_game_client *game, const struct input *keys,
                  struct cw_connection *connection, double now);

struct world {
    struct cw_schema *world, *messages;
    struct cw_game_server *server;
    struct cw_game_client *clients[PLAYERS];
    struct cw_connection *near[PLAYERS], *far[PLAYERS]; /* the client's and the server's end */
    struct cw_simulator *up[PLAYERS], *down[PLAYERS];
    struct input buttons[PLAYERS];
    struct cw_prng random;
    double now;
    uint32_t frames;
    uint32_t hidden;    /* the client that has no frames now */
    uint32_t tick;      /* the newest predicted tick of player 0 */
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
    const struct cw_message_type entities[] = {input_type, player_type};
    const struct cw_message_type types[] = {cw_game_body_type};
    const struct cw_schema_config world_config = {.types = entities, .count = 2};
    const struct cw_schema_config messages_config = {.types = types, .count = 1};
    *world = (struct world){.random.state = 1, .hidden = PLAYERS};
    assert_int_equal(cw_schema_create(&world_config, &world->world), CW_OK);
    assert_int_equal(cw_schema_create(&messages_config, &world->messages), CW_OK);
    const struct cw_game_config config = game_config(world->world);
    assert_int_equal(cw_game_server_create(&config, &world->server), CW_OK);
    for (uint32_t id = 0; id < PLAYERS; id++) {
        assert_int_equal(cw_game_client_create(&config, &world->clients[id]), CW_OK);
        world->near[id] = connect(world->messages);
        world->far[id] = connect(world->messages);
        world->up[id] = path(2 * id);
        world->down[id] = path(2 * id + 1);
        server_event(world->server,
                     &(struct cw_server_event){.type = CW_SERVER_EVENT_CONNECTED, .client = id}, 0);
        client_event(world->clients[id],
                     &(struct cw_client_event){.type = CW_CLIENT_EVENT_CONNECTED}, 0);
    }
}

static void stop(struct world *world)
{
    for (uint32_t id = 0; id < PLAYERS; id++) {
        server_event(world->server,
                     &(struct cw_server_event){.type = CW_SERVER_EVENT_DISCONNECTED, .client = id},
                     world->now);
        assert_null(cw_game_server_state(world->server, id, NULL));
        cw_game_client_destroy(world->clients[id]);
        cw_connection_destroy(world->near[id]);
        cw_connection_destroy(world->far[id]);
        cw_simulator_destroy(world->up[id]);
        cw_simulator_destroy(world->down[id]);
    }
    cw_game_server_destroy(world->server);
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
    while (cw_connection_next(world->far[id], &event))
        server_event(world->server,
                     &(struct cw_server_event){
                         .type = CW_SERVER_EVENT_MESSAGE, .client = id, .message = event.message},
                     world->now);
}

/* Returns where a client shows a player; false when it does not. */
static bool show(const struct world *world, uint32_t id, uint32_t other, struct player *shown)
{
    struct cw_game_entity entity;
    cw_game_client_view(world->clients[id], clock_of(world, id));
    while (cw_game_client_next_entity(world->clients[id], &entity))
        if (entity.entity == other) {
            *shown = between(&entity);
            return true;
        }
    return false;
}

static struct cw_game_client_stats stats_of(const struct world *world, uint32_t id)
{
    struct cw_game_client_stats stats;
    cw_game_client_get_stats(world->clients[id], clock_of(world, id), &stats);
    return stats;
}

/* Counts what player 0 hits by its own view, and by where the others are on the server. */
static void count_hits(struct world *world, const struct player *others, const bool *there,
                       const struct player *own)
{
    for (uint32_t id = 1; id < PLAYERS; id++) {
        const struct player *truth = cw_game_server_state(world->server, id, NULL);
        const struct cw_game_entity seen = {.from = &others[id], .to = &others[id]};
        const struct cw_game_entity true_one = {.from = truth, .to = truth};
        world->seen_hits += there[id] && reaches(own, &seen);
        world->late_hits += there[id] && reaches(own, &true_one);
    }
}

static void play(struct world *world, uint32_t id)
{
    struct cw_connection_event event;
    const double now = clock_of(world, id);
    struct player others[PLAYERS] = {0};
    bool there[PLAYERS] = {0};
    arrive(world->down[id], world->near[id], world->now, now);
    while (cw_connection_next(world->near[id], &event))
        client_event(
            world->clients[id],
            &(struct cw_client_event){.type = CW_CLIENT_EVENT_MESSAGE, .message = event.message},
            now);
    for (uint32_t other = 0; id == 0 && other < PLAYERS; other++)
        there[other] = show(world, id, other, &others[other]);
    client_frame(world->clients[id], &world->buttons[id], world->near[id], now);
    const uint32_t tick = stats_of(world, 0).tick;
    if (id == 0 && tick != world->tick && world->buttons[0].hit && there[0]) {
        world->tick = tick;
        count_hits(world, others, there, &others[0]);
    }
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
    struct player player = {0};
    show(world, id, id, &player);
    if (cw_prng_below(&world->random, 60) == 0)
        world->buttons[id] = (struct input){
            .right = direction(world, player.x), .up = direction(world, player.y), .hit = id == 0};
}

static void run(struct world *world, double seconds, bool moving)
{
    const uint32_t end = world->frames + (uint32_t)(seconds / FRAME);
    for (; world->frames < end; world->frames++) {
        world->now = world->frames * FRAME;
        for (uint32_t id = 0; id < PLAYERS; id++)
            serve(world, id);
        if (world->frames % 2 == 0) {
            server_play(world->server, world->now);
            for (uint32_t id = 0; id < PLAYERS; id++) {
                server_send(world->server, id, world->far[id], world->now);
                depart(world->down[id], world->far[id], world->now, world->now);
            }
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

static void assert_all_agree(struct world *world)
{
    for (uint32_t id = 0; id < PLAYERS; id++)
        for (uint32_t other = 0; other < PLAYERS; other++) {
            struct player shown;
            const struct player *truth = cw_game_server_state(world->server, other, NULL);
            assert_true(show(world, id, other, &shown));
            assert_int_equal(shown.x, truth->x);
            assert_int_equal(shown.y, truth->y);
            assert_int_equal(shown.hits, truth->hits);
        }
}

static uint32_t hits_of(const struct world *world)
{
    return ((const struct player *)cw_game_server_state(world->server, 0, NULL))->hits;
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
        before[id] = stats_of(&world, id).prediction;
    const uint32_t hits = hits_of(&world);
    world.seen_hits = world.late_hits = 0;
    run(&world, 120, true);
    for (uint32_t id = 1; id < PLAYERS; id++) {
        const struct cw_prediction_stats stats = stats_of(&world, id).prediction;
        print_message("player %u: %d corrections of %d\n", id,
                      (int)(stats.corrections - before[id].corrections),
                      (int)(stats.compared - before[id].compared));
        assert_true(stats.compared - before[id].compared > 2500);
        assert_true(stats.corrections - before[id].corrections < 10);
    }
    /* Player 0 does not predict its hits. */
    assert_true(stats_of(&world, 0).prediction.corrections > before[0].corrections + 10);
    const int counted = (int)(hits_of(&world) - hits);
    print_message("%d hits; it saw %u, and would have had %u without the rewind\n", counted,
                  world.seen_hits, world.late_hits);
    assert_true(world.seen_hits > 100);
    assert_true(abs(counted - (int)world.seen_hits) <= (int)world.seen_hits / 50);

    change_paths(&world, &(struct cw_simulator_path){.latency_seconds = 0.05});
    run(&world, 3, false);
    assert_all_agree(&world);
    struct player nobody;
    assert_false(show(&world, 0, PLAYERS, &nobody));
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
    const struct cw_prediction_stats before = stats_of(&world, 2).prediction;
    run(&world, 5, true);
    assert_int_equal(stats_of(&world, 2).prediction.corrections, before.corrections);
    assert_true(stats_of(&world, 2).prediction.compared > before.compared + 145);
    run(&world, 2, false);
    assert_all_agree(&world);
    stop(&world);
}
