/* The WebSocket transport: one binary message is one datagram. */
#ifndef CAUSEWAY_RELAY_WEBSOCKET_H
#define CAUSEWAY_RELAY_WEBSOCKET_H

#include "http/http.h"
#include "session/session.h"
#include "session/subflows.h"

#include <libwebsockets.h>

struct websockets;

struct websockets_config {
    struct http *http;            /* checks which origins are allowed */
    size_t queue_bytes;           /* the most bytes that may wait for one browser */
    double queue_age_seconds;     /* the most seconds that a datagram may wait for a browser */
    double ping_interval_seconds; /* 0 = never */
};

/* Creates the transport. The other objects must outlive it. Returns NULL when there is no memory.
 */
struct websockets *websockets_create(const struct websockets_config *config, struct loop *loop,
                                     struct sessions *sessions, struct stats *stats);
void websockets_destroy(struct websockets *websockets);

/* Returns an entry for the vhost's list of protocols, which needs all: that of the subflow with a
   number, or with 0 that of WebSockets that are none. Its user pointer is the address of a
   variable that holds the transport, which may be created after the vhost. */
#define WEBSOCKET_PROTOCOLS (1 + SUBFLOWS_MAX)
struct lws_protocols websocket_protocol(struct websockets **websockets, unsigned subflow);

#endif
