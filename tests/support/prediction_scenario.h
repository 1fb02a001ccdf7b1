/* A client that predicts, its server, and a terrible path between them, in virtual time: the same
   on every platform. */
#ifndef CAUSEWAY_TESTS_PREDICTION_SCENARIO_H
#define CAUSEWAY_TESTS_PREDICTION_SCENARIO_H

#include <stdint.h>

struct prediction_result {
    uint64_t hash;   /* a hash of both sides' states after every tick; 0 when something failed */
    uint64_t acked;  /* states of the server that reached the client in order */
    uint64_t failed; /* acked states at which the client was not where the server's state and its
                        own inputs since lead to */
    uint64_t corrections;
    uint64_t replayed; /* the ticks that were played again for them */
    uint64_t desyncs;  /* ticks that gave another state when played again */
    uint32_t max_depth;
};

/* Plays that many ticks, 60 per second, with 20 % loss, jitter and duplicates both ways. The server
   also does what the client cannot predict: it pushes, and repeats inputs that come too late. */
struct prediction_result prediction_scenario_run(uint64_t seed, uint32_t ticks);

#endif
