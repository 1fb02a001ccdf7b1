#include "admin/metrics.h"

#include "session/session_look.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void head(struct text *out, const char *name, const char *type, const char *help)
{
    text_add(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void single(struct text *out, const char *name, const char *type, const char *help,
                   double value)
{
    head(out, name, type, help);
    text_add(out, "%s %.15g\n", name, value);
}

static void histogram(struct text *out, const char *name, const char *help,
                      const struct histogram *value)
{
    uint64_t below = 0;
    head(out, name, "histogram", help);
    for (unsigned i = 0; i < HISTOGRAM_BOUNDS; i++) {
        below += value->counts[i];
        text_add(out, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", name, histogram_bounds[i], below);
    }
    below += value->counts[HISTOGRAM_BOUNDS];
    text_add(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum %.9g\n%s_count %" PRIu64 "\n", name,
             below, name, value->sum, name, below);
}

static void write_stats(const struct stats *stats, struct text *out)
{
#define METRICS_COUNTER(name, help)                                                                \
    head(out, "causeway_relay_" #name "_total", "counter", help);                                  \
    text_add(out, "causeway_relay_" #name "_total %" PRIu64 "\n", stats->name);
    STATS(METRICS_COUNTER)
#undef METRICS_COUNTER
#define METRICS_HISTOGRAM(name, help) histogram(out, "causeway_relay_" #name, help, &stats->name);
    STATS_HISTOGRAMS(METRICS_HISTOGRAM)
#undef METRICS_HISTOGRAM
}

static void write_sessions(const struct metrics *metrics, struct text *out)
{
    struct sessions_now now;
    sessions_look(metrics->sessions, &now);
    single(out, "causeway_relay_ready", "gauge", "1 when newcomers are welcome, see /readyz",
           metrics->ready);
    single(out, "causeway_relay_sessions_open", "gauge", "open sessions", now.open);
    single(out, "causeway_relay_sessions_max", "gauge", "most that there may be", now.max);
    single(out, "causeway_relay_sessions_unanswered", "gauge",
           "of these, those that the game server has not answered", now.unanswered);
    single(out, "causeway_relay_sessions_waiting", "gauge",
           "of these, those that wait for another link", now.waiting);
    head(out, "causeway_relay_links", "gauge", "open links of sessions, by transport");
    for (unsigned i = 0; i < now.transport_count; i++)
        text_add(out, "causeway_relay_links{transport=\"%s\"} %u\n", now.transports[i].name,
                 now.transports[i].links);
    head(out, "causeway_relay_upstream_up", "gauge",
         "0 when nobody was at the address of the game server when it was last sent to");
    text_add(out, "causeway_relay_upstream_up{server=\"%s\"} %d\n", now.upstream, now.upstream_up);
}

static unsigned count_descriptors(void)
{
    unsigned count = 0;
    DIR *directory = opendir("/proc/self/fd");
    if (!directory)
        return 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 3; /* ".", "..", and the one for this */
}

static double resident_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0.0;
    if (fscanf(file, "%*s %lu", &pages) != 1)
        pages = 0;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* By the names that all exporters use. */
static void write_process(struct text *out)
{
    struct timespec processor;
    struct rlimit limit;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &processor);
    single(out, "process_cpu_seconds_total", "counter", "processor time",
           (double)processor.tv_sec + (double)processor.tv_nsec * 1e-9);
    single(out, "process_resident_memory_bytes", "gauge", "memory in use", resident_bytes());
    single(out, "process_open_fds", "gauge", "open file descriptors", count_descriptors());
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        single(out, "process_max_fds", "gauge", "most that there may be", (double)limit.rlim_cur);
}

void metrics_write(const struct metrics *metrics, struct text *out)
{
    write_sessions(metrics, out);
    write_stats(metrics->stats, out);
    write_process(out);
}
