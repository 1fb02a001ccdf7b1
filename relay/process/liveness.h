/* This module tells whether the event loop of a process turns. The process counts its turns in its
   counters, which its supervisor may read, and measures how late they are while it has sessions.
   One without sessions sleeps. */
#ifndef CAUSEWAY_RELAY_LIVENESS_H
#define CAUSEWAY_RELAY_LIVENESS_H

#include "os/loop.h"
#include "stats/counters.h"

#include <stdbool.h>
#include <sys/types.h>

/* This struct belongs to a process that serves. Set the first two members, which must outlive it.
 */
struct liveness {
    struct loop *loop;
    struct counters *counters;
    struct loop_timer timer; /* armed while datagrams come */
    double due;
    uint64_t datagrams; /* the datagrams that had come when it was armed */
};

/* Counts a turn of the loop. While datagrams come, a timer measures the lateness of the loop ten
   times a second, for the histogram loop_lag_seconds; one that is more than a second late is
   logged.
 */
void liveness_turn(struct liveness *liveness);
void liveness_stop(struct liveness *liveness);

/* A supervisor looks for workers that hang after each so many seconds. */
#define LIVENESS_LOOK_SECONDS 0.5

/* A supervisor keeps in it what it knows of a worker's turns; it is all zero at first. */
struct liveness_watch {
    unsigned turns;
    double changed; /* the time when another turn was seen, or when nobody looked */
    double looked;
};

/* Looks at the turns of another process. Returns the seconds for which there was none; wake the
   process when they are above 0, since it may only have nothing to do. */
double liveness_look(struct liveness_watch *watch, const struct counters *counters, double now);

/* Returns whether a process that has not turned for so long, though it was woken, hangs. One that
   waits for the processor does not, and one that does nothing but calculate is left to its own
   watchdog. */
bool liveness_hangs(double seconds, pid_t process);

#endif
