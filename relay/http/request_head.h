/* The head of a request as it came, which libwebsockets does not show. If a header for which it has
   no token comes in several lines, libwebsockets shows the first. And it takes the line behind such
   a header for a part of it, when that line has no colon, or a name that is the beginning of a
   header's name which it knows (H, X-A). */
#ifndef CAUSEWAY_RELAY_REQUEST_HEAD_H
#define CAUSEWAY_RELAY_REQUEST_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum request_head {
    REQUEST_HEAD_MORE, /* the end of the head has not come: ask again with more bytes */
    REQUEST_HEAD_WHOLE,
    REQUEST_HEAD_MALFORMED /* a line is no header: it has no name with a colon behind it */
};

/* Reads the first bytes of a request. */
enum request_head request_head_read(const uint8_t *data, size_t size);

/* Copies the value of a header of a whole head, with ", " between the values of several lines; ""
   when the header is not there. `name` is the header's name with its colon, in any letters. Returns
   false when the value is too long. */
bool request_head_value(const uint8_t *data, size_t size, const char *name, char *out,
                        size_t capacity);

#endif
