/* One HTTP reply while it is being written. Each says "connection: close"; struct exchange in
   http.c tells why. */
#ifndef CAUSEWAY_RELAY_REPLY_H
#define CAUSEWAY_RELAY_REPLY_H

#include <libwebsockets.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPLY_BODY_MAX 4096

/* Bytes for the status line and the headers, one of which may hold a path. */
#define REPLY_HEAD_MAX (PATH_MAX + 2048)

struct reply {
    struct lws *wsi;
    unsigned char *end; /* the end of what has been written */
    unsigned char bytes[LWS_PRE + REPLY_HEAD_MAX + REPLY_BODY_MAX];
};

/* Begins the reply to wsi's request. type is its Content-Type, or NULL for a reply without a body
   and without a length. This and the other functions return false when there is no room. */
bool reply_begin(struct reply *reply, struct lws *wsi, unsigned status, const char *type,
                 uint64_t size);

/* Adds a header. name ends with a colon. */
bool reply_add(struct reply *reply, const char *name, const char *value);

/* Ends the head, which begins at bytes[LWS_PRE], and returns its size. Returns 0 when there is no
   room. */
size_t reply_head(struct reply *reply);

/* Ends the head and sends it, with a body of at most REPLY_BODY_MAX bytes unless the request was a
   HEAD. Returns false when the connection is broken. */
bool reply_send(struct reply *reply, const void *body, size_t size);

#endif
