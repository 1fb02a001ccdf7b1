/* Tests of bunches and properties over bad networks, in virtual time. No bunch is lost, doubled,
   changed or reordered; a property is never older than before, and comes to its newest value. */
#include "bad_paths.h"
#include "bunch_rig.h"

#ifndef SEEDS
#define SEEDS 6
#endif
#define TICKS      3600 /* a minute */
#define CALM       900  /* the most, without loss and new bunches, until all has arrived */
#define CHANNELS   3
#define PROPERTIES 20
#define MAX_BUNCH  3000
#define MAX_SIZE   (CW_NOTIFY_HEADER_SIZE + 1024)

struct side {
    struct cw_bunch *bunch;
    uint32_t sent[CHANNELS];
    uint32_t arrived[CHANNELS]; /* the count that the other side took */
    uint32_t set[PROPERTIES];   /* the newest values */
    uint32_t seen[PROPERTIES];  /* the values that the other side has */
    uint32_t busy_until;        /* the tick up to which the application takes nothing */
};

struct world {
    struct bad_paths paths;
    uint32_t tick;
    struct side sides[2];
};

static size_t content(uint32_t number, uint32_t channel, uint8_t *data)
{
    struct cw_prng bits = {(uint64_t)number * CHANNELS + channel};
    const uint32_t limit = cw_prng_chance(&bits, 0.1) ? MAX_BUNCH - 3 : 60;
    const size_t size = 4 + cw_prng_below(&bits, limit);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)cw_prng_bits(&bits);
    memcpy(data, &number, 4);
    return size;
}

static void take(struct world *world, int at)
{
    static uint8_t expected[MAX_BUNCH];
    struct side *other = &world->sides[!at];
    struct cw_bunch_event event;
    if (world->tick < world->sides[at].busy_until)
        return;
    while (cw_bunch_next(world->sides[at].bunch, &event)) {
        if (event.type == CW_BUNCH_EVENT_BUNCH) {
            const uint32_t number = other->arrived[event.number]++;
            assert_true(number < other->sent[event.number]);
            assert_int_equal(event.size, content(number, event.number, expected));
            assert_memory_equal(event.data, expected, event.size);
        } else {
            uint32_t value;
            assert_int_equal(event.size, sizeof value);
            memcpy(&value, event.data, sizeof value);
            assert_true(value >= other->seen[event.number] && value <= other->set[event.number]);
            other->seen[event.number] = value;
        }
    }
}

static void receive(struct world *world, int at)
{
    uint8_t *exact;
    size_t size;
    while ((exact = bad_paths_next(&world->paths, !at, &size)) != NULL) {
        assert_int_not_equal(cw_bunch_receive(world->sides[at].bunch, exact, size),
                             CW_PROTOCOL_ERROR_MALFORMED);
        free(exact);
    }
    cw_bunch_update(world->sides[at].bunch, world->paths.now);
    take(world, at);
}

static void send(struct world *world, int at)
{
    static uint8_t data[MAX_BUNCH];
    struct side *side = &world->sides[at];
    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        const size_t size = content(side->sent[channel], channel, data);
        if (!cw_prng_chance(&world->paths.random, 0.3))
            continue;
        const enum cw_protocol_error error = cw_bunch_send(side->bunch, channel, data, size);
        assert_true(error == CW_PROTOCOL_OK || error == CW_PROTOCOL_ERROR_QUEUE_FULL);
        side->sent[channel] += error == CW_PROTOCOL_OK;
    }
    for (uint32_t i = 0; i < PROPERTIES; i++) {
        if (!cw_prng_chance(&world->paths.random, 1.0 / (1 + i)))
            continue;
        side->set[i]++;
        assert_ok(cw_bunch_set(side->bunch, i, (uint8_t *)&side->set[i], 4));
    }
}

static void transmit(struct world *world, int at)
{
    uint8_t data[MAX_SIZE];
    struct side *side = &world->sides[at];
    for (size_t size; (size = cw_bunch_transmit(side->bunch, data, sizeof data)) > 0;)
        assert_ok(cw_simulator_receive(world->paths.from[at], data, size, world->paths.now));
}

static void start(struct world *world, uint64_t seed)
{
    *world = (struct world){.paths = bad_paths(seed)};
    struct cw_bunch_config config = cw_bunch_config_default();
    config.channels = CHANNELS;
    config.queue_parts = 32;
    config.max_bunch_size = MAX_BUNCH;
    config.properties = PROPERTIES;
    config.bytes_per_second = 50000;
    const struct bunch_pair pair = bunch_pair_with(&config);
    world->sides[0].bunch = pair.a;
    world->sides[1].bunch = pair.b;
}

static void tick(void *context)
{
    struct world *world = context;
    const bool sends = world->tick++ < TICKS;
    world->paths.now += 1.0 / 60;
    for (int i = 0; i < 2; i++) {
        struct side *side = &world->sides[i];
        receive(world, i);
        if (sends)
            send(world, i);
        if (sends && cw_prng_chance(&world->paths.random, 0.002))
            side->busy_until = world->tick + cw_prng_below(&world->paths.random, 120);
        transmit(world, i);
    }
}

/* Checks that on a calm network everything arrives. */
static void finish(struct world *world)
{
    bad_paths_calm(&world->paths);
    for (int i = 0; i < CALM; i++)
        tick(world);
    for (int i = 0; i < 2; i++) {
        const struct side *side = &world->sides[i];
        assert_memory_equal(side->arrived, side->sent, sizeof side->sent);
        assert_memory_equal(side->seen, side->set, sizeof side->set);
        for (int channel = 0; channel < CHANNELS; channel++)
            assert_true(side->sent[channel] > 30);
    }
}

TEST(test_loss)
{
    static struct world world;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        for (int loss = 0; loss <= 90; loss += 15) {
            start(&world, seed);
            bad_paths_lose(&world.paths, loss / 100.0);
            for (int i = 0; i < TICKS; i++)
                tick(&world);
            finish(&world);
            fixture_release(NULL);
        }
    }
}

/* Nothing arrives for seconds, in one direction or in both; then naks can be wrong. */
TEST(test_outages)
{
    static struct world world;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        start(&world, seed);
        bad_paths_fail(&world.paths, TICKS, tick, &world);
        finish(&world);
        fixture_release(NULL);
    }
}
