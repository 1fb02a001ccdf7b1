/* The counters of a worker are in memory that it shares with its supervisor, which reads them at
   any time, also after the worker has died. */
#ifndef CAUSEWAY_RELAY_COUNTERS_H
#define CAUSEWAY_RELAY_COUNTERS_H

#include "stats/gauges.h"
#include "stats/stats.h"

struct counters {
    struct stats stats;
    unsigned sessions_open;
    unsigned turns;       /* the turns of its event loop, see liveness.h */
    struct gauges gauges; /* the gauges as of the last second */
};

/* Makes such memory, all zero; *fd is for the worker. Returns NULL, with errno, when the system
   refuses. */
struct counters *counters_create(int *fd);

/* Opens the memory of this worker. Returns NULL, with errno, when the system refuses. */
struct counters *counters_open(int fd);

/* Adds the counters of another process. */
void counters_add(struct counters *sum, const struct counters *other);

/* Frees the counters. NULL is allowed. */
void counters_destroy(struct counters *counters);

#endif
