/* A look at the open sessions, for the operator. */
#ifndef CAUSEWAY_RELAY_SESSION_LOOK_H
#define CAUSEWAY_RELAY_SESSION_LOOK_H

#include "net/socket_address.h"
#include "session/traffic.h"

#include <stdbool.h>
#include <stddef.h>

struct sessions;

#define SESSIONS_TRANSPORTS_MAX 4

/* How they are now. */
struct sessions_now {
    unsigned open; /* including those that are ending */
    unsigned max;
    unsigned unanswered; /* by the game server */
    unsigned waiting;    /* for a link */
    struct {
        const char *name;
        unsigned links; /* over it, of sessions */
    } transports[SESSIONS_TRANSPORTS_MAX];
    unsigned transport_count; /* that have links */
    char upstream[SOCKET_ADDRESS_TEXT];
    bool upstream_up; /* false: the latest that was sent there says that nobody is there */
};

/* Takes time in proportion to their number. */
void sessions_look(const struct sessions *sessions, struct sessions_now *out);

/* True when all places are taken, even if some would give way. */
bool sessions_full(const struct sessions *sessions);

#endif
