/* Connections that are not sessions (yet), and how many there may be for one address and
   altogether. If anyone could open any number of them, they would take all descriptors, and the
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
   browser uses to load a page. stats must outlive it. NULL when there is no memory. */
struct pre_session_limit *pre_session_limit_create(unsigned max, unsigned max_per_address,
                                                   struct stats *stats);

/* Connections to this vhost begin with a TLS handshake, which costs more than all else that a
   stranger may ask for. So one address may open only as many of them in a minute as at a time, and
   all take turns, first those of addresses that have made no more of late than a browser does for a
   page. */
void pre_session_limit_set_tls(struct pre_session_limit *limit, const struct lws_vhost *vhost,
                               struct tls_turns *turns);

/* Changes the limit for sessions of one address. Nobody is closed for it. */
void pre_session_limit_set(struct pre_session_limit *limit, unsigned max_per_address);

/* Frees the set. All connections must have left. NULL is allowed. */
void pre_session_limit_destroy(struct pre_session_limit *limit);

/* Returns how many connections are in it. */
unsigned pre_session_limit_count(const struct pre_session_limit *limit);

/* True when one more may enter. Otherwise the oldest ones are being closed and counted, and there
   is room in the next turn of the loop. An address that has no more than a browser needs keeps them
   as long as there are others to close. */
bool pre_session_limit_room(struct pre_session_limit *limit);

/* Sets whether a connection counts for its address: that of a proxy is for many clients. */
enum pre_session_counting { PRE_SESSION_COUNTED, PRE_SESSION_UNCOUNTED };

/* A connection begins with this. */
struct pre_session_start {
    struct socket_address client;
    enum pre_session_counting counting;
    const char *forwarded; /* see pre_session_limit_forwarded; copied */
};

/* Gives a connection to libwebsockets, or closes and counts it when its address has too many, or
   has had too many lately. */
void pre_session_limit_enter(struct pre_session_limit *limit, struct lws_vhost *vhost, int fd,
                             const struct pre_session_start *start);

/* Returns the entry of a connection that has not left; NULL for another. */
const struct socket_address *pre_session_limit_client(struct lws *wsi);

/* The value of the header in which its proxy says whose its request is, "" when there is none. NULL
   when it was not read before libwebsockets did. */
const char *pre_session_limit_forwarded(struct lws *wsi);

/* A proxy's request has told whose the connection really is, for whom it counts from now on. False
   when that address has too many, which is counted. */
bool pre_session_limit_move(struct lws *wsi, const struct socket_address *client);

/* True when it has been moved. */
bool pre_session_limit_moved(struct lws *wsi);

/* The connection has become a session, or is gone. May be called again, and for any libwebsockets
   connection without opaque data. */
void pre_session_limit_leave(struct lws *wsi);

#endif
