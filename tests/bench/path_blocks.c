/* Measures blocks over paths with a bandwidth and a queue, with other flows and with losses, in
   virtual time at 60 Hz. The round trip takes 100 ms and the queue holds 200 ms unless a scene says
   otherwise.
     bench_path_blocks [SCENE [SEED]]    prints all scenes, or only one */
#include "path_traffic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RTT     0.1 /* seconds */
#define QUEUE   0.2 /* seconds that the full queue takes */
#define FOREVER 600 /* seconds after which a block counts as one that has not arrived */
#define SEEDS   5

static uint64_t only_seed;

static void print(const char *figure, double value, int digits)
{
    printf("%s %.*f %s\n", figure, digits, value, strrchr(figure, '_') + 1);
}

/* One flow that sends from its end 0. */
struct run {
    struct path_world *world;
    struct path_flow *flow;
    struct traffic first, second;
};

static struct run *begin(uint64_t seed, const struct cw_simulator_path *there,
                         const struct cw_simulator_path *back, uint32_t block_size, uint32_t blocks)
{
    struct run *run = calloc(1, sizeof *run);
    const struct cw_connection_config config = traffic_blocks(block_size);
    run->world = path_world_create(only_seed ? only_seed : seed, there, back);
    run->flow = path_world_add(run->world, &config);
    run->first.block_size = block_size;
    run->first.blocks = blocks;
    run->first.blocks_waiting = 2;
    traffic_set(run->flow, &run->first, &run->second);
    return run;
}

static void end(struct run *run)
{
    path_world_destroy(run->world);
    traffic_free(&run->first);
    traffic_free(&run->second);
    free(run);
}

/* Runs until the blocks have arrived, and returns the time of the last one's arrival. */
static double until_arrived(struct run *run, uint32_t blocks)
{
    while (run->second.blocks_arrived < blocks && run->world->now < FOREVER)
        path_world_run(run->world, run->world->now + 0.1);
    return run->second.blocks_arrived < blocks ? NAN : run->second.block_arrived;
}

/* Sends one block that takes the given seconds at the full rate. */
static struct run *bulk(uint64_t seed, double kbit, double queue, double seconds, double *goodput)
{
    const struct cw_simulator_path there = path_of_kbit(RTT, kbit, queue), back = path_of_rtt(RTT);
    const uint32_t size = (uint32_t)(kbit * 125 * seconds);
    struct run *run = begin(seed, &there, &back, size, 1);
    *goodput = 8 * size / until_arrived(run, 1) / 1000;
    return run;
}

static void mbit_1(void)
{
    double goodput, least = INFINITY, queue = 0, drops = 0, most = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct run *run = bulk(seed, 1000, QUEUE, 60, &goodput);
        least = fmin(least, goodput);
        queue = fmax(queue, path_queue_ms(&run->world->links[0]));
        most = fmax(most, path_most_queue_ms(&run->world->links[0]));
        drops = fmax(drops, path_drops_percent(&run->world->links[0]));
        end(run);
    }
    print("mbit_1_goodput_kbit", least, 0);
    print("mbit_1_queue_ms", queue, 1);
    print("mbit_1_most_queue_ms", most, 1);
    print("mbit_1_drops_percent", drops, 2);
}

static void mbit_2(void)
{
    double goodput;
    end(bulk(1, 2000, QUEUE, 40, &goodput));
    print("mbit_2_goodput_kbit", goodput, 0);
}

static void mbit_10(void)
{
    double goodput;
    end(bulk(1, 10000, QUEUE, 20, &goodput));
    print("mbit_10_goodput_kbit", goodput, 0);
}

static void mbit_10_blocks(void)
{
    const uint32_t size = 250000, blocks = 80;
    const struct cw_simulator_path there = path_of_kbit(RTT, 10000, QUEUE), back = path_of_rtt(RTT);
    struct run *run = begin(1, &there, &back, size, blocks);
    const double time = until_arrived(run, blocks);
    print("mbit_10_blocks_goodput_kbit", 8.0 * size * blocks / time / 1000, 0);
    end(run);
}

static void buffer_1500(void)
{
    const struct cw_simulator_path there = path_of_kbit(RTT, 1000, 1.5), back = path_of_rtt(RTT);
    struct run *run = begin(1, &there, &back, 1000000, 1);
    const double time = until_arrived(run, 1);
    print("buffer_1500_block_1mb_s", isnan(time) ? FOREVER : time, 2);
    end(run);
}

