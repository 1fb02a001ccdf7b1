/* Bad network paths of all sorts for long runs. */
#ifndef CAUSEWAY_TESTS_SOAK_PATHS_H
#define CAUSEWAY_TESTS_SOAK_PATHS_H

#include "base/prng.h"
#include "causeway/simulator.h"

#define SOAK_PATHS 8

static inline double some(struct cw_prng *random, double limit)
{
    return limit * cw_prng_share(random);
}

/* Returns a path of this kind; the last kinds are the mildest. */
static inline struct cw_simulator_path soak_path(struct cw_prng *random, uint32_t kind)
{
    struct cw_simulator_path path = {.queue_bytes = 100000};
    path.latency_seconds = some(random, kind == 0 ? 2 : 0.2);
    path.jitter_seconds = some(random, kind == 1 ? 1 : 0.05);
    path.loss = kind == 2 ? 0.99 : kind == 3 ? some(random, 0.99) : some(random, 0.1);
    if (kind == 4) {
        path.burst_start = some(random, 0.05);
        path.burst_end = some(random, 0.1);
        path.burst_loss = 1;
    }
    path.duplicate = cw_prng_chance(random, 0.3) ? some(random, 0.5) : 0;
    path.reorder = cw_prng_chance(random, 0.3) ? some(random, 0.5) : 0;
    path.reorder_delay_seconds = some(random, 0.5);
    path.bytes_per_second = kind == 5 ? 2000 + some(random, 50000) : 0;
    return path;
}

#endif
