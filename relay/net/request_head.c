#include "net/request_head.h"

#include <string.h>
#include <strings.h>

/* Lines end where they do for libwebsockets: at \n, with or without \r before it. */
enum request_head request_head_read(const uint8_t *data, size_t size, const char *once)
{
    const size_t name_size = strlen(once);
    const char *line = (const char *)data;
    const char *const end = line + size;
    const char *next;
    unsigned lines = 0;
    for (; (next = memchr(line, '\n', (size_t)(end - line))); line = next + 1) {
        const size_t length = (size_t)(next - line);
        if (length == 0 || (length == 1 && *line == '\r'))
            return lines > 1 ? REQUEST_HEAD_TWICE : REQUEST_HEAD_WHOLE;
        if (length >= name_size && strncasecmp(line, once, name_size) == 0)
            lines++;
    }
    return REQUEST_HEAD_MORE;
}
