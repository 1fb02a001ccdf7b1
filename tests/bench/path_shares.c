/* Measures what a flow has of a link beside a peer that sends without end, in virtual time at 60
   Hz: links of 3 and 10 Mbit/s, round trips of 40 and 100 ms, queues of 50, 200 and 800 ms. Tick
   phases and the order in which the two begin are drawn, and the clocks of the ends differ by up to
   0.07 %. It prints the least, the most and the mean share of all links, round trips and seeds.
     bench_path_shares [PEER [SEED]]    prints all peers, or only one; SEED is the first of 5
     bench_path_shares PEER SEED each   prints each run */
#include "path_traffic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRIFT   0.0007 /* the part by which the clocks of the ends differ */
#define START   5      /* seconds in which both begin */
#define WARM    20     /* seconds before measuring */
#define SECONDS 100
#define SEEDS   5

static uint64_t first_seed = 1;
static bool prints_each;

struct path {
    double kbit, rtt, queue;
};

struct shares {
    double least, most, sum;
    int count;
};

/* Makes a flow that always has blocks to send. */
static struct path_flow *add_flow(struct path_world *world, struct traffic traffic[2], double kbit)
{
    const uint32_t block = (uint32_t)(kbit * 125 * SECONDS / 8);
    const struct cw_connection_config config = traffic_blocks(block);
    struct path_flow *flow = path_world_add(world, &config);
    traffic[0] = (struct traffic){
        .block_size = block, .blocks = UINT32_MAX, .blocks_waiting = 3, .message_channel = 1};
    traffic[1] = (struct traffic){0};
    traffic_set(flow, &traffic[0], &traffic[1]);
    const double start = START * cw_prng_share(&world->random);
    for (int i = 0; i < 2; i++) {
        flow->ends[i].interval *= 1 + (2 * cw_prng_share(&world->random) - 1) * DRIFT;
        flow->ends[i].phase = start + flow->ends[i].interval * cw_prng_share(&world->random);
    }
    return flow;
}

/* Returns the share of a flow of ours, in percent of what both had. */
static double share_beside(enum path_peer_kind kind, const struct path *path, uint64_t seed)
{
    const struct cw_simulator_path there = path_of_kbit(path->rtt, path->kbit, path->queue),
                                   back = path_of_rtt(path->rtt);
    struct path_world *world = path_world_create(seed, &there, &back);
    struct traffic traffic[2];
    const struct path_flow *flow = add_flow(world, traffic, path->kbit);
    const double start = START * cw_prng_share(&world->random);
    const struct path_flow *peer = path_world_add_peer(world, kind, start);
    path_world_run(world, WARM);
    path_world_measure(world);
    path_world_run(world, WARM + SECONDS);
    const double ours = (double)flow->ends[1].bytes_arrived;
    const double theirs = (double)peer->ends[1].bytes_arrived;
    const double share = 100 * ours / (ours + theirs);
    if (prints_each)
        fprintf(stderr,
                "%5.0f kbit/s RTT %3.0f queue %3.0f seed %2d: %5.1f %%, both %3.0f %% of the link, "
                "queue %3.0f ms, drops %.2f %%\n",
                path->kbit, 1000 * path->rtt, 1000 * path->queue, (int)seed, share,
                100 * (ours + theirs) / (path->kbit * 125 * SECONDS),
                path_queue_ms(&world->links[0]), path_drops_percent(&world->links[0]));
    path_world_destroy(world);
    traffic_free(&traffic[0]);
    traffic_free(&traffic[1]);
    return share;
}

static struct shares shares_beside(enum path_peer_kind kind, double queue)
{
    static const double kbits[] = {3000, 10000}, rtts[] = {0.04, 0.1};
    struct shares shares = {.least = INFINITY};
    for (int i = 0; i < 4; i++) {
        const struct path path = {.kbit = kbits[i / 2], .rtt = rtts[i % 2], .queue = queue};
        for (uint64_t seed = first_seed; seed < first_seed + SEEDS; seed++) {
            const double share = share_beside(kind, &path, seed);
            shares.least = fmin(shares.least, share);
            shares.most = fmax(shares.most, share);
            shares.sum += share;
            shares.count++;
        }
    }
    return shares;
}

static void print(const char *peer, double queue, const char *figure, double value)
{
    printf("share_%s_%.0f_%s_percent %.1f percent\n", peer, 1000 * queue, figure, value);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"reno", "cubic", "bbr", "ledbat"};
    static const double queues[] = {0.05, 0.2, 0.8};
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    prints_each = argc > 3;
    for (int kind = 0; kind < PATH_PEER_KINDS; kind++) {
        if (argc > 1 && strcmp(argv[1], names[kind]) != 0)
            continue;
        for (int i = 0; i < 3; i++) {
            const struct shares shares = shares_beside((enum path_peer_kind)kind, queues[i]);
            print(names[kind], queues[i], "least", shares.least);
            print(names[kind], queues[i], "most", shares.most);
            print(names[kind], queues[i], "mean", shares.sum / shares.count);
        }
    }
    return 0;
}
