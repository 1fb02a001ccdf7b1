/* Tests of snapshots over paths that lose, double and reorder them: every client sees each entity
   go forward only, and in the end has exactly the world that it should have. */

#include "message/schema_delta.h"

#define EVERY_CODING
#include "snapshot_rig.h"

#include "random_schema.h"

#include "causeway/simulator.h"

/* The runs of each path; they are fewer where every step is checked by a sanitizer. */
#ifndef SEEDS
#define SEEDS 2
#endif

#define CLIENTS  3
#define ENTITIES 60
#define TICK     (1.0 / 60) /* seconds */

struct truth {
    bool present;
    uint32_t type;
    uint32_t born; /* the tick in which it was created */
    struct body body;
    struct player player;
};

struct end {
    struct cw_snapshot_client *client;
    struct cw_simulator *down, *up;
    uint32_t seen[ENTITIES]; /* the stamp seen last, or 0 */
    uint32_t born[ENTITIES]; /* the tick in which the entity that was seen was created here */
    bool hidden[ENTITIES];
    size_t capacity;
    uint32_t restarts;
};

static struct truth world[ENTITIES];
static struct end ends[CLIENTS];
static double now;

static void open_ends(const struct cw_simulator_path *path, uint64_t seed)
{
    memset(world, 0, sizeof world);
    memset(ends, 0, sizeof ends);
    now = 0;
    random_state = seed;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct cw_simulator_config config = cw_simulator_config_default();
        config.path = *path;
        config.max_datagram_size = 2000;
        config.seed = seed * 100 + i;
        assert_int_equal(cw_simulator_create(&config, &ends[i].down), CW_OK);
        config.seed += 50;
        assert_int_equal(cw_simulator_create(&config, &ends[i].up), CW_OK);
        assert_int_equal(cw_snapshot_client_create(&rig_config, &ends[i].client), CW_OK);
        assert_int_equal(cw_snapshot_server_join(rig_server, i), CW_OK);
        ends[i].capacity = 1000;
    }
}

static void close_ends(void)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        cw_snapshot_client_destroy(ends[i].client);
        cw_simulator_destroy(ends[i].down);
        cw_simulator_destroy(ends[i].up);
    }
}

static void set_random(uint32_t entity)
{
    struct truth *const truth = &world[entity];
    if (!truth->present) {
        truth->present = true;
        truth->type = random_below(2);
        truth->born = rig_tick + 1;
    }
    truth->body = (struct body){random_below(1 << 18), random_below(1 << 18),
                                (float)random_below(800) * 0.01f - 4, random_below(2), 0};
    truth->body.stamp = truth->player.stamp = rig_tick + 1;
    truth->player.score = (int32_t)random_below(201) - 100;
    truth->player.items.count = random_below(7);
    for (uint32_t i = 0; i < truth->player.items.count; i++)
        truth->player.items.items[i] = random_below(32);
    snprintf(truth->player.name, sizeof truth->player.name, "%u", random_below(1000));
    const void *const state = truth->type == BODY ? (void *)&truth->body : &truth->player;
    assert_int_equal(cw_snapshot_server_set(rig_server, entity, truth->type, state), CW_OK);
}

static void change_the_world(void)
{
    for (uint32_t i = 0; i < ENTITIES; i++) {
        const uint32_t luck = random_below(100);
        if (luck < (world[i].present ? 20 : 3))
            set_random(i);
        else if (luck > 97 && world[i].present) {
            world[i].present = false;
            cw_snapshot_server_remove(rig_server, i);
            for (uint32_t j = 0; j < CLIENTS; j++)
                ends[j].hidden[i] = false;
        }
    }
}

static void change_interest(uint32_t client)
{
    const uint32_t entity = random_below(ENTITIES);
    ends[client].hidden[entity] = random_below(3) == 0;
    assert_int_equal(cw_snapshot_server_set_priority(rig_server, client, entity,
                                                     ends[client].hidden[entity] ? 0 : 1),
                     CW_OK);
}

static uint32_t stamp_of(const void *state, uint32_t type)
{
    return type == BODY ? ((const struct body *)state)->stamp
                        : ((const struct player *)state)->stamp;
}

/* Checks that the client's events agree with its entities, and that nothing goes back in time. */
static void look(struct end *end)
{
    struct cw_snapshot_event event;
    while (cw_snapshot_client_next(end->client, &event)) {
        uint32_t type = 9;
        const void *const state = cw_snapshot_client_state(end->client, event.entity, &type);
        uint32_t *const seen = &end->seen[event.entity];
        if (event.type == CW_SNAPSHOT_EVENT_REMOVED) {
            assert_true(*seen > 0);
            *seen = 0;
            continue;
        }
        assert_int_equal(*seen == 0, event.type == CW_SNAPSHOT_EVENT_CREATED);
        assert_non_null(state);
        assert_int_equal(event.entity_type, type);
        assert_true(stamp_of(state, type) >= *seen);
        *seen = stamp_of(state, type);
    }
    for (uint32_t i = 0; i < ENTITIES; i++)
        assert_int_equal(cw_snapshot_client_state(end->client, i, NULL) != NULL, end->seen[i] > 0);
}

/* With own_acks, the client acks what it has read. Otherwise what has arrived is acked, and the
   client says when it lacks a baseline. */
