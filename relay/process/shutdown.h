/* The end of a relay: it drains first, or closes its sessions at once, or leaves them to a process
   that has taken over. The event loop is stopped when all is done, or when that takes too long. */
#ifndef CAUSEWAY_RELAY_SHUTDOWN_H
#define CAUSEWAY_RELAY_SHUTDOWN_H

#include "limits/pre_session_limit.h"
#include "os/loop.h"
#include "process/upgrade.h"
#include "session/session.h"

#include <stdbool.h>

enum shutdown_state {
    SHUTDOWN_SERVING,
    SHUTDOWN_DRAINING, /* newcomers are refused, sessions go on */
    SHUTDOWN_CLOSING,  /* sessions are being closed */
};

struct shutdown {
    struct loop *loop;
    struct sessions *sessions;
    struct pre_session_limit *pre_sessions;
    struct upgrade *upgrade;
    double drain_seconds; /* the most seconds of draining, on SIGTERM; 0 = none */
    /* makes the listeners refuse browsers; may be called again */
    void (*stop_listening)(void *context);
    void *context;
    enum shutdown_state state;
    struct loop_timer timer; /* expires when draining, closing or leaving has taken too long */
    /* expires when it is time to look again whether all requests have been answered */
    struct loop_timer poll;
};

/* Acts on SIGTERM or SIGINT. A second signal says to wait no longer. */
void shutdown_signal(struct shutdown *shutdown, int signal_number);

/* Leaves the sessions to another process, which serves them: closes the links, whose pages open
   others, and ends. Nothing listens any more. */
void shutdown_leave(struct shutdown *shutdown);

/* Stops the timers. */
void shutdown_cancel(struct shutdown *shutdown);

#endif
