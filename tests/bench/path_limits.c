/* Measures congestion control where losses or slow links tempt it to send too much, in virtual time
   at 60 Hz with random tick phases and clocks that differ by up to 0.07 %. The round trip takes
   100 ms unless a scene says otherwise. It prints the worst figure of all seeds and rates.
     bench_path_limits [SCENE [SEED]]    prints all scenes, or only one; SEED is the first of 20 */
#include "path_traffic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RTT     0.1    /* seconds */
#define DRIFT   0.0007 /* the part by which the clocks of the ends differ */
#define WARM    5      /* seconds before measuring */
#define SECONDS 40
#ifndef SEEDS
#define SEEDS 20
#endif

static uint64_t first_seed = 1;

static void print(const char *figure, double value, int digits)
{
    printf("%s %.*f %s\n", figure, digits, value, strrchr(figure, '_') + 1);
}

struct path {
    double kbit, queue, rtt, loss;
    enum path_shaper_kind shaper;
    uint32_t block; /* bytes; 0: as much as the path carries in a quarter of the time */
    bool messages;  /* a small message in each tick, on a channel of its own */
};

struct outcome {
    double drops; /* percent */
    double share; /* content of blocks, in percent of the rate */
    double p99;   /* the messages' delay in milliseconds */
};

static struct path_world *create_world(const struct path *path, uint64_t seed)
{
    const bool shaped = path->shaper != PATH_SHAPER_NONE;
    struct cw_simulator_path there =
        shaped ? path_of_rtt(path->rtt) : path_of_kbit(path->rtt, path->kbit, path->queue);
    struct cw_simulator_path back = path_of_rtt(path->rtt);
    there.loss = back.loss = path->loss;
    struct path_world *world = path_world_create(seed, &there, &back);
    if (shaped)
        path_world_shape(world, 0, path->shaper, path->kbit, path->queue);
    return world;
}

static struct outcome run(const struct path *path, uint64_t seed)
{
    struct path_world *world = create_world(path, seed);
    struct traffic traffic[2] = {{.blocks = UINT32_MAX, .blocks_waiting = 3}};
    traffic[0].block_size = path->block ? path->block : (uint32_t)(path->kbit * 125 * SECONDS / 8);
    traffic[0].message_channel = 1;
    traffic[0].messages_per_tick = path->messages;
    const struct cw_connection_config config = traffic_blocks(traffic[0].block_size);
    struct path_flow *flow = path_world_add(world, &config);
    traffic_set(flow, &traffic[0], &traffic[1]);
    for (int i = 0; i < 2; i++) {
        flow->ends[i].interval *= 1 + (2 * cw_prng_share(&world->random) - 1) * DRIFT;
        flow->ends[i].phase = flow->ends[i].interval * cw_prng_share(&world->random);
    }
    path_world_run(world, WARM);
    path_world_measure(world);
    traffic_measure(&traffic[1]);
    while (traffic[1].blocks_arrived == 0 && world->now < WARM + SECONDS)
        path_world_run(world, world->now + 0.1);
    const uint32_t before = traffic[1].blocks_arrived;
    const double since = traffic[1].block_arrived;
    path_world_run(world, WARM + SECONDS);
    const double seconds = traffic[1].block_arrived - since;
    const double bytes = (double)traffic[0].block_size * (traffic[1].blocks_arrived - before);
    struct outcome outcome = {
        .drops = path_drops_percent(&world->links[0]),
        .share = seconds > 0 ? bytes / seconds / (path->kbit * 125) * 100 : 0,
    };
    if (path->messages)
        outcome.p99 = traffic_percentile_ms(&traffic[1], &traffic[0], 0.99);
    path_world_destroy(world);
    traffic_free(&traffic[0]);
    traffic_free(&traffic[1]);
    return outcome;
}

/* Returns the worst of all seeds. */
static struct outcome worst(const struct path *path)
{
    struct outcome worst = {.share = INFINITY};
    for (uint64_t seed = first_seed; seed < first_seed + SEEDS; seed++) {
        const struct outcome one = run(path, seed);
        worst.drops = fmax(worst.drops, one.drops);
        worst.share = fmin(worst.share, one.share);
        worst.p99 = fmax(worst.p99, one.p99);
    }
    return worst;
}

static void policer_3(void)
{
    const struct outcome outcome = worst(
        &(struct path){.kbit = 3000, .rtt = RTT, .queue = 0.05, .shaper = PATH_SHAPER_POLICER});
    print("policer_3_drops_percent", outcome.drops, 2);
    print("policer_3_goodput_percent", outcome.share, 1);
}

static void queue_20(void)
{
    const double kbits[] = {1000, 3000, 8000};
    struct outcome all = {.share = INFINITY};
    for (int i = 0; i < 3; i++) {
        const struct outcome outcome =
            worst(&(struct path){.kbit = kbits[i], .rtt = RTT, .queue = 0.02});
        all.drops = fmax(all.drops, outcome.drops);
        all.share = fmin(all.share, outcome.share);
    }
    print("queue_20_drops_percent", all.drops, 2);
    print("queue_20_goodput_percent", all.share, 1);
    all = worst(&(struct path){.kbit = 500, .rtt = RTT, .queue = 0.02});
    print("queue_20_kbit_500_drops_percent", all.drops, 2);
    print("queue_20_kbit_500_goodput_percent", all.share, 1);
}

static void loss_20(void)
{
    const struct outcome outcome =
        worst(&(struct path){.kbit = 3000, .rtt = RTT, .queue = 0.2, .loss = 0.2});
    print("loss_20_mbit_3_kbit", outcome.share * 30, 0);
}

static void slow(void)
{
    print("kbit_256_message_p99_ms",
          worst(&(struct path){.kbit = 256, .rtt = RTT, .queue = 1, .messages = true}).p99, 1);
    print("kbit_128_message_p99_ms",
          worst(&(struct path){.kbit = 128, .rtt = RTT, .queue = 1, .messages = true}).p99, 1);
}

static void codel_1(void)
{
    const struct outcome outcome =
        worst(&(struct path){.kbit = 1000, .rtt = RTT, .queue = 1, .shaper = PATH_SHAPER_CODEL});
    print("codel_1_percent", outcome.share, 1);
    print("codel_1_drops_percent", outcome.drops, 2);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenes[] = {
        {"policer_3", policer_3}, {"queue_20", queue_20}, {"loss_20", loss_20},
        {"slow", slow},           {"codel_1", codel_1},
    };
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (argc < 2 || strcmp(argv[1], scenes[i].name) == 0)
            scenes[i].run();
    }
    return 0;
}