static void short_queue(void)
{
    double goodput;
    struct run *run = bulk(1, 1000, 0.02, 30, &goodput);
    print("short_queue_drops_percent", path_drops_percent(&run->world->links[0]), 1);
    print("short_queue_goodput_kbit", goodput, 0);
    end(run);
}

/* Runs two flows whose ticks come in an order that changes all the time. */
static void two_flows_once(uint64_t seed, double *jain, double *drops)
{
    const struct cw_simulator_path there = path_of_kbit(RTT, 2000, QUEUE), back = path_of_rtt(RTT);
    struct run *run = begin(seed, &there, &back, 30000000, 1);
    const struct cw_connection_config config = traffic_blocks(30000000);
    struct traffic other = run->first, far = {0};
    struct path_flow *second = path_world_add(run->world, &config);
    traffic_set(second, &other, &far);
    for (int i = 0; i < 2; i++)
        run->flow->ends[i].wobble = second->ends[i].wobble = 0.5;
    path_world_run(run->world, 10);
    path_world_measure(run->world);
    path_world_run(run->world, 70);
    const double a = (double)run->flow->ends[1].bytes_arrived;
    const double b = (double)second->ends[1].bytes_arrived;
    *jain = fmin(*jain, (a + b) * (a + b) / (2 * (a * a + b * b)));
    *drops = fmax(*drops, path_drops_percent(&run->world->links[0]));
    end(run);
}

static void two_flows(void)
{
    double jain = 1, drops = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        two_flows_once(seed, &jain, &drops);
    print("two_flows_jain", jain, 3);
    print("two_flows_drops_percent", drops, 2);
}

static double share_beside_reno(uint64_t seed, double kbit)
{
    const struct cw_simulator_path there = path_of_kbit(RTT, kbit, QUEUE), back = path_of_rtt(RTT);
    struct run *run = begin(seed, &there, &back, 60000000, 1);
    const struct path_flow *reno = path_world_add_peer(run->world, PATH_PEER_RENO, 0);
    for (int i = 0; i < 2; i++)
        run->flow->ends[i].wobble = 0.5;
    path_world_run(run->world, 20);
    path_world_measure(run->world);
    path_world_run(run->world, 140);
    const double ours = (double)run->flow->ends[1].bytes_arrived;
    const double share = ours / (ours + (double)reno->ends[1].bytes_arrived);
    end(run);
    return share;
}

static void beside_reno(void)
{
    double least = 1, most = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const double share = share_beside_reno(seed, 2000);
        least = fmin(least, share);
        most = fmax(most, share);
    }
    /* the share that is further from the middle of its bars */
    print("beside_reno_share", most - 0.4 > 0.4 - least ? most : least, 3);
    print("beside_reno_least_share", least, 3);
    print("beside_reno_most_share", most, 3);
}

static double block_with_loss(uint32_t size)
{
    struct cw_simulator_path path = path_of_rtt(RTT);
    double longest = 0;
    path.loss = 0.2;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct run *run = begin(seed, &path, &path, size, 1);
        longest = fmax(longest, until_arrived(run, 1));
        end(run);
    }
    return longest;
}

static void blocks_with_loss(void)
{
    print("block_1mb_loss_20_s", block_with_loss(1000000), 2);
    print("block_200kb_loss_20_s", block_with_loss(200000), 2);
}

static void beside_block(void)
{
    const struct cw_simulator_path there = path_of_kbit(RTT, 1000, QUEUE), back = path_of_rtt(RTT);
    struct run *run = begin(1, &there, &back, 30000000, 1);
    run->first.message_channel = 1;
    run->first.messages_per_tick = 1;
    path_world_run(run->world, 5);
    traffic_measure(&run->second);
    path_world_run(run->world, 65);
    print("beside_block_mean_ms", traffic_mean_ms(&run->second, &run->first), 1);
    print("beside_block_p99_ms", traffic_percentile_ms(&run->second, &run->first, 0.99), 1);
    end(run);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenes[] = {
        {"mbit_1", mbit_1},           {"mbit_2", mbit_2},
        {"mbit_10", mbit_10},         {"mbit_10_blocks", mbit_10_blocks},
        {"buffer_1500", buffer_1500}, {"short_queue", short_queue},
        {"two_flows", two_flows},     {"beside_reno", beside_reno},
        {"loss", blocks_with_loss},   {"beside_block", beside_block},
    };
    if (argc > 2)
        only_seed = strtoull(argv[2], NULL, 10);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (argc < 2 || strcmp(argv[1], scenes[i].name) == 0)
            scenes[i].run();
    }
    return 0;
}
