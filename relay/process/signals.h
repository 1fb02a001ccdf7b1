/* The signals that a process of the relay takes in its loop: SIGTERM, SIGINT, SIGHUP, SIGUSR1 and
   SIGUSR2. */
#ifndef CAUSEWAY_RELAY_SIGNALS_H
#define CAUSEWAY_RELAY_SIGNALS_H

#include "os/loop.h"

#include <stdbool.h>

struct signals {
    struct loop_watch watch; /* its fd is -1 when it is not open */
    void (*take)(void *context, int signal_number);
    void *context;
};

/* Makes the loop call `take` for each of these signals. Returns false, with errno, when the system
   refuses. */
bool signals_open(struct signals *signals, struct loop *loop);

/* Stops taking the signals. */
void signals_close(struct signals *signals);

#endif
