#include "process/liveness.h"

#include "os/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A loop that stood still for this many seconds is worth a line. */
#define STILL_SECONDS 1.0

/* A process that has not begun another beat for this many seconds hangs. */
#define HUNG_SECONDS 2.0

static void on_beat(void *context)
{
    struct liveness *liveness = context;
    const double now = loop_now();
    const double late = fmax(0.0, now - liveness->due);
    liveness->counters->beats++;
    histogram_add(&liveness->counters->stats.loop_lag_seconds, late);
    if (late > STILL_SECONDS)
        log_warn("the event loop stood still for about %.1f seconds", late);
    liveness->due = now + LIVENESS_BEAT_SECONDS;
    loop_timer_start(liveness->loop, &liveness->timer, LIVENESS_BEAT_SECONDS);
}

void liveness_start(struct liveness *liveness, struct loop *loop, struct counters *counters)
{
    *liveness = (struct liveness){.loop = loop, .counters = counters, .due = loop_now()};
    liveness->timer.expired = on_beat;
    liveness->timer.context = liveness;
    on_beat(liveness);
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

double liveness_look(struct liveness_watch *watch, const struct counters *counters, pid_t process,
                     double now)
{
    /* A supervisor that did not look did not get its turn, and neither may the worker have. */
    const bool slept = now - watch->looked > HUNG_SECONDS / 2.0;
    watch->looked = now;
    if (slept || counters->beats != watch->beats || counters->beats == 0) {
        watch->beats = counters->beats;
        watch->changed = now;
    }
    const double hung = now - watch->changed;
    return hung >= HUNG_SECONDS && !is_running(process) ? hung : 0.0;
}
