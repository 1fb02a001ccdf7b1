/* What the relay counts, in the text format of Prometheus. */
#ifndef CAUSEWAY_RELAY_METRICS_H
#define CAUSEWAY_RELAY_METRICS_H

#include "admin/text.h"
#include "net/stats.h"
#include "session/session.h"

#include <stdbool.h>

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct metrics {
    const struct stats *stats;
    const struct sessions *sessions;
    bool ready;
};

void metrics_write(const struct metrics *metrics, struct text *out);

#endif
