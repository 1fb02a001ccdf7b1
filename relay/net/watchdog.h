/* Ends the process when its event loop does not turn any more, so that a supervisor starts it anew:
   stuck, it would serve nobody and not even stop. Time is processor time. A loop that waits for
   events uses none, nor does a process that is stopped or does not get its turn on a busy machine;
   one that is caught in a loop without end has nothing else to use. */
#ifndef CAUSEWAY_RELAY_WATCHDOG_H
#define CAUSEWAY_RELAY_WATCHDOG_H

#include <stdbool.h>

/* From now on the process must call watchdog_turn before it has used `seconds` more of processor
   time since the last call. Otherwise it writes what it is doing to standard error (one line, then
   its stack) and ends with SIGABRT, at most a quarter later. There is one in a process; it takes
   SIGPROF and the timer of that name, and SIGALRM in the end. False when the system refuses. */
bool watchdog_start(double seconds);

/* The loop has turned. No system call. */
void watchdog_turn(void);

void watchdog_stop(void);

#endif
