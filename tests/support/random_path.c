#include "random_path.h"

#include "message/connection_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PACKET       1064.0        /* bytes of a full datagram */
#define FIRST_WINDOW (16 * PACKET) /* bytes that go before anything is known */
#define CONTENT      1024.0        /* bytes of a block in one */
#define DRIFT        0.0007        /* the part by which the clocks of the ends differ */
#define MEASURED     2.5 /* a rate may seem so much higher when ticks last longer than round trips */
#define LOOK         0.01 /* seconds from one look at the queue to the next */
#define LOOKS        16384
#define APP_BLOCK                                                                                  \
    0.5                /* seconds from one block to the next, of an application that sends little  \
                        */
#define MOST_TICK 64   /* packets that a connection sends in a tick at most */
#define WINDOW    8192 /* packets that it remembers */

/* Draws a number between least and most, so that each factor is as likely as any other. */
static double of_all_sizes(struct cw_prng *random, double least, double most)
{
    return least * pow(most / least, cw_prng_share(random));
}

const char *random_class_name(enum random_class class)
{
    static const char *const names[] = {"plain", "short",  "policer", "codel",
                                        "lossy", "jitter", "many",    "app"};
    return names[class];
}

struct random_path random_path_draw(uint64_t seed, uint32_t number)
{
    struct cw_prng random = {.state = seed * 0x100000001 + number};
    struct random_path path = {
        .class = number % RANDOM_CLASSES,
        .kbit = of_all_sizes(&random, 64, 100000),
        .rtt = of_all_sizes(&random, 0.0001, 1),
        .queue = of_all_sizes(&random, 0.05, 2),
        .ticks = {1 / of_all_sizes(&random, 5, 144), 1 / of_all_sizes(&random, 5, 144)},
        .flows = 1,
    };
    const double size = cw_prng_share(&random);
    if (path.class == RANDOM_SHORT || path.class == RANDOM_POLICER)
        path.queue = 0.005 * pow(10, size);
    else if (path.class == RANDOM_LOSSY)
        path.loss = 0.001 * pow(300, size);
    else if (path.class == RANDOM_JITTER)
        path.jitter = 0.06 * size;
    else if (path.class == RANDOM_MANY)
        path.flows = (uint32_t)fmax(2, fmin(2 + 15 * size, path.kbit / 64));
    else if (path.class == RANDOM_APP)
        path.app = 0.1 + 0.6 * size;
    const double trip = path.rtt + path.ticks[0] + path.ticks[1];
    path.warm = 10 + 10 * trip;
    path.seconds = 20 + 40 * trip;
    return path;
}

void random_path_print(const struct random_path *path)
{
    printf("%s: %.0f kbit/s, RTT %.1f ms, queue %.0f ms, loss %.1f %%, jitter %.0f ms, ticks %.1f "
           "and %.1f Hz, %u flows, %.0f %% used",
           random_class_name(path->class), path->kbit, 1000 * path->rtt, 1000 * path->queue,
           100 * path->loss, 1000 * path->jitter, 1 / path->ticks[0], 1 / path->ticks[1],
           path->flows, 100 * path->app);
}

/* A flow and its traffic. */
struct flow {
    struct path_flow *path;
    struct traffic traffic[2];
    uint32_t block;         /* bytes */
    uint32_t first, blocks; /* the blocks that had arrived when measuring began, and have now */
    double since, until;    /* the times when the first and the latest of them arrived */
};

struct run {
    const struct random_path *path;
    struct path_world *world;
    struct flow *flows;
    double backlogs[LOOKS];
    uint32_t looks;
    struct random_result result;
};

/* Returns the bytes per second of content that the flows could have got. In a tick no more passes
   than fits into the bottleneck. */
static double possible(const struct random_path *path)
{
    const double bytes = path->kbit * 125;
    double most = bytes;
    const double burst = fmax(path->queue * bytes, 2 * PACKET) + PACKET;
    const double tick = path->ticks[0];
    if (burst < bytes * tick)
        most = fmin(most, path->flows * burst / tick);
    most = fmin(most, path->flows * MOST_TICK * PACKET / tick);
    const double trip = path->rtt + path->ticks[0] + path->ticks[1];
    most = fmin(most, path->flows * WINDOW * 0.75 * PACKET / trip);
    most *= CONTENT / PACKET * (1 - path->loss);
    return path->app > 0 ? most * path->app : most;
}

static void add_flow(struct run *run, struct flow *flow)
{
    const struct random_path *path = run->path;
    struct path_world *world = run->world;
    const double share = possible(path) / path->flows;
    const double trip = path->rtt + path->ticks[0] + path->ticks[1] + path->jitter;
    flow->block = (uint32_t)fmax(2 * CONTENT, share * fmax(0.5, 10 * trip));
    if (path->app > 0)
        flow->block = (uint32_t)fmax(CONTENT / 2, share * APP_BLOCK);
    struct cw_connection_config config = traffic_blocks(flow->block);
    config.max_packets_per_update = MOST_TICK;
    config.endpoint.sent_window = WINDOW;
    config.endpoint.received_window = WINDOW;
    flow->path = path_world_add(world, &config);
    flow->traffic[0].block_size = flow->block;
    flow->traffic[0].blocks = path->app > 0 ? 0 : UINT32_MAX;
    flow->traffic[0].blocks_waiting = path->app > 0 ? 1 : 2;
    traffic_set(flow->path, &flow->traffic[0], &flow->traffic[1]);
    for (int i = 0; i < 2; i++) {
        const double drift = (2 * cw_prng_share(&world->random) - 1) * DRIFT;
        flow->path->ends[i].interval = path->ticks[i] * (1 + drift);
        flow->path->ends[i].phase = path->ticks[i] * cw_prng_share(&world->random);
    }
}

