/* Two connections and the path between them, in virtual time. The test owns them. */
#ifndef CAUSEWAY_TESTS_CONNECTION_PAIR_H
#define CAUSEWAY_TESTS_CONNECTION_PAIR_H

#include "bad_paths.h"
#include "connections.h"

struct pair {
    struct cw_connection *sides[2];
    struct cw_simulator *paths[2]; /* the paths from each side to the other */
    double now;
    int ticks;
};

/* The RTT keeps arrivals off the very moment of a tick, where rounding would decide. */
static inline struct cw_simulator_path path_of(double rtt, double loss)
{
    struct cw_simulator_path path = cw_simulator_config_default().path;
    path.latency_seconds = rtt / 2 - 0.001;
    path.loss = loss;
    return path;
}

static inline struct pair pair_open(const struct cw_connection_config *config, double rtt,
                                    double loss)
{
    struct pair pair = {.now = 0};
    struct cw_simulator_config simulator = cw_simulator_config_default();
    simulator.path = path_of(rtt, loss);
    simulator.max_datagrams = 8192;
    for (int i = 0; i < 2; i++) {
        simulator.seed = 7 + (uint64_t)i;
        pair.sides[i] = connection_with(config);
        pair.paths[i] = simulator_with(&simulator);
    }
    return pair;
}

/* Changes the paths of both sides. */
static inline void pair_change(struct pair *pair, const struct cw_simulator_path *path)
{
    for (int i = 0; i < 2; i++)
        assert_ok(cw_simulator_change(pair->paths[i], path));
}

static inline void pair_set_loss(struct pair *pair, double loss, double rtt)
{
    const struct cw_simulator_path path = path_of(rtt, loss);
    pair_change(pair, &path);
}

/* Lets what is due arrive at a side. */
static inline void pair_arrive(struct pair *pair, int side)
{
    uint8_t datagram[2048];
    for (size_t size; (size = cw_simulator_transmit(pair->paths[!side], datagram, sizeof datagram,
                                                    pair->now)) > 0;)
        receive_exact(pair->sides[side], datagram, size, pair->now);
}

/* Puts a round of a side's packets on its path. */
static inline void pair_send(struct pair *pair, int side)
{
    uint8_t datagram[2048];
    cw_connection_update(pair->sides[side], pair->now);
    for (size_t size; (size = transmit(pair->sides[side], datagram, pair->now)) > 0;)
        assert_ok(cw_simulator_receive(pair->paths[side], datagram, size, pair->now));
}

/* A tick of both sides: all that is due arrives, then a round of packets goes out. The messages
   that arrived wait for the test to take them. */
static inline void pair_tick(struct pair *pair)
{
    for (int i = 0; i < 2; i++)
        pair_arrive(pair, i);
    for (int i = 0; i < 2; i++)
        pair_send(pair, i);
    pair->now = ++pair->ticks * TICK;
}

static inline void pair_run(struct pair *pair, int ticks)
{
    for (int i = 0; i < ticks; i++)
        pair_tick(pair);
}

#endif
