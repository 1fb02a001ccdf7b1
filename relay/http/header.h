/* The headers of a request. */
#ifndef CAUSEWAY_RELAY_HEADER_H
#define CAUSEWAY_RELAY_HEADER_H

#include <libwebsockets.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes of the longest value that is read. Requests with a longer one are refused. */
#define HTTP_HEADER_MAX 512

/* Copies the value of a header; "" when there is none. Returns false when the value does not fit.
 */
bool header_copy(struct lws *wsi, enum lws_token_indexes token, char *out, size_t capacity);

/* Copies the value of a header for which libwebsockets has no token; its name is in small letters,
   with the colon. Only the first of several such lines is read. */
bool header_copy_named(struct lws *wsi, const char *name, char *out, size_t capacity);

/* Returns false when the line of the request did not come to its end, the version. libwebsockets
   decodes a path before it looks for the end of the line. So a %0A in the path ends the line, and
   the rest would be a header of the client's making, before those of a proxy, which has seen
   nothing but a path. */
bool header_line_whole(struct lws *wsi);

#endif