static struct path_world *create_world(const struct random_path *path, uint64_t seed)
{
    const bool shaped = path->class == RANDOM_POLICER || path->class == RANDOM_CODEL;
    struct cw_simulator_path there =
        shaped ? path_of_rtt(path->rtt) : path_of_kbit(path->rtt, path->kbit, path->queue);
    struct cw_simulator_path back = path_of_rtt(path->rtt);
    there.queue_bytes = fmax(there.queue_bytes, 2 * PACKET);
    there.loss = path->loss;
    there.jitter_seconds = path->jitter;
    back.loss = path->loss;
    back.jitter_seconds = path->jitter;
    struct path_world *world = path_world_create(seed, &there, &back);
    if (shaped)
        path_world_shape(world, 0,
                         path->class == RANDOM_CODEL ? PATH_SHAPER_CODEL : PATH_SHAPER_POLICER,
                         path->kbit, path->queue);
    return world;
}

/* Notes what the flows believe now. */
static void look(struct run *run, bool measures)
{
    const struct random_path *path = run->path;
    const struct path_link *link = &run->world->links[0];
    const double rate = path->kbit * 125;
    if (measures && run->looks < LOOKS)
        run->backlogs[run->looks++] = link->backlog / rate;
    for (uint32_t i = 0; i < path->flows; i++) {
        const struct cw_connection *c = run->flows[i].path->ends[0].connection;
        struct cw_connection_stats stats;
        cw_connection_get_stats(c, &stats);
        const double trip =
            path->rtt + path->jitter + fmax(stats.endpoint.rtt, path->ticks[0] + path->ticks[1]);
        const double most = MEASURED * rate * (trip + fmax(path->ticks[0], path->ticks[1]));
        const double right = fmax(2 * most / (1 - path->loss), FIRST_WINDOW);
        if (measures)
            run->result.window = fmax(run->result.window, stats.congestion_window_bytes / right);
        if (!isfinite(stats.congestion_window_bytes))
            run->result.window = INFINITY;
        run->result.competed |= cw_congestion_competes(&c->congestion);
        run->result.allowed =
            fmax(run->result.allowed, cw_congestion_target(&c->congestion) + path->ticks[0]);
    }
}

static void note_arrivals(struct run *run, bool measures)
{
    for (uint32_t i = 0; i < run->path->flows; i++) {
        struct flow *flow = &run->flows[i];
        const uint32_t arrived = flow->traffic[1].blocks_arrived;
        if (!measures || flow->since <= 0) {
            flow->first = arrived;
            if (measures && arrived > flow->blocks)
                flow->since = flow->until = flow->traffic[1].block_arrived;
            else if (measures)
                continue;
        }
        flow->blocks = arrived;
        flow->until = flow->traffic[1].block_arrived;
    }
}

static void run_until(struct run *run, double until, bool measures)
{
    const struct random_path *path = run->path;
    while (run->world->now < until) {
        const double block = floor(run->world->now / APP_BLOCK);
        path_world_run(run->world, run->world->now + LOOK);
        look(run, measures);
        note_arrivals(run, measures);
        for (uint32_t i = 0; path->app > 0 && i < path->flows; i++)
            run->flows[i].traffic[0].blocks += floor(run->world->now / APP_BLOCK) > block;
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct random_result random_path_run(const struct random_path *path, uint64_t seed)
{
    struct run *run = calloc(1, sizeof *run);
    run->path = path;
    run->world = create_world(path, seed);
    run->flows = calloc(path->flows, sizeof *run->flows);
    for (uint32_t i = 0; i < path->flows; i++)
        add_flow(run, &run->flows[i]);
    run_until(run, path->warm, false);
    path_world_measure(run->world);
    run_until(run, path->warm + path->seconds, true);
    run->result.drops = path_drops_percent(&run->world->links[0]);
    qsort(run->backlogs, run->looks, sizeof *run->backlogs, compare);
    run->result.queue = run->backlogs[run->looks * 95 / 100];
    double rate = 0;
    for (uint32_t i = 0; i < path->flows; i++) {
        struct flow *flow = &run->flows[i];
        /* with too few blocks for that, the whole time counts */
        const bool enough = flow->blocks > flow->first + 2;
        const double seconds = enough ? flow->until - flow->since : path->seconds;
        rate += flow->block * (double)(flow->blocks - flow->first) / seconds;
        traffic_free(&flow->traffic[0]);
        traffic_free(&flow->traffic[1]);
    }
    run->result.goodput = rate / possible(path);
    const struct random_result result = run->result;
    path_world_destroy(run->world);
    free(run->flows);
    free(run);
    return result;
}
