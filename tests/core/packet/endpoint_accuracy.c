/* Tests of what the endpoint believes of a path, against what the simulator knows of it. */
#include "causeway/endpoint.h"
#include "causeway/simulator.h"

#include "copy_packet.h"
#include "fixture.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define MAX_DATAGRAM 1400

/* Two ends, and the paths between them. */
struct world {
    struct cw_endpoint *ends[2];
    struct cw_simulator *paths[2]; /* paths[i] leads away from ends[i] */
    bool answers;                  /* the second end sends at once when it receives */
    uint64_t reported[2];          /* packets told as lost by events */
};

static struct world make(const struct cw_simulator_path *there,
                         const struct cw_simulator_path *back)
{
    struct world world = {0};
    const struct cw_endpoint_config config = cw_endpoint_config_default();
    struct cw_simulator_config simulator = cw_simulator_config_default();
    simulator.max_datagrams = 4096;
    for (int i = 0; i < 2; i++) {
        simulator.seed = (uint64_t)(7 + i);
        simulator.path = i ? *back : *there;
        assert_int_equal(cw_endpoint_create(&config, &world.ends[i]), CW_OK);
        assert_int_equal(cw_simulator_create(&simulator, &world.paths[i]), CW_OK);
    }
    return world;
}

static void destroy(struct world *world)
{
    for (int i = 0; i < 2; i++) {
        cw_endpoint_destroy(world->ends[i]);
        cw_simulator_destroy(world->paths[i]);
    }
}

static struct cw_endpoint_stats stats_of(const struct world *world, int end)
{
    struct cw_endpoint_stats stats;
    cw_endpoint_get_stats(world->ends[end], &stats);
    return stats;
}

static void send(struct world *world, int from, double now)
{
    static const uint8_t payload[100] = {1};
    uint8_t datagram[MAX_DATAGRAM];
    size_t size;
    assert_int_equal(copy_packet(world->ends[from], payload, sizeof payload, datagram, now, &size),
                     CW_OK);
    assert_int_equal(cw_simulator_receive(world->paths[from], datagram, size, now), CW_OK);
}

static void take_events(struct world *world, int at)
{
    struct cw_endpoint_event event;
    while (cw_endpoint_next(world->ends[at], &event)) {
        world->reported[at] += event.type == CW_ENDPOINT_EVENT_LOST;
        cw_endpoint_accept(world->ends[at], event.sequence);
    }
}

/* Passes everything that arrives up to a time, each datagram at its own time. */
static void pass_until(struct world *world, double then)
{
    for (;;) {
        uint8_t datagram[MAX_DATAGRAM];
        const double there = cw_simulator_due(world->paths[0]);
        const double back = cw_simulator_due(world->paths[1]);
        const int to = there <= back ? 1 : 0;
        const double now = fmin(there, back);
        if (now > then)
            return;
        const size_t size =
            cw_simulator_transmit(world->paths[!to], datagram, sizeof datagram, now);
        const enum cw_error error = cw_endpoint_receive(world->ends[to], datagram, size, now);
        take_events(world, to);
        if (error == CW_OK && to == 1 && world->answers)
            send(world, 1, now);
    }
}

/* Lets the first end send `count` packets, `interval` seconds apart; the second sends as many
   unless it answers. */
static void run(struct world *world, int count, double interval)
{
    double now = 0;
    for (int i = 0; i < count; i++) {
        now = i * interval;
        pass_until(world, now);
        for (int end = 0; end < 2; end++) {
            cw_endpoint_update(world->ends[end], now);
            take_events(world, end);
        }
        send(world, 0, now);
        if (!world->answers)
            send(world, 1, now);
    }
    /* Packets under way arrive, and those that do not arrive are given up. */
    pass_until(world, now + 60);
    for (int end = 0; end < 2; end++) {
        cw_endpoint_update(world->ends[end], now + 60);
        take_events(world, end);
    }
}

static void check_rtt(const struct cw_simulator_path *path, double truth, double interval)
{
    struct world world = make(path, path);
    world.answers = true;
    run(&world, 2000, interval);
    const struct cw_endpoint_stats stats = stats_of(&world, 0);
    const double error = stats.rtt / truth - 1;
    print_message("rtt %.1f ms, measured %.2f ms, %+.1f %%\n", truth * 1000, stats.rtt * 1000,
                  error * 100);
    assert_true(fabs(error) < 0.05);
    assert_true(stats.rtt_min >= 2 * path->latency_seconds - 1e-9);
    assert_true(stats.rtt_min <= truth + 1e-9);
    destroy(&world);
}

TEST(rtt_is_that_of_the_path)
{
    static const double latencies[] = {0.001, 0.02, 0.05, 0.1, 0.4};
    for (size_t i = 0; i < sizeof latencies / sizeof *latencies; i++) {
        struct cw_simulator_path path = {.latency_seconds = latencies[i]};
        check_rtt(&path, 2 * path.latency_seconds, 1.0 / 60);
        path.loss = 0.1;
        check_rtt(&path, 2 * path.latency_seconds, 1.0 / 60);
        path.loss = 0.5;
        check_rtt(&path, 2 * path.latency_seconds, 1.0 / 60);
        path.duplicate = 0.2;
        check_rtt(&path, 2 * path.latency_seconds, 1.0 / 60);
    }
    /* The jitter makes each way longer by half of it on average. No packet overtakes another at
       this rate. */
    for (size_t i = 0; i < sizeof latencies / sizeof *latencies; i++) {
        struct cw_simulator_path path = {.latency_seconds = latencies[i],
                                         .jitter_seconds = latencies[i] / 10};
        check_rtt(&path, 2 * path.latency_seconds + path.jitter_seconds, 0.05);
    }
}

