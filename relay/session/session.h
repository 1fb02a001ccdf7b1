/* A session: one browser on one side, one connected UDP socket to the game server on the other.
   Limits, counters and the idle timeout live here and are the same for every transport. */
#ifndef CAUSEWAY_RELAY_SESSION_H
#define CAUSEWAY_RELAY_SESSION_H

#include "net/loop.h"
#include "net/socket_address.h"
#include "net/stats.h"
#include "session/allowance.h"
#include "session/datagram.h"
#include "session/gate.h"
#include "session/transport.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;
struct sessions;

struct sessions_config {
    struct socket_address upstream;    /* the game server: the only place datagrams go to */
    struct gate gate;                  /* what may go there */
    struct allowance_limits allowance; /* and how much of it, from each session */
    unsigned max_sessions;             /* over all transports */
    unsigned max_per_address;          /* 0 = no limit; an IPv6 address counts by its /64 */
    double request_timeout_seconds;    /* until a datagram has passed the gate */
    double answer_timeout_seconds;     /* from then until the game server has answered */
    double idle_timeout_seconds;       /* without a datagram either way; 0 = never */
};

/* Why session_open gave none. */
enum session_refusal {
    SESSION_REFUSED_NOT,
    SESSION_REFUSED_FULL,
    SESSION_REFUSED_ADDRESS,
    SESSION_REFUSED_DRAINING,
    SESSION_REFUSED_MEMORY,
};

/* What a browser is told that got none. */
const struct session_farewell *session_refusal_farewell(enum session_refusal why);

/* Makes the set of all sessions. loop and stats outlive it. NULL when there is no memory. */
struct sessions *sessions_create(const struct sessions_config *config, struct loop *loop,
                                 struct stats *stats);

/* Frees the set; every session has been closed before. NULL is allowed. */
void sessions_destroy(struct sessions *sessions);

/* Sessions that are open, those that are ending included. */
unsigned sessions_count(const struct sessions *sessions);

/* Ends every session with SESSION_END_DRAIN and refuses new ones. `drained` is called once, when
   the last is closed (at once when there is none). */
void sessions_drain(struct sessions *sessions, void (*drained)(void *context), void *context);

/* Begins the session of a browser at the address `client` over `transport`; `link` is handed back
   in every call of the transport. When all places are taken, the oldest session that the game
   server has not answered is ended for it, unless the client has opened more of late. NULL when it
   is refused, then *why tells the reason, which has been counted. No socket is opened before the
   first datagram. */
struct session *session_open(struct sessions *sessions, const struct transport *transport,
                             void *link, const struct socket_address *client,
                             enum session_refusal *why);

/* A datagram from the browser, on its way to the game server. An empty or oversized one ends the
   session, and so do several that the gate does not let pass; till then they are dropped. Returns
   false when it came beyond the session's allowance and has been dropped, so that the browser had
   better be held back, or when the session is ending (the transport's close has been called, now or
   earlier) and nothing more need be given to it. */
bool session_receive(struct session *session, const uint8_t *data, size_t size);

/* Counts a datagram of a browser that was given no session, as session_receive does one whose
   session is ending. */
void sessions_discard(struct sessions *sessions, size_t size);

/* The relay wants the session to end: counts the reason and calls the transport's close. Does
   nothing when it is ending already. */
void session_end(struct session *session, enum session_end why);

/* The transport is done with the session: frees it. Exactly once per session_open. */
void session_close(struct session *session);

/* Sends what session_receive has gathered; the loop's turn. */
void sessions_flush(struct sessions *sessions);

/* Brings stats up to date with what found the sockets of open sessions full. */
void sessions_count_overflow(struct sessions *sessions);

/* A number that names the session in log lines. */
unsigned long session_id(const struct session *session);

#endif
