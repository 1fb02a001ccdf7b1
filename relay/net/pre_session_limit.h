/* Connections that are no sessions, and how many of them there may be, of one address and in all:
   whoever could open any number would take all descriptors, and the limits of sessions would help
   nobody. */
#ifndef CAUSEWAY_RELAY_PRE_SESSION_LIMIT_H
#define CAUSEWAY_RELAY_PRE_SESSION_LIMIT_H

#include "net/socket_address.h"
#include "net/stats.h"

#include <libwebsockets.h>
#include <stdbool.h>

struct pre_session_limit;

/* Makes the set, for at most `max` in all. max_per_address is that of sessions, 0 = no limit; a
   browser may have six times as many connections, because it loads a page over so many. stats
   outlives it. NULL when there is no memory. */
struct pre_session_limit *pre_session_limit_create(unsigned max, unsigned max_per_address,
                                                   struct stats *stats);

/* Frees the set; all have left before. NULL is allowed. */
void pre_session_limit_destroy(struct pre_session_limit *limit);

/* True when one more may enter. Otherwise the oldest are being closed, which is counted: there is
   room in the next turn of the loop. An address that has no more than a browser needs keeps them
   for as long as there are others. */
bool pre_session_limit_room(struct pre_session_limit *limit);

/* Gives a connection from `client` to libwebsockets, or closes it when its address has too many,
   which is counted. */
void pre_session_limit_enter(struct pre_session_limit *limit, struct lws_vhost *vhost, int fd,
                             const struct socket_address *client);

/* The connection has become a session, or is gone. May be called again, and for any connection that
   libwebsockets has without opaque data. */
void pre_session_limit_leave(struct lws *wsi);

#endif
