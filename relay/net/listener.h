/* Listening TCP sockets; what they accept is no session yet. */
#ifndef CAUSEWAY_RELAY_LISTENER_H
#define CAUSEWAY_RELAY_LISTENER_H

#include "net/loop.h"
#include "net/pre_session_limit.h"

struct listener;

/* Opens one at "host:port"; [::] takes IPv4 too. NULL when it cannot, after logging why. */
struct listener *listener_create(const char *text, struct loop *loop,
                                 struct pre_session_limit *pre_sessions);

/* Logs where it listens. */
void listener_announce(const struct listener *listener);

/* The port that it listens on. */
unsigned listener_port(const struct listener *listener);

/* Closes it; connections that it accepted stay. NULL is allowed. */
void listener_destroy(struct listener *listener);

#endif
