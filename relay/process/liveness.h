/* This module tells whether the event loop of a process turns. The process counts beats in its
   counters, which its supervisor may read, and measures how late each beat is. */
#ifndef CAUSEWAY_RELAY_LIVENESS_H
#define CAUSEWAY_RELAY_LIVENESS_H

#include "os/loop.h"
#include "stats/counters.h"

#include <stdbool.h>
#include <sys/types.h>

/* Seconds between two beats. */
#define LIVENESS_BEAT_SECONDS 0.25

/* This struct keeps the beats of this process. */
struct liveness {
    struct loop *loop;
    struct counters *counters;
    struct loop_timer timer;
    double due; /* the time of the next beat */
};

/* Begins to beat. The lateness of each beat goes into the histogram loop_lag_seconds, and one that
   is more than a second late is logged. All three must outlive the beats. */
void liveness_start(struct liveness *liveness, struct loop *loop, struct counters *counters);
void liveness_stop(struct liveness *liveness);

/* A supervisor keeps in it what it knows of a worker's beats; it is all zero at first. */
struct liveness_watch {
    unsigned beats;
    double changed; /* the time when another beat was seen, or when nobody looked */
    double looked;
};

/* Looks at the beats of another process, each LIVENESS_BEAT_SECONDS. Returns the seconds for which
   it has hung, or 0: it hangs when it has not begun another beat for two seconds though it does not
   wait for the processor. One that never gets its turn, or does nothing but calculate, is left to
   the system and to its own watchdog; and so is one that has not begun to beat. */
double liveness_look(struct liveness_watch *watch, const struct counters *counters, pid_t process,
                     double now);

#endif
