/* Ends the process when its event loop no longer turns, so that a supervisor can start it again; a
   stuck relay would serve nobody and would not even stop. Time is processor time. A loop that waits
   for events uses none, nor does a process that is stopped or does not get its turn on a busy
   machine. One that is caught in an endless loop uses nothing else. */
#ifndef CAUSEWAY_RELAY_WATCHDOG_H
#define CAUSEWAY_RELAY_WATCHDOG_H

#include <stdbool.h>

/* Starts the watchdog. From now on the process must call watchdog_turn at least once in each
   `seconds` of processor time. Otherwise the watchdog writes what the process is doing to standard
   error (one line, then the stack) and ends it with SIGABRT, at most a quarter of the time later. A
   process has one watchdog, which uses SIGPROF with the timer of that name and, at the end,
   SIGALRM. Returns false when the system refuses. */
bool watchdog_start(double seconds);

/* Tells the watchdog that the loop has turned. Makes no system call. */
void watchdog_turn(void);

void watchdog_stop(void);

#endif
