/* The head of a request, which libwebsockets does not show as it is: of several lines of a header
   that it has no token for, it shows the first; and it takes the line behind one for a part of it,
   when that has no colon, or a name with which the name of a header begins that it knows (H, X-A).
 */
#ifndef CAUSEWAY_RELAY_REQUEST_HEAD_H
#define CAUSEWAY_RELAY_REQUEST_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum request_head {
    REQUEST_HEAD_MORE,     /* its end has not come: ask again with more bytes */
    REQUEST_HEAD_WHOLE,    /* the header is there once, or not at all */
    REQUEST_HEAD_TWICE,    /* the header is there more often */
    REQUEST_HEAD_MALFORMED /* a line is no header: it has no name with a colon behind it */
};

/* Reads the first bytes of a request. `once` is a header's name with its colon, in any letters;
   NULL when every header may be there more often. */
enum request_head request_head_read(const uint8_t *data, size_t size, const char *once);

/* Copies the value of a header of a whole head, with ", " between those of several lines; "" when
   it is not there. `name` is as above. False when it is too long. */
bool request_head_value(const uint8_t *data, size_t size, const char *name, char *out,
                        size_t capacity);

#endif