static void check_loss(double loss_there, double loss_back, double interval)
{
    const struct cw_simulator_path there = {
        .latency_seconds = 0.03, .jitter_seconds = 0.01, .loss = loss_there};
    const struct cw_simulator_path back = {
        .latency_seconds = 0.03, .jitter_seconds = 0.01, .loss = loss_back};
    struct world world = make(&there, &back);
    run(&world, 10000, interval);
    for (int end = 0; end < 2; end++) {
        struct cw_simulator_stats truth;
        const struct cw_endpoint_stats ours = stats_of(&world, end);
        const struct cw_endpoint_stats theirs = stats_of(&world, !end);
        cw_simulator_get_stats(world.paths[end], &truth);
        const double share = (double)truth.datagrams_lost / (double)truth.datagrams_received;
        const double sent =
            (double)ours.packets_lost / (double)(ours.packets_lost + ours.packets_acked);
        const double received = (double)theirs.packets_missed /
                                (double)(theirs.packets_missed + theirs.packets_received);
        print_message("loss %.2f %%, its sender measured %.2f %%, its receiver %.2f %%\n",
                      share * 100, sent * 100, received * 100);
        assert_int_equal(ours.packets_lost + ours.packets_acked, 10000);
        assert_true(world.reported[end] >= ours.packets_lost);
        assert_true(fabs(sent - share) < 0.01);
        assert_true(fabs(received - share) < 0.01);
    }
    destroy(&world);
}

TEST(loss_is_that_of_the_path)
{
    static const double losses[] = {0, 0.01, 0.05, 0.2, 0.4};
    const size_t count = sizeof losses / sizeof *losses;
    for (size_t i = 0; i < count; i++) {
        check_loss(losses[i], losses[i], 1.0 / 60);
        check_loss(losses[i], losses[count - 1 - i], 1.0 / 30);
    }
}

/* The latest loss follows a path that becomes worse, and then better. */
TEST(latest_loss_follows)
{
    struct cw_simulator_path path = {.latency_seconds = 0.03};
    struct world world = make(&path, &path);
    double now = 0;
    static const double losses[] = {0, 0.2, 0, 0.5, 0.1};
    for (size_t phase = 0; phase < sizeof losses / sizeof *losses; phase++) {
        double sent = 0, received = 0;
        path.loss = losses[phase];
        for (int i = 0; i < 2; i++)
            assert_int_equal(cw_simulator_change(world.paths[i], &path), CW_OK);
        for (int i = 0; i < 6000; i++, now += 1.0 / 60) {
            pass_until(&world, now);
            for (int end = 0; end < 2; end++) {
                cw_endpoint_update(world.ends[end], now);
                take_events(&world, end);
                send(&world, end, now);
            }
            if (i >= 1000) {
                sent += stats_of(&world, 0).loss_sent / 5000;
                received += stats_of(&world, 0).loss_received / 5000;
            }
        }
        print_message("loss %.0f %%, mean of loss_sent %.2f %%, of loss_received %.2f %%\n",
                      path.loss * 100, sent * 100, received * 100);
        assert_true(fabs(sent - path.loss) < 0.02);
        assert_true(fabs(received - path.loss) < 0.02);
    }
    destroy(&world);
}

TEST(bandwidth_is_that_of_the_path)
{
    const struct cw_simulator_path there = {.latency_seconds = 0.03, .loss = 0.25};
    const struct cw_simulator_path back = {.latency_seconds = 0.03};
    struct world world = make(&there, &back);
    double now = 0, sent = 0, received = 0, acked = 0;
    for (int i = 0; i < 6600; i++, now += 1.0 / 60) {
        pass_until(&world, now);
        for (int end = 0; end < 2; end++) {
            cw_endpoint_update(world.ends[end], now);
            take_events(&world, end);
            send(&world, end, now);
        }
        if (i >= 600) {
            sent += stats_of(&world, 0).sent_bytes_per_second / 6000;
            received += stats_of(&world, 1).received_bytes_per_second / 6000;
            acked += stats_of(&world, 0).acked_bytes_per_second / 6000;
        }
    }
    struct cw_simulator_stats truth;
    cw_simulator_get_stats(world.paths[0], &truth);
    const double true_sent = (double)truth.bytes_received / now;
    const double true_received = (double)truth.bytes_transmitted / now;
    print_message("sent %.0f bytes/s, measured %.0f; received %.0f, measured %.0f, acked %.0f\n",
                  true_sent, sent, true_received, received, acked);
    assert_true(fabs(sent / true_sent - 1) < 0.02);
    assert_true(fabs(received / true_received - 1) < 0.02);
    assert_true(fabs(acked / true_received - 1) < 0.02);
    destroy(&world);
}
