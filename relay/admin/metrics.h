/* Writes what the relay counts, in the text format of Prometheus. */
#ifndef CAUSEWAY_RELAY_METRICS_H
#define CAUSEWAY_RELAY_METRICS_H

#include "os/text.h"
#include "session/upstreams.h"
#include "stats/counters.h"

#include <stdbool.h>
#include <sys/types.h>

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

#define METRICS_PROCESSES_MAX 65

struct metrics {
    struct counters counters;
    bool ready;
    double certificate_expires; /* Unix time; INFINITY without TLS */
    const struct upstream_list *upstreams;
    pid_t processes[METRICS_PROCESSES_MAX]; /* this process, then the workers; 0 = it has died */
    unsigned process_count;
};

void metrics_write(const struct metrics *metrics, struct text *out);

#endif
