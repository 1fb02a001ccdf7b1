/* A request, as libwebsockets has parsed it. */
#ifndef CAUSEWAY_RELAY_REQUEST_H
#define CAUSEWAY_RELAY_REQUEST_H

#include "http/status.h"
#include "os/socket_address.h"
#include "os/text.h"

#include <libwebsockets.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest value of a header that is read. Requests with a longer one are refused. */
#define HTTP_HEADER_MAX 512

/* Bytes of the longest query that is read, with all of it encoded. */
#define HTTP_QUERY_MAX (3 * HTTP_HEADER_MAX)

/* The methods; a set of them is a sum. */
enum http_method {
    HTTP_GET = 1,
    HTTP_HEAD = 2,
    HTTP_POST = 4,
    HTTP_DELETE = 8,
    HTTP_OPTIONS = 16,
    HTTP_OTHER = 32,
    HTTP_ANY = 63,
};

struct http_request {
    enum http_method method;
    char path[PATH_MAX]; /* "/rtc/17", decoded, without the query */
    const char *rest;    /* the part of the path behind that of the route */
    /* "limit=10&after=17", encoded; "" when there is none, or when `long_query` says that it is too
       long */
    char query[HTTP_QUERY_MAX];
    bool long_query;
    char content_type[128]; /* "" when the client sent none; the next two are too */
    char host[HTTP_HEADER_MAX];
    char origin[HTTP_HEADER_MAX];
    char known_etag[128]; /* the value of If-None-Match; "" when it is too long, too */
    int64_t length;       /* bytes that the body is to have; -1 when the request does not say */
    const char *body;     /* `size` bytes, and a zero behind them */
    size_t size;
    struct socket_address client; /* the client that asks, even behind a trusted proxy */
    struct socket_address local;  /* the address of the relay to which the request came */
    uint64_t ticket;              /* for http_answer */
};

/* Copies the value of a header; "" when there is none. Returns false when the value does not fit.
 */
bool header_copy(struct lws *wsi, enum lws_token_indexes token, char *out, size_t capacity);

/* Copies the value of a header for which libwebsockets has no token; its name is in small letters,
   with the colon. Only the first of several such lines is read. */
bool header_copy_named(struct lws *wsi, const char *name, char *out, size_t capacity);

/* Checks the line of a request, and how it tells the length of its body, which *length becomes; -1
   when the request does not say. Returns HTTP_OK, or the status that refuses the request with the
   reason in *why. */
enum http_status_code request_check(struct lws *wsi, int64_t *length, const char **why);

/* Reads all of a request but its body, ticket and client. Returns as request_check does. */
enum http_status_code request_read(struct lws *wsi, struct http_request *out, const char **why);

/* Adds a part of an address, encoded. */
void request_encode(struct text *out, const char *part, size_t size);

#endif
