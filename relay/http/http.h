/* The HTTP server: it takes the requests of a listener's connections, checks them, and has each
   answered by the handler of its route, in one place for pages, signalling, redirects and the
   admin listener. It also lets WebSockets through.

   libwebsockets speaks TLS, parses requests and receives the frames of WebSockets. It is worked
   round where a trial of its version 4.1.6 found it to fail, and nowhere else:
   - The heads of the requests of trusted proxies are read before it reads them (request_head.h),
     because it hides some headers that a proxy adds behind those of a client.
   - Every response ends its connection (struct exchange), because it reads a request that came
     together with the one before into a buffer that is written over, and can loop for ever over the
     bodies of two.
   - Responses are written to the socket here (transmission.h). While libwebsockets sends a file, it
     looks over and over, at full load, at what the client sends without reading it.
   - A connection whose response has gone is left open until its client has read it (os/linger.h),
     because libwebsockets closes it, and TCP then resets it when more comes from the client.
   - A line break that is encoded in a path is refused (request.c), because libwebsockets takes it
     for the end of the line.
   - CONNECT is refused in a callback of its own, because libwebsockets would keep the connection
   for ever, and read whatever comes.
   - Frames to a browser are built in websocket.c, because libwebsockets makes one system call for
     each, and cuts a connection in which a message follows its close before the browser sees the
     close code.
   - TLS handshakes wait for their turn in a filter below it (limits/tls_turns.h), since it has no
     limit for them. */
#ifndef CAUSEWAY_RELAY_HTTP_H
#define CAUSEWAY_RELAY_HTTP_H

#include "http/pages.h"
#include "http/request.h"
#include "http/response.h"
#include "os/linger.h"
#include "os/loop.h"
#include "stats/stats.h"

#include <libwebsockets.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The body_max of a route whose requests may have any body, which is not read. */
#define HTTP_BODY_UNREAD SIZE_MAX

/* Answers a request, which is gone when this returns. Returns false when the response is given to
   http_answer instead, now or later. */
typedef bool http_handler(void *context, const struct http_request *request,
                          struct http_response *response);

/* This says who may make a request. */
enum http_access {
    HTTP_ANYBODY,
    HTTP_PAGES,    /* only pages of allowed origins, whose browsers are told so (CORS) */
    HTTP_NO_PAGES, /* no pages: no request with an Origin, or with a host that is a name */
};

struct http_route {
    /* The path; one that ends with a slash stands for all below it. When a path leads to several
       routes, the longest counts. Routes with the same path have different methods. */
    const char *path;
    unsigned methods; /* a set of enum http_method; GET stands for HEAD too */
    enum http_access access;
    size_t body_max; /* a request with a longer body is refused */
    http_handler *handle;
    void *context;
};

struct http_config {
    struct loop *loop;
    struct lws_vhost *vhost; /* the vhost that serves the connections */
    struct lingers *lingers;
    const struct http_pages *pages; /* NULL when no page may ask */
    struct stats *stats;            /* NULL when there are no pages */
    bool websockets;                /* the vhost has a protocol for WebSockets */
    /* the seconds for which browsers are told to come by HTTPS only; 0 = they are told nothing */
    unsigned hsts_seconds;
};

struct http;

/* Sets what every vhost with connections of this server needs. */
void http_fill_info(struct lws_context_creation_info *info);

/* Returns the entry for the list of protocols of such a vhost; it must be the first one there. With
   TLS, the user pointer of the vhost is its struct tls. */
struct lws_protocols http_protocol(void);

/* Adds a vhost without TLS. Returns NULL when libwebsockets refuses. */
struct lws_vhost *http_add_plain_vhost(struct loop *loop);

/* Creates a server without routes. Everything in config must outlive it. Returns NULL when there is
   no memory. */
struct http *http_create(const struct http_config *config);

/* Frees the server. Call it after loop_destroy. NULL is allowed. */
void http_destroy(struct http *http);

/* Adds a route, which is copied. There may be 16 routes. */
void http_add_route(struct http *http, const struct http_route *route);

/* Answers the request with a ticket, unless its client has gone. Takes over the response. */
void http_answer(struct http *http, uint64_t ticket, struct http_response *response);

/* Checks the Origin header of a request, or of a WebSocket that has been established, and copies it
   out. A refusal is counted and logged. */
bool http_allows(struct http *http, struct lws *wsi, char origin[HTTP_HEADER_MAX]);

/* Returns the vhost that serves the connections. */
struct lws_vhost *http_vhost(const struct http *http);

#endif