static void deliver(uint32_t i, bool own_acks)
{
    struct end *const end = &ends[i];
    uint8_t bytes[2000];
    size_t size;
    while ((size = cw_simulator_transmit(end->down, bytes, sizeof bytes, now)) > 0) {
        uint8_t ack[2] = {bytes[0], bytes[1]};
        const enum cw_error error = cw_snapshot_client_receive(end->client, bytes, size);
        assert_true(error == CW_OK || error == CW_ERROR_DUPLICATE || error == CW_ERROR_STALE ||
                    error == CW_ERROR_SNAPSHOT_BASELINE);
        look(end);
        uint16_t newest;
        if (own_acks && !cw_snapshot_client_newest(end->client, &newest))
            continue;
        if (own_acks) {
            ack[0] = (uint8_t)newest;
            ack[1] = (uint8_t)(newest >> 8);
        } else if (error == CW_ERROR_SNAPSHOT_BASELINE) {
            end->restarts++;
            assert_int_equal(cw_snapshot_server_restart(rig_server, i), CW_OK);
        }
        cw_simulator_receive(end->up, ack, sizeof ack, now);
    }
    while ((size = cw_simulator_transmit(end->up, bytes, sizeof bytes, now)) > 0)
        cw_snapshot_server_acked(rig_server, i, (uint32_t)(bytes[0] | bytes[1] << 8));
}

/* Tells the server in what the client is interested, in an order of no sense. */
static void list_interest(uint32_t client)
{
    struct cw_priority list[ENTITIES];
    size_t count = 0;
    for (uint32_t i = 0; i < ENTITIES; i++) {
        const uint32_t entity = i * 7 % ENTITIES;
        if (!ends[client].hidden[entity])
            list[count++] = (struct cw_priority){entity, 1 + (float)(entity % 3)};
    }
    assert_int_equal(cw_snapshot_server_set_interest(rig_server, client, list, count), CW_OK);
}

static void play(uint32_t ticks, bool busy, bool own_acks)
{
    for (uint32_t t = 0; t < ticks; t++) {
        if (busy)
            change_the_world();
        next_tick();
        for (uint32_t i = 0; i < CLIENTS; i++) {
            if (busy && i == 1)
                change_interest(i);
            if (rig_config.max_interest > 0)
                list_interest(i);
            const struct sent sent = transmit_up_to(i, ends[i].capacity);
            cw_simulator_receive(ends[i].down, sent.bytes, sent.size, now);
            deliver(i, own_acks);
        }
        now += TICK;
    }
}

static void expect_the_world(const struct end *end)
{
    for (uint32_t i = 0; i < ENTITIES; i++) {
        uint32_t type = 9;
        const void *const state = cw_snapshot_client_state(end->client, i, &type);
        assert_int_equal(state != NULL, world[i].present && !end->hidden[i]);
        if (!state)
            continue;
        assert_int_equal(type, world[i].type);
        const void *const truth = type == BODY ? (const void *)&world[i].body : &world[i].player;
        assert_true(cw_schema_equal(rig_schema, type, state, truth));
    }
}

static void run(const struct cw_simulator_path *path, size_t capacity, bool own_acks)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        open_ends(path, seed);
        ends[2].capacity = capacity;
        for (int round = 0; round < 3; round++) {
            play(300, true, own_acks);
            play(200, false, own_acks);
            for (uint32_t i = 0; i < CLIENTS; i++)
                expect_the_world(&ends[i]);
        }
        close_ends();
        cw_snapshot_server_reset(rig_server);
    }
}

TEST(test_a_perfect_path)
{
    const struct cw_simulator_path path = {.queue_bytes = 65536};
    run(&path, 1000, true);
    run(&path, 1000, false);
}

static const struct cw_simulator_path bad_path = {.latency_seconds = 0.05,
                                                  .jitter_seconds = 0.04,
                                                  .loss = 0.2,
                                                  .duplicate = 0.1,
                                                  .reorder = 0.1,
                                                  .reorder_delay_seconds = 0.05,
                                                  .queue_bytes = 65536};

TEST(test_a_path_that_loses_doubles_and_reorders)
{
    run(&bad_path, 1000, true);
    run(&bad_path, 1000, false);
}

TEST(test_a_budget_that_is_too_small)
{
    const struct cw_simulator_path path = {
        .latency_seconds = 0.02, .jitter_seconds = 0.02, .loss = 0.1, .queue_bytes = 65536};
    run(&path, 60, true);
    run(&path, 60, false);
}

TEST(test_interest_in_lists)
{
    rig_config.max_interest = ENTITIES;
    rig_restart();
    run(&bad_path, 1000, true);
    run(&bad_path, 1000, false);
    run(&bad_path, 100, true);
    run(&bad_path, 60, false);
}

TEST(test_outages_longer_than_the_window)
{
    const struct cw_simulator_path path = {.latency_seconds = 0.03,
                                           .jitter_seconds = 0.01,
                                           .burst_start = 0.01,
                                           .burst_end = 0.01,
                                           .burst_loss = 1,
                                           .queue_bytes = 65536};
    struct cw_snapshot_server_stats stats;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const struct cw_simulator_path good = {.latency_seconds = 0.03, .queue_bytes = 65536};
        open_ends(&path, seed);
        ends[2].capacity = 100;
        play(3000, true, true);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            cw_simulator_change(ends[i].down, &good);
            cw_simulator_change(ends[i].up, &good);
        }
        play(200, false, true);
        for (uint32_t i = 0; i < CLIENTS; i++)
            expect_the_world(&ends[i]);
        cw_snapshot_server_get_stats(rig_server, &stats);
        assert_true(stats.whole > 50);
        close_ends();
        cw_snapshot_server_reset(rig_server);
    }
}

BEFORE_EACH_TEST
{
    rig_open();
    rig_config.max_entities = ENTITIES;
    rig_config.max_clients = CLIENTS;
    rig_start();
}
