/* The relay as several processes (--workers). This one, the supervisor, serves nobody. It opens all
   sockets, starts the workers, starts those again that die, and knows the sessions that one worker
   can take over from another. */
#ifndef CAUSEWAY_RELAY_SUPERVISOR_H
#define CAUSEWAY_RELAY_SUPERVISOR_H

#include "options/options.h"
#include "process/startup.h"

#include <stdbool.h>

/* Runs until a signal has ended all workers, or other processes have taken over. Logs why and
   returns false when it cannot start. The startup is used up. */
bool supervisor_run(const struct options *options, struct startup *startup);

#endif
