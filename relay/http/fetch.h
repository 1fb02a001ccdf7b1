/* Requests to other servers over HTTP and HTTPS. The servers' certificates must be valid. */
#ifndef CAUSEWAY_RELAY_FETCH_H
#define CAUSEWAY_RELAY_FETCH_H

#include "os/loop.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the longest answer, and of the longest URL with its terminator. */
#define FETCH_BODY_MAX 65536
#define FETCH_URL_MAX  1024

/* A whole answer must come within this many seconds. */
#define FETCH_SECONDS 10.0

struct fetch_answer {
    const char *error; /* why there is no answer with the status 200 or 201; NULL = there is one */
    const char *body;  /* ended by a zero byte */
    size_t size;
};

/* A request that is under way. */
struct fetch;

struct fetch_request {
    const char *url;
    const char *type; /* the content type of a body that is POSTed; NULL = a GET */
    const char *body; /* NULL = none; copied */
    /* This is called once, unless the request is cancelled. The answer is gone afterwards. */
    void (*answered)(void *context, const struct fetch_answer *answer);
    void *context;
};

/* Returns whether this is an http: or https: URL that can be fetched. */
bool fetch_takes(const char *url);

/* Adds the vhost of such requests to a loop. Returns NULL when the system refuses. */
struct lws_vhost *fetch_add_vhost(struct loop *loop);

/* Begins a request; `answered` is called later, never from here. Returns NULL without memory. */
struct fetch *fetch_begin(struct loop *loop, struct lws_vhost *vhost,
                          const struct fetch_request *request);

/* Cancels a request before its answer. NULL is allowed. */
void fetch_cancel(struct fetch *fetch);

#endif
