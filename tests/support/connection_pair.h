/* Two connections and the path between them, in virtual time. */
#ifndef CAUSEWAY_TESTS_CONNECTION_PAIR_H
#define CAUSEWAY_TESTS_CONNECTION_PAIR_H

#include "connections.h"

#include "causeway/simulator.h"

struct pair {
    struct cw_schema *schema;
    struct cw_connection *sides[2];
    struct cw_simulator *paths[2]; /* the paths from each side to the other */
    double now;
    int ticks;
};

static inline struct cw_simulator *path_with(const struct cw_simulator_path *path, uint64_t seed)
{
    struct cw_simulator_config config = cw_simulator_config_default();
    struct cw_simulator *simulator = NULL;
    config.seed = seed;
    config.path = *path;
    config.max_datagrams = 8192;
    assert_int_equal(cw_simulator_create(&config, &simulator), CW_OK);
    return simulator;
}

/* The RTT keeps arrivals off the very moment of a tick, where rounding would decide. */
static inline struct cw_simulator_path path_of(double rtt, double loss)
{
    struct cw_simulator_path path = cw_simulator_config_default().path;
    path.latency_seconds = rtt / 2 - 0.001;
    path.loss = loss;
    return path;
}

/* The pair owns the config's schema from here on. */
static inline struct pair pair_open(const struct cw_connection_config *config, double rtt,
                                    double loss)
{
    const struct cw_simulator_path path = path_of(rtt, loss);
    struct pair pair = {.schema = (struct cw_schema *)(uintptr_t)config->schema};
    for (int i = 0; i < 2; i++) {
        pair.sides[i] = connection_with(config);
        pair.paths[i] = path_with(&path, 7 + (uint64_t)i);
    }
    return pair;
}

static inline void pair_set_loss(struct pair *pair, double loss, double rtt)
{
    const struct cw_simulator_path path = path_of(rtt, loss);
    for (int i = 0; i < 2; i++)
        assert_int_equal(cw_simulator_change(pair->paths[i], &path), CW_OK);
}

static inline void pair_close(struct pair *pair)
{
    for (int i = 0; i < 2; i++) {
        cw_connection_destroy(pair->sides[i]);
        cw_simulator_destroy(pair->paths[i]);
    }
    cw_schema_destroy(pair->schema);
}

/* A tick of both sides: all that is due arrives, then a round of packets goes out. The messages
   that arrived wait for the test to take them. */
static inline void pair_tick(struct pair *pair)
{
    uint8_t datagram[2048];
    for (int i = 0; i < 2; i++) {
        size_t size;
        while ((size = cw_simulator_transmit(pair->paths[!i], datagram, sizeof datagram,
                                             pair->now)) > 0)
            receive_exact(pair->sides[i], datagram, size, pair->now);
    }
    for (int i = 0; i < 2; i++) {
        cw_connection_update(pair->sides[i], pair->now);
        for (size_t size; (size = transmit(pair->sides[i], datagram, pair->now)) > 0;)
            assert_int_equal(cw_simulator_receive(pair->paths[i], datagram, size, pair->now),
                             CW_OK);
    }
    pair->now = ++pair->ticks * TICK;
}

static inline void pair_run(struct pair *pair, int ticks)
{
    for (int i = 0; i < ticks; i++)
        pair_tick(pair);
}

#endif
