/* Asks every connection now and then whether it is still there. */
#ifndef CAUSEWAY_RELAY_HEARTBEAT_H
#define CAUSEWAY_RELAY_HEARTBEAT_H

#include "net/loop.h"

#include <stdbool.h>

/* One connection's; embedded in it and zeroed before heartbeat_start. */
struct heartbeat {
    void *owner; /* NULL when it is not watched */
    struct heartbeat *older;
    struct heartbeat *newer;
    double due;
    bool asked; /* and nothing heard since */
};

struct heartbeats {
    struct loop *loop;
    double interval;           /* seconds from one question to the next; 0 = none are asked */
    void (*ask)(void *owner);  /* send a ping */
    void (*lost)(void *owner); /* it did not answer for an interval, and is not watched any more */
    struct loop_timer timer;
    struct heartbeat *oldest;
    struct heartbeat *newest;
};

/* Sets the members of a zeroed struct. */
void heartbeats_init(struct heartbeats *all, struct loop *loop, double interval,
                     void (*ask)(void *owner), void (*lost)(void *owner));

/* Watches a connection, until heartbeat_stop or until it is lost. */
void heartbeat_start(struct heartbeats *all, struct heartbeat *heartbeat, void *owner);

/* Something came from it. */
void heartbeat_heard(struct heartbeat *heartbeat);

/* May be called again, and when it was never started. */
void heartbeat_stop(struct heartbeats *all, struct heartbeat *heartbeat);

#endif
