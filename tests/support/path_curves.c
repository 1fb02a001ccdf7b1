/* Writes what congestion control does over time, for the guide of it, as rows of CSV: each has a
   chart, a panel of it, a line, the time in seconds and the value. The round trip takes 100 ms, the
   queue holds 200 ms, all in virtual time. */
#include "path_traffic.h"

#include <stdio.h>

#define RTT   0.1
#define QUEUE 0.2
#define STEP  0.01 /* seconds between two looks at the flows */
#define LATE  0.5  /* part of a tick: where flows share a path, the order of their ticks varies */

struct chart {
    const char *name;
    const char *queue; /* the name of its line */
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

static struct path_world *create_world(double kbit)
{
    const struct cw_simulator_path there = path_of_kbit(RTT, kbit, QUEUE), back = path_of_rtt(RTT);
    return path_world_create(1, &there, &back);
}

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
static void print_goodput(const char *chart, struct flow *flow)
{
    const uint32_t arrived = flow->traffic[1].blocks_arrived;
    if (arrived == flow->arrived)
        return;
    const double time = flow->traffic[1].block_arrived, passed = time - flow->since;
    const double bits = 8.0 * flow->traffic[0].block_size * (arrived - flow->arrived);
    print(chart, "goodput", flow->name, flow->since + passed / 2, bits / passed / 1000);
    flow->since = time;
    flow->arrived = arrived;
}

/* Prints the queue's average over each interval, and the goodput of each flow. */
static void run(const struct chart *chart, struct path_world *world, struct flow *flows,
                uint32_t count)
{
    for (int i = 1; i * chart->interval <= chart->seconds; i++) {
        const double middle = (i - 0.5) * chart->interval;
        path_world_measure(world);
        while (world->now < i * chart->interval) {
            path_world_run(world, world->now + STEP);
            for (uint32_t j = 0; j < count; j++)
                print_goodput(chart->name, &flows[j]);
        }
        if (world->links[0].shaper.kind == PATH_SHAPER_POLICER)
            print(chart->name, "drops", chart->queue, middle, path_drops_percent(&world->links[0]));
        else
            print(chart->name, "queue", chart->queue, middle, path_queue_ms(&world->links[0]));
        for (uint32_t j = count; j < world->flow_count; j++) {
            const double bits = 8 * (double)world->flows[j].ends[1].bytes_arrived;
            print(chart->name, "goodput", "Reno", middle, bits / chart->interval / 1000);
        }
    }
    path_world_destroy(world);
}

static void alone(const char *name, enum cw_congestion_mode mode)
{
    const struct chart chart = {"alone", name, 0.5, 40};
    struct path_world *world = create_world(1000);
    struct flow flow;
    add(world, &flow, name, 125000, mode, 0);
    run(&chart, world, &flow, 1);
}

static void join(void)
{
    const struct chart chart = {"join", "queue", 0.5, 40};
    struct path_world *world = create_world(2000);
    struct flow flows[2];
    add(world, &flows[0], "first", 100000, CW_CONGESTION_DELAY, 0);
    add(world, &flows[1], "second", 100000, CW_CONGESTION_DELAY, 10);
    run(&chart, world, flows, 2);
}

static void beside_reno(void)
{
    const struct chart chart = {"reno", "queue", 2, 80};
    struct path_world *world = create_world(2000);
    struct flow flow;
    add(world, &flow, "Causeway", 100000, CW_CONGESTION_DELAY, 0);
    path_world_add_peer(world, PATH_PEER_RENO, 0);
    run(&chart, world, &flow, 1);
}

/* One flow behind a policer, and one on a path that loses packets at random. */
static void with_losses(const char *chart_name, const char *name, enum cw_congestion_mode mode,
                        double loss)
{
    const struct chart chart = {chart_name, name, 0.5, 40};
    struct path_world *world = create_world(loss > 0 ? 3000 : 0);
    struct flow flow;
    if (loss > 0) {
        struct cw_simulator_path lossy = path_of_kbit(RTT, 3000, QUEUE);
        lossy.loss = loss;
        path_world_change(world, 0, &lossy);
    } else {
        path_world_shape(world, 0, PATH_SHAPER_POLICER, 3000, 0.05);
    }
    add(world, &flow, name, 250000, mode, 0);
    run(&chart, world, &flow, 1);
}

int main(void)
{
    alone("delay (default)", CW_CONGESTION_DELAY);
    alone("none", CW_CONGESTION_NONE);
    join();
    beside_reno();
    with_losses("policer", "delay (default)", CW_CONGESTION_DELAY, 0);
    with_losses("policer", "none", CW_CONGESTION_NONE, 0);
    with_losses("loss", "delay (default)", CW_CONGESTION_DELAY, 0.2);
    with_losses("loss", "none", CW_CONGESTION_NONE, 0.2);
    return 0;
}
