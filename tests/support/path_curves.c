/* Writes what congestion control does over time, for the guide of it, as rows of CSV: each has a
   chart, a panel of it, a line, the time in seconds and the value. The round trip takes 100 ms, all
   in virtual time. */
#include "path_traffic.h"

#include <stdio.h>
#include <string.h>

#define RTT  0.1
#define STEP 0.01 /* seconds between two looks at the flows */
#define LATE 0.5  /* part of a tick: where flows share a path, the order of their ticks varies */

struct chart {
    const char *name;
    const char *goodput; /* the panel of goodputs */
    const char *other;   /* the panel of its queue or its drops, or NULL */
    const char *line;    /* the name of the line in that panel */
    double interval, seconds;
};

/* A pair of connections. */
struct flow {
    const char *name;
    struct path_flow *path;
    struct traffic traffic[2];
    uint32_t arrived; /* the blocks that had arrived when its goodput was printed last */
    double since;     /* the time of that */
};

/* Makes a flow send blocks, one after the other, from that time on. */
static void add(struct path_world *world, struct flow *flow, const char *name, uint32_t block,
                enum cw_congestion_mode mode, double start)
{
    struct cw_connection_config config = traffic_blocks(block);
    config.congestion.mode = mode;
    *flow = (struct flow){.name = name, .path = path_world_add(world, &config), .since = start};
    flow->traffic[0].block_size = block;
    flow->traffic[0].blocks = UINT32_MAX;
    flow->traffic[0].blocks_waiting = 2;
    traffic_set(flow->path, &flow->traffic[0], &flow->traffic[1]);
    for (int i = 0; i < 2; i++) {
        flow->path->ends[i].phase += start;
        flow->path->ends[i].wobble = LATE;
    }
}

static void print(const char *chart, const char *panel, const char *line, double time, double value)
{
    printf("%s,%s,%s,%.2f,%.0f\n", chart, panel, line, time, value);
}

/* Prints the goodput from one block that has arrived to the next. */
static void print_goodput(const struct chart *chart, struct flow *flow)
{
    const uint32_t arrived = flow->traffic[1].blocks_arrived;
    if (arrived == flow->arrived)
        return;
    const double time = flow->traffic[1].block_arrived, passed = time - flow->since;
    const double bits = 8.0 * flow->traffic[0].block_size * (arrived - flow->arrived);
    print(chart->name, chart->goodput, flow->name, flow->since + passed / 2, bits / passed / 1000);
    flow->since = time;
    flow->arrived = arrived;
}

/* Prints the queue's average or the drops over each interval, and the goodput of each flow and
   peer. */
static void run(const struct chart *chart, struct path_world *world, struct flow *flows,
                uint32_t count)
{
    for (int i = 1; i * chart->interval <= chart->seconds; i++) {
        const double middle = (i - 0.5) * chart->interval;
        path_world_measure(world);
        while (world->now < i * chart->interval) {
            path_world_run(world, world->now + STEP);
            for (uint32_t j = 0; j < count; j++)
                print_goodput(chart, &flows[j]);
        }
        if (chart->other) {
            const bool drops = strcmp(chart->other, "drops") == 0;
            print(chart->name, chart->other, chart->line, middle,
                  (drops ? path_drops_percent : path_queue_ms)(&world->links[0]));
        }
        for (uint32_t j = count; j < world->flow_count; j++) {
            const double bits = 8 * (double)world->flows[j].ends[1].bytes_arrived;
            print(chart->name, chart->goodput, world->flows[j].peer->control->name, middle,
                  bits / chart->interval / 1000);
        }
    }
    path_world_destroy(world);
}

/* A class of paths, and what is shown of it besides goodput. */
struct path {
    const char *chart, *other;
    double kbit, queue, loss;
    enum path_shaper_kind shaper;
};

static struct path_world *create_world(const struct path *path)
{
    const bool shaped = path->shaper != PATH_SHAPER_NONE;
    const struct cw_simulator_path back = path_of_rtt(RTT);
    struct cw_simulator_path there = shaped ? back : path_of_kbit(RTT, path->kbit, path->queue);
    there.loss = path->loss;
    struct path_world *world = path_world_create(1, &there, &back);
    if (shaped)
        path_world_shape(world, 0, path->shaper, path->kbit, path->queue);
    return world;
}

/* Draws one flow on such a path, and one without congestion control and one with CUBIC. */
static void alone(const struct path *path)
{
    static const struct {
        const char *name;
        enum cw_congestion_mode mode;
    } flows[] = {{"delay (default)", CW_CONGESTION_DELAY}, {"none", CW_CONGESTION_NONE}};
    struct chart chart = {path->chart, "goodput", path->other, NULL, 0.5, 40};
    struct path_world *world;
    for (int i = 0; i < 2; i++) {
        struct flow flow;
        world = create_world(path);
        chart.line = flows[i].name;
        add(world, &flow, flows[i].name, path->kbit > 1000 ? 250000 : 125000, flows[i].mode, 0);
        run(&chart, world, &flow, 1);
    }
    world = create_world(path);
    chart.line = path_world_add_peer(world, PATH_PEER_CUBIC, 0)->peer->control->name;
    run(&chart, world, NULL, 0);
}

static void join(void)
{
    const struct chart chart = {"join", "goodput", "queue", "queue", 0.5, 40};
    struct path_world *world = create_world(&(struct path){.kbit = 2000, .queue = 0.2});
    struct flow flows[2];
    add(world, &flows[0], "first", 100000, CW_CONGESTION_DELAY, 0);
    add(world, &flows[1], "second", 100000, CW_CONGESTION_DELAY, 10);
    run(&chart, world, flows, 2);
}

static void beside_cubic(const char *panel, double queue)
{
    const struct chart chart = {"cubic", panel, NULL, NULL, 2, 120};
    struct path_world *world = create_world(&(struct path){.kbit = 3000, .queue = queue});
    struct flow flow;
    add(world, &flow, "Causeway", 100000, CW_CONGESTION_DELAY, 0);
    path_world_add_peer(world, PATH_PEER_CUBIC, 0);
    run(&chart, world, &flow, 1);
}

int main(void)
{
    static const struct path paths[] = {
        {"alone", "queue", .kbit = 1000, .queue = 0.2},
        {"short", "drops", .kbit = 3000, .queue = 0.02},
        {"codel", "queue", .kbit = 1000, .queue = 1, .shaper = PATH_SHAPER_CODEL},
        {"policer", "drops", .kbit = 3000, .queue = 0.05, .shaper = PATH_SHAPER_POLICER},
        {"loss", "queue", .kbit = 3000, .queue = 0.2, .loss = 0.2},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        alone(&paths[i]);
    join();
    beside_cubic("goodput_50", 0.05);
    beside_cubic("goodput_200", 0.2);
    beside_cubic("goodput_800", 0.8);
    return 0;
}
