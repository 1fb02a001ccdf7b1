/* HTTP: static files, requests to other parts of the relay, and the way in for WebSockets. */
#ifndef CAUSEWAY_RELAY_HTTP_H
#define CAUSEWAY_RELAY_HTTP_H

#include "http/origin.h"
#include "http/reply.h"
#include "net/loop.h"
#include "net/socket_address.h"
#include "net/stats.h"

#include <libwebsockets.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A request that has come whole. All pointers are good until the handler returns. */
struct http_request {
    const char *method;       /* "POST" or "DELETE" */
    const char *path;         /* "/rtc/17", decoded, without the query */
    const char *content_type; /* "" when the client sent none, as with the next two */
    const char *authorization;
    const char *host;
    const uint8_t *body;
    size_t size;
    struct socket_address client; /* where the request came from */
    struct socket_address local;  /* the relay's own address that it came to */
};

/* The handler fills it; it comes with status 200 and nothing else. */
struct http_reply {
    unsigned status;
    const char *content_type; /* constant text; NULL without a body */
    char location[128];       /* "" for none */
    unsigned retry_after;     /* seconds; 0 = not said */
    uint8_t body[REPLY_BODY_MAX];
    size_t size;
};

/* What takes the requests to a path and to all paths below it. The layer in front has checked the
   Origin header by then, and answers OPTIONS and adds the CORS headers itself. */
struct http_route {
    const char *path; /* "/rtc" */
    size_t body_max;  /* longer bodies get 413 */
    void (*handle)(void *context, const struct http_request *request, struct http_reply *reply);
    void *context;
};

struct http;

/* Makes it; root (NULL = no files) must be a directory that exists, else NULL with errno. origins
   and stats outlive it. */
struct http *http_create(const char *root, const struct origin_list *origins, struct loop *loop,
                         struct stats *stats);

/* Closes the connections of which libwebsockets no longer knows; to be called before loop_destroy,
   which closes the others. NULL is allowed. */
void http_close(struct http *http);

/* Frees it, after loop_destroy. NULL is allowed. */
void http_destroy(struct http *http);

/* Adds a route (copied), at most 4. */
void http_add_route(struct http *http, const struct http_route *route);

/* The entry of the vhost's protocol list, which must be the first. Its user pointer is the address
   of a variable that holds the object. */
struct lws_protocols http_protocol(struct http **http);

#endif
