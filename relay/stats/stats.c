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

uint64_t drops_add(struct drops *sum, const struct drops *other)
{
    uint64_t count = 0;
#define STATS_ADD(name, help) sum->name += other->name, count += other->name;
    STATS_DROPPED_TO_SERVER(STATS_ADD)
    STATS_DROPPED_TO_BROWSER(STATS_ADD)
#undef STATS_ADD
    return count;
}
