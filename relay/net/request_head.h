/* What libwebsockets does not show of the head of a request: of several lines of a header that it
   has no token for, all but the first. */
#ifndef CAUSEWAY_RELAY_REQUEST_HEAD_H
#define CAUSEWAY_RELAY_REQUEST_HEAD_H

#include <stddef.h>
#include <stdint.h>

enum request_head {
    REQUEST_HEAD_MORE,  /* its end has not come: ask again with more bytes */
    REQUEST_HEAD_WHOLE, /* the header is there once, or not at all */
    REQUEST_HEAD_TWICE  /* the header is there more often */
};

/* Reads the first bytes of a request. `once` is a header's name with its colon, in any letters. */
enum request_head request_head_read(const uint8_t *data, size_t size, const char *once);

#endif
