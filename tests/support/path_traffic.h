/* The traffic between the ends of a path in measurements: small messages of a fixed size, one or
   more a tick, and blocks one after the other. */
#ifndef CAUSEWAY_TESTS_PATH_TRAFFIC_H
#define CAUSEWAY_TESTS_PATH_TRAFFIC_H

#include "path_world.h"

#define TRAFFIC_MESSAGE 64 /* bytes of a small message */

/* The latencies of messages that arrived, in seconds. */
struct traffic_latencies {
    double *values;
    size_t count, capacity;
};

/* The traffic that one end sends, and what has arrived at that end. */
struct traffic {
    uint32_t message_channel, messages_per_tick;
    uint32_t ticks_between;             /* messages go in one tick of this many; 0: in each */
    uint32_t block_channel, block_size; /* the size in bytes; 0: no blocks */
    uint32_t blocks_waiting;            /* blocks that the channel always has to send */
    uint32_t blocks;                    /* the number of blocks to send in all */
    double stop;                        /* the time from which no message is sent; 0: never */

    uint64_t messages_sent, messages_arrived;
    uint32_t blocks_sent, blocks_arrived;
    double block_arrived; /* the time when the latest block arrived */
    struct traffic_latencies latencies;
};

/* Returns a schema with message type 0, a small message, and, when blocks is true, type 1, a block.
   Each of the two is made once and never freed, as a static schema is. */
const struct cw_schema *traffic_schema(bool blocks);

/* Returns the default config with one reliable channel whose queues are long enough for every
   path. */
struct cw_connection_config traffic_messages(void);

/* Returns the default config with two reliable channels; channel 0 has blocks of up to
   max_block_size bytes. */
struct cw_connection_config traffic_blocks(uint32_t max_block_size);

/* Gives both ends of a flow their traffic. */
void traffic_set(struct path_flow *flow, struct traffic *first, struct traffic *second);

/* The latencies of all messages, in milliseconds, and the bytes of all datagrams for each. */
struct traffic_result {
    double mean_ms, p99_ms, bytes;
};

/* Has both ends of a flow over a path send a message in each tick, and measures from the fifth
   second on for as many as are given. */
struct traffic_result traffic_run(uint64_t seed, const struct cw_simulator_path *path,
                                  const struct cw_connection_config *config, double seconds);

/* Forgets the latencies and the messages that were counted so far. */
void traffic_measure(struct traffic *traffic);
void traffic_free(struct traffic *traffic);

/* Returns the mean of all latencies of both, in milliseconds. */
double traffic_mean_ms(const struct traffic *first, const struct traffic *second);
double traffic_percentile_ms(const struct traffic *first, const struct traffic *second,
                             double share);

#endif
