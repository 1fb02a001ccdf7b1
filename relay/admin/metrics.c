#include "admin/metrics.h"

#include "causeway/base.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
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

/* Returns the length of the label of a rule; 0 when a rule before it has the same. */
static int upstream_label(const struct upstream_list *list, unsigned index)
{
    const size_t size = strcspn(list->rules[index].text, ",");
    for (unsigned i = 0; i < index; i++) {
        const char *other = list->rules[i].text;
        if (strcspn(other, ",") == size && memcmp(other, list->rules[index].text, size) == 0)
            return 0;
    }
    return (int)size;
}

/* Writes whether the single servers of --upstream are up, and how many are down of each network or
   range of ports, where some always are. */
static void write_upstreams(const struct metrics *metrics, struct text *out)
{
    static const struct {
        const char *name;
        const char *label;
        const char *help;
    } families[] = {
        {"causeway_relay_upstreams_down", "servers",
         "game servers of a network or range of ports that each process has found to be down and "
         "has not heard of since"},
        {"causeway_relay_upstream_up", "server",
         "0 when nobody was at the address of the game server when it was last sent to"},
    };
    const struct upstream_list *list = metrics->upstreams;
    for (unsigned one = 0; one < 2; one++) {
        head(out, families[one].name, "gauge", families[one].help);
        for (unsigned i = 0; i < list->count; i++) {
            const int size = upstream_label(list, i);
            const unsigned down = metrics->counters.gauges.upstreams_down[i];
            if (size > 0 && upstream_rule_is_single(&list->rules[i]) == one)
                text_add(out, "%s{%s=\"%.*s\"} %u\n", families[one].name, families[one].label, size,
                         list->rules[i].text, one ? down == 0 : down);
        }
    }
}

static void write_gauges(const struct metrics *metrics, struct text *out)
{
    const struct gauges *gauges = &metrics->counters.gauges;
    head(out, "causeway_relay_build_info", "gauge", "the version of the relay, always 1");
    text_add(out, "causeway_relay_build_info{version=\"" CAUSEWAY_VERSION "\"} 1\n");
    single(out, "causeway_relay_ready", "gauge", "1 when newcomers are welcome, see /readyz",
           metrics->ready);
    single(out, "causeway_relay_sessions_open", "gauge", "open sessions",
           metrics->counters.sessions_open);
    single(out, "causeway_relay_sessions_max", "gauge", "most that there may be",
           gauges->sessions_max);
    single(out, "causeway_relay_sessions_unanswered", "gauge",
           "of these, those that the game server has not answered", gauges->sessions_unanswered);
    single(out, "causeway_relay_sessions_waiting", "gauge",
           "of these, those that wait for another link", gauges->sessions_waiting);
    head(out, "causeway_relay_links", "gauge", "open links of sessions, by transport");
    for (unsigned i = 0; i < GAUGES_TRANSPORTS; i++)
        text_add(out, "causeway_relay_links{transport=\"%s\"} %u\n", gauges_transports[i],
                 gauges->links[i]);
    head(out, "causeway_relay_certificate_expires_seconds", "gauge",
         "seconds until the first TLS certificate expires");
    if (metrics->certificate_expires < INFINITY)
        text_add(out, "causeway_relay_certificate_expires_seconds %.0f\n",
                 metrics->certificate_expires - (double)time(NULL));
    write_upstreams(metrics, out);
}

static double cpu_seconds(pid_t process)
{
    struct timespec time;
    clockid_t clock;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return 0.0;
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double resident_bytes(pid_t process)
{
    char path[64];
    unsigned long pages = 0;
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)process);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0.0;
    if (fscanf(file, "%*s %lu", &pages) != 1)
        pages = 0;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double open_descriptors(pid_t process)
{
    char path[64];
    unsigned count = 0;
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)process);
    DIR *directory = opendir(path);
    if (!directory)
        return 0.0;
    for (const struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static double most_descriptors(pid_t process)
{
    struct rlimit limit;
    return prlimit(process, RLIMIT_NOFILE, NULL, &limit) == 0 ? (double)limit.rlim_cur : 0.0;
}

/* Reads the ticks between the start of the machine and that of a process. They are the 22nd word in
   its stat file, in which the second word is the process's name, in parentheses and with any
   characters in it. */
static bool start_ticks(pid_t process, unsigned long long *out)
{
    char text[512];
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    FILE *file = fopen(path, "re");
    const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = '\0';
    const char *at = strrchr(text, ')');
    for (int word = 2; at && word < 22; word++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, "%llu", out) == 1;
}

/* Returns the Unix time at which a process started. The start of the machine is computed from two
   clocks, because the systemd unit hides /proc/stat, which tells it. */
static double start_seconds(pid_t process)
{
    struct timespec now;
    struct timespec up;
    unsigned long long ticks;
    if (!start_ticks(process, &ticks) || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
        clock_gettime(CLOCK_BOOTTIME, &up) != 0)
        return 0.0;
    return round((double)(now.tv_sec - up.tv_sec) + (double)(now.tv_nsec - up.tv_nsec) * 1e-9 +
                 (double)ticks / (double)sysconf(_SC_CLK_TCK));
}

/* Writes the metrics of processes, under the names that all exporters use. */
static void write_processes(const struct metrics *metrics, struct text *out)
{
    static const struct {
        const char *name;
        const char *type;
        const char *help;
        double (*read)(pid_t process);
    } rows[] = {
        {"process_cpu_seconds_total", "counter", "processor time", cpu_seconds},
        {"process_resident_memory_bytes", "gauge", "memory in use", resident_bytes},
        {"process_open_fds", "gauge", "open file descriptors", open_descriptors},
        {"process_max_fds", "gauge", "most that there may be", most_descriptors},
        {"process_start_time_seconds", "gauge", "when it was started", start_seconds},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        head(out, rows[row].name, rows[row].type, rows[row].help);
        for (unsigned i = 0; i < metrics->process_count; i++) {
            char label[32] = "";
            if (i > 0)
                snprintf(label, sizeof label, "{worker=\"%u\"}", i);
            if (metrics->processes[i] != 0)
                text_add(out, "%s%s %.15g\n", rows[row].name, label,
                         rows[row].read(metrics->processes[i]));
        }
    }
}

void metrics_write(const struct metrics *metrics, struct text *out)
{
    write_gauges(metrics, out);
    write_stats(&metrics->counters.stats, out);
    write_processes(metrics, out);
}
