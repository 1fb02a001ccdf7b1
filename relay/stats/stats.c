#include "stats/stats.h"

#include "os/log.h"

void stats_log(const struct stats *stats, unsigned open_sessions)
{
    const struct log_field fields[] = {{.name = "sessions_open", .number = open_sessions},
#define STATS_FIELD(name_, help) {.name = #name_, .number = (double)stats->name_},
                                       STATS(STATS_FIELD)
#undef STATS_FIELD
    };
    log_fields(LOG_INFO, "stats", fields, sizeof fields / sizeof fields[0]);
}
