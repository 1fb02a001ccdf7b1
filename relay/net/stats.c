#include "net/stats.h"

#include "net/log.h"

#include <inttypes.h>
#include <stdio.h>

void stats_log(const struct stats *stats, unsigned open_sessions)
{
    char line[LOG_TEXT_MAX - 8];
    int used = snprintf(line, sizeof line, "sessions_open=%u", open_sessions);
#define STATS_PRINT(name, help)                                                                    \
    if (used > 0 && (size_t)used < sizeof line)                                                    \
        used +=                                                                                    \
            snprintf(line + used, sizeof line - (size_t)used, " " #name "=%" PRIu64, stats->name);
    STATS(STATS_PRINT)
#undef STATS_PRINT
    log_info("stats %s", line);
}
