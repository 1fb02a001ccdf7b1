/* Paths drawn at random, flows over them, and what congestion control made of each. The same seed
   and number give the same path and the same run. */
#ifndef CAUSEWAY_TESTS_RANDOM_PATH_H
#define CAUSEWAY_TESTS_RANDOM_PATH_H

#include "path_traffic.h"

/* The special property of a path. Every other property of it is drawn alike. */
enum random_class {
    RANDOM_PLAIN,   /* a queue of 50 ms to 2 s, nothing is lost but what overflows it */
    RANDOM_SHORT,   /* a queue of 5 to 50 ms */
    RANDOM_POLICER, /* no queue at all */
    RANDOM_CODEL,
    RANDOM_LOSSY,  /* losses at random, 0.1 to 30 % */
    RANDOM_JITTER, /* jitter of up to 60 ms, which reorders */
    RANDOM_MANY,   /* 2 to 16 flows */
    RANDOM_APP,    /* the application sends less than the path would take */
    RANDOM_CLASSES
};

struct random_path {
    enum random_class class;
    double kbit, rtt, queue, loss, jitter;
    double ticks[2]; /* seconds from one to the next, at the sender and at the receiver */
    uint32_t flows;
    double app; /* the share of the bandwidth that the application uses; 0: more than all */
    double warm, seconds; /* the time before measuring, and that of measuring */
};

struct random_result {
    double goodput;  /* the share of what the path could carry */
    double drops;    /* percent of datagrams dropped by the bottleneck */
    double queue;    /* seconds, the 95th percentile over time */
    double allowed;  /* the length of queue that congestion control aims at, with a tick: seconds */
    double window;   /* the longest window, as a part of the most that is right */
    bool competed;   /* a flow was in the mode for competition */
    double estimate; /* the best rate that a flow believed in, as a part of the bandwidth */
};

const char *random_class_name(enum random_class class);

/* Draws the path of that number. */
struct random_path random_path_draw(uint64_t seed, uint32_t number);

/* Runs flows over it. */
struct random_result random_path_run(const struct random_path *path, uint64_t seed);

/* Prints all of the path on one line, without a newline. */
void random_path_print(const struct random_path *path);

#endif
