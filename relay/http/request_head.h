/* The head of a request as it came, which libwebsockets does not show. If a header for which it has
   no token comes in several lines, libwebsockets shows the first. It also takes the next line for a
   part of such a header when that line has no colon, or when its name is the beginning of a name
   that libwebsockets knows (H, X-A). */
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
