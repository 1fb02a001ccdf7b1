#include "process/liveness.h"

#include "os/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A loop that stood still for this many seconds is worth a line. */
#define STILL_SECONDS 1.0

/* A process that has not turned for so many seconds hangs. */
#define HUNG_SECONDS 2.0

/* Seconds between two measurements of the lateness. */
#define MEASURE_SECONDS 0.1

static void on_measure(void *context)
{
    struct liveness *liveness = context;
    const double late = fmax(0.0, loop_now() - liveness->due);
    histogram_add(&liveness->counters->stats.loop_lag_seconds, late);
    if (late > STILL_SECONDS)
        log_warn("the event loop stood still for about %.1f seconds", late);
}

void liveness_turn(struct liveness *liveness)
{
    const struct stats *stats = &liveness->counters->stats;
    const uint64_t datagrams = stats->client_datagrams + stats->upstream_datagrams;
    liveness->counters->turns++;
    if (liveness->timer.loop || datagrams == liveness->datagrams)
        return;
    liveness->datagrams = datagrams;
    liveness->due = loop_now() + MEASURE_SECONDS;
    liveness->timer.expired = on_measure;
    liveness->timer.context = liveness;
    loop_timer_start(liveness->loop, &liveness->timer, MEASURE_SECONDS);
}

void liveness_stop(struct liveness *liveness)
{
    loop_timer_stop(&liveness->timer);
}

/* Returns whether a process runs, or waits for the processor. Its state is the word after its name,
   which stands in parentheses and may have any characters in it. */
static bool is_running(pid_t process)
{
    char text[512];
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    FILE *file = fopen(path, "re");
    const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = '\0';
    const char *end = strrchr(text, ')');
    return end && strncmp(end, ") R", 3) == 0;
}

double liveness_look(struct liveness_watch *watch, const struct counters *counters, double now)
{
    /* A supervisor that did not look did not get its turn, and neither may the worker have. */
    const bool slept = now - watch->looked > HUNG_SECONDS / 2.0;
    watch->looked = now;
    if (slept || counters->turns != watch->turns) {
        watch->turns = counters->turns;
        watch->changed = now;
    }
    return now - watch->changed;
}

bool liveness_hangs(double seconds, pid_t process)
{
    return seconds >= HUNG_SECONDS && !is_running(process);
}
