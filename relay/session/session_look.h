/* The open sessions as the operator sees and ends them. */
#ifndef CAUSEWAY_RELAY_SESSION_LOOK_H
#define CAUSEWAY_RELAY_SESSION_LOOK_H

#include "os/prefix.h"
#include "os/socket_address.h"
#include "session/blocks.h"
#include "session/traffic.h"
#include "stats/gauges.h"

#include <stdbool.h>
#include <stddef.h>

struct sessions;

#define SESSIONS_TRANSPORTS_MAX 4

/* Takes time in proportion to their number. */
void sessions_look(const struct sessions *sessions, struct gauges *out);

/* What the operator may know of a session. Plain data, so that it can come from another process. */
struct session_facts {
    unsigned long id;
    double age_seconds;
    struct socket_address client; /* of its newest or last link */
    struct socket_address server;
    struct socket_address source; /* from which the game server hears it; all zero = it has not */
    bool answered;
    unsigned transports[SESSIONS_TRANSPORTS_MAX]; /* of its links, the newest first, see gauges.h */
    unsigned transport_count;
    double rtt; /* seconds of a round trip to the browser; NAN when it is not known */
    struct traffic traffic;
};

/* Writes the sessions with a higher number than `after` that are not ending, by number, up to
   `most` of them. Returns how many; *more tells whether there are others. */
unsigned sessions_list(const struct sessions *sessions, unsigned long after, size_t most,
                       struct session_facts *out, bool *more);

/* Ends the session with this number, because the operator says so. False when there is none. */
bool sessions_end_one(struct sessions *sessions, unsigned long id);

/* Ends those whose newest or last link came from the prefix. Returns how many. */
unsigned sessions_end_of(struct sessions *sessions, const struct prefix *prefix);

/* The blocked prefixes, from which no link is taken. */
struct blocks *sessions_blocks(struct sessions *sessions);

/* True when all places are taken, even if some would give way. */
bool sessions_full(const struct sessions *sessions);

#endif
