/* HTTP: static files, requests to other parts of the relay, and WebSocket upgrades. */
#ifndef CAUSEWAY_RELAY_HTTP_H
#define CAUSEWAY_RELAY_HTTP_H

#include "http/pages.h"
#include "http/reply.h"
#include "os/loop.h"
#include "os/socket_address.h"
#include "stats/stats.h"

#include <libwebsockets.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A complete request. All pointers are valid until the handler returns. */
struct http_request {
    const char *method;       /* "POST" or "DELETE" */
    const char *path;         /* the path, "/rtc/17", decoded, without the query */
    const char *content_type; /* "" when the client sent none; the next three are too */
    const char *authorization;
    const char *host;
    const char *origin;
    const uint8_t *body;
    size_t size;
    struct socket_address client; /* the client that asks, even behind a trusted proxy */
    struct socket_address local;  /* the address of the relay to which the request came */
};

/* A reply that the handler fills in. It starts with status 200 and nothing else. */
struct http_reply {
    unsigned status;
    const char *content_type; /* constant text; NULL without a body */
    char location[128];       /* "" for none */
    unsigned retry_after;     /* seconds; 0 = none */
    uint8_t body[REPLY_BODY_MAX];
    size_t size;
};

/* A handler of the requests to a path and to all paths below it. The Origin header has been checked
   before a handler is called. OPTIONS is answered and the CORS headers are added without it. */
struct http_route {
    const char *path; /* "/rtc" */
    size_t body_max;  /* longer bodies get 413 */
    void (*handle)(void *context, const struct http_request *request, struct http_reply *reply);
    void *context;
};

struct http;

/* Creates the HTTP server. root must be an existing directory, or NULL to serve no files; otherwise
   NULL is returned, with errno. pages and stats must outlive the server. */
struct http *http_create(const char *root, const struct http_pages *pages, struct loop *loop,
                         struct stats *stats);

/* Tells browsers for how many seconds they are to come by HTTPS only (Strict-Transport-Security);
   0, as at first, says nothing. */
void http_set_hsts(struct http *http, unsigned seconds);

/* Checks the Origin header of a request, or of a WebSocket that has been established, and copies it
   out. A refusal is counted and logged. */
bool http_allows(struct http *http, struct lws *wsi, char origin[HTTP_HEADER_MAX]);

/* Closes the connections of which libwebsockets no longer knows. Call it before loop_destroy, which
   closes the others. NULL is allowed. */
void http_close(struct http *http);

/* Frees the server. Call it after loop_destroy. NULL is allowed. */
void http_destroy(struct http *http);

/* Adds a route, which is copied. There may be 4 routes. */
void http_add_route(struct http *http, const struct http_route *route);

/* Returns the entry for the vhost's list of protocols; it must be the first one there. Its user
   pointer is the address of a variable that holds the server. With TLS, the user pointer of the
   vhost is its struct tls. */
struct lws_protocols http_protocol(struct http **http);

#endif
