/* Connections from trusted proxies, before their clients are known: a proxy may begin a connection
   with a header of the PROXY protocol, or name the client in each request. */
#ifndef CAUSEWAY_RELAY_PROXY_CONNECTIONS_H
#define CAUSEWAY_RELAY_PROXY_CONNECTIONS_H

#include "http/http.h"
#include "limits/pre_session_limit.h"
#include "os/loop.h"
#include "os/prefix.h"

struct proxy_connections;

/* Creates the set. It reads the heads of requests from `trusted` addresses too, because
   libwebsockets hides some headers (see request_head.h); with NULL it reads none. TLS needs NULL:
   it hides the requests, which would wait in vain for their end. Everything given must outlive the
   set. Returns NULL when there is no memory. */
struct proxy_connections *proxy_connections_create(struct loop *loop,
                                                   struct pre_session_limit *pre_sessions,
                                                   struct stats *stats,
                                                   const struct prefix_list *trusted);

/* Closes the connections that are still being read, and frees the set. NULL is allowed. */
void proxy_connections_destroy(struct proxy_connections *connections);

/* Takes over the connection of a proxy. When its first bytes have come, it enters the pre-session
   limit: for the client that the header names, or else uncounted, until its request says more. The
   connection is closed when the header is malformed, its request is refused, nothing comes in time,
   or it is the oldest of those that have half of all places. */
void proxy_connection_begin(struct proxy_connections *connections, struct http *http, int fd,
                            const struct socket_address *proxy);

#endif
