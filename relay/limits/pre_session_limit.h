/* This limits the connections that are not sessions (yet), for one address and altogether. If
   anyone could open any number of these connections, they would take all descriptors, and the
   limits for sessions would be useless. */
#ifndef CAUSEWAY_RELAY_PRE_SESSION_LIMIT_H
#define CAUSEWAY_RELAY_PRE_SESSION_LIMIT_H

#include "limits/tls_turns.h"
#include "os/socket_address.h"
#include "stats/stats.h"

#include <libwebsockets.h>
#include <stdbool.h>

struct pre_session_limit;

/* Creates the set, for at most `max` connections altogether. max_per_address is the limit for
   sessions, 0 = none; there may be six times as many connections, because that is how many a
   browser uses to load a page. stats must outlive it. Returns NULL when there is no memory. */
struct pre_session_limit *pre_session_limit_create(unsigned max, unsigned max_per_address,
                                                   struct stats *stats);

/* Limits the connections to this vhost as well, which begin with a TLS handshake. A handshake costs
   more than anything else that a stranger may ask for. So one address may open only as many such
   connections in a minute as at a time, and all take turns, first those of addresses that have made
   no more of late than a browser does for a page. */
void pre_session_limit_set_tls(struct pre_session_limit *limit, const struct lws_vhost *vhost,
                               struct tls_turns *turns);

/* Changes the limit for sessions of one address. No connection is closed for it. */
void pre_session_limit_set(struct pre_session_limit *limit, unsigned max_per_address);

/* Frees the set. All connections must have left. NULL is allowed. */
void pre_session_limit_destroy(struct pre_session_limit *limit);

/* Returns how many connections are in the set. */
unsigned pre_session_limit_count(const struct pre_session_limit *limit);

/* Returns whether one more may enter. Otherwise the oldest connections are being closed and
   counted, and there are places in the next turn of the loop. An address that has no more
   connections than a browser needs keeps them while there are others to close. */
bool pre_session_limit_room(struct pre_session_limit *limit);

/* Takes a place for a connection that is read before it enters, which is given back then. Returns
   false when such connections have more than half of all places: then the caller must end one. */
bool pre_session_limit_reserve(struct pre_session_limit *limit);

/* Gives a reserved place back. */
void pre_session_limit_unreserve(struct pre_session_limit *limit);

/* Says whether a connection counts for its address. A proxy's does not, since it is for many
   clients. */
enum pre_session_counting { PRE_SESSION_COUNTED, PRE_SESSION_UNCOUNTED };

/* This is known of a connection when it begins. */
struct pre_session_start {
    struct socket_address client;
    enum pre_session_counting counting;
    const char *forwarded;   /* see pre_session_limit_forwarded; copied */
    struct lws_vhost *vhost; /* the vhost that serves the connection */
    void *owner;             /* see pre_session_limit_owner */
};

/* Gives a connection to libwebsockets, or closes and counts it when its address has too many, or
   has had too many lately. */
void pre_session_limit_enter(struct pre_session_limit *limit, int fd,
                             const struct pre_session_start *start);

/* Returns the owner with which a connection began that has not left; NULL for another. */
void *pre_session_limit_owner(struct lws *wsi);

/* Returns the entry of a connection that has not left; NULL for another. */
const struct socket_address *pre_session_limit_client(struct lws *wsi);

/* Returns the value of the header in which the proxy says who its client is, "" when there is none.
   Returns NULL when the header was not read before libwebsockets read it. */
const char *pre_session_limit_forwarded(struct lws *wsi);

/* Counts a connection for another address from now on, that of the client which the proxy's request
   has named. Returns false when that address has too many, which is counted. */
bool pre_session_limit_move(struct lws *wsi, const struct socket_address *client);

/* Returns true when the connection has been moved. */
bool pre_session_limit_moved(struct lws *wsi);

/* Removes a connection that has become a session, or is gone. It may be called again, and for any
   libwebsockets connection without opaque data. */
void pre_session_limit_leave(struct lws *wsi);

#endif
