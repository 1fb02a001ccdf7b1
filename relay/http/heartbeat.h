/* Asks every connection from time to time whether it is still there. */
#ifndef CAUSEWAY_RELAY_HEARTBEAT_H
#define CAUSEWAY_RELAY_HEARTBEAT_H

#include "os/loop.h"

#include <stdbool.h>

/* The heartbeat of one connection. Embed it there, and zero it before heartbeat_start. */
struct heartbeat {
    void *owner; /* NULL when it is not watched */
    struct heartbeat *older;
    struct heartbeat *newer;
    double due;
    bool asked; /* it was asked, and nothing has come from it since */
};

struct heartbeats {
    struct loop *loop;
    double interval;          /* seconds between two questions; 0 = never ask */
    void (*ask)(void *owner); /* sends a ping */
    /* called when the connection did not answer for an interval and is no longer watched */
    void (*lost)(void *owner);
    struct loop_timer timer;
    struct heartbeat *oldest;
    struct heartbeat *newest;
};

/* Sets the members of a zeroed struct. */
void heartbeats_init(struct heartbeats *heartbeats, struct loop *loop, double interval,
                     void (*ask)(void *owner), void (*lost)(void *owner));

/* Watches a connection until heartbeat_stop, or until it is lost. */
void heartbeat_start(struct heartbeats *heartbeats, struct heartbeat *heartbeat, void *owner);

/* Notes that the connection was heard. */
void heartbeat_received(struct heartbeat *heartbeat);

/* Stops watching a connection. It may be called again, or without a start. */
void heartbeat_stop(struct heartbeats *heartbeats, struct heartbeat *heartbeat);

#endif
