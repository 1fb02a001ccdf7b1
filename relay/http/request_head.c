#include "http/request_head.h"

#include <string.h>
#include <strings.h>

/* A line without its end, which libwebsockets sees at \n, with or without \r before it. */
struct line {
    const char *text;
    size_t size;
};

/* Takes the next line off the rest of the head. Returns false when the line's end has not come. */
static bool next_line(const char **at, const char *end, struct line *out)
{
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    if (!newline)
        return false;
    *out = (struct line){*at, (size_t)(newline - *at)};
    if (out->size > 0 && newline[-1] == '\r')
        out->size--;
    *at = newline + 1;
    return true;
}

static bool is(const struct line *line, const char *name)
{
    const size_t size = strlen(name);
    return line->size >= size && strncasecmp(line->text, name, size) == 0;
}

/* Returns whether a line is a header: "Name:", with a token as RFC 9110 has it. A header that is
   folded into several lines is not, as the RFC allows a server to refuse it. Nor is a line with a
   zero in it, which would end the text of the value. */
static bool is_header(const struct line *line)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    size_t size = 0;
    for (; size < line->size && line->text[size] != ':'; size++) {
        const unsigned char c = (unsigned char)line->text[size];
        const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (!letter && (c < '0' || c > '9') && !(c && strchr(marks, c)))
            return false;
    }
    return size > 0 && size < line->size && !memchr(line->text, '\0', line->size);
}

enum request_head request_head_read(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data;
    const char *const end = at + size;
    struct line line;
    for (bool first = true; next_line(&at, end, &line); first = false) {
        if (line.size == 0)
            return REQUEST_HEAD_WHOLE;
        if (!first && !is_header(&line))
            return REQUEST_HEAD_MALFORMED;
    }
    return REQUEST_HEAD_MORE;
}

bool request_head_value(const uint8_t *data, size_t size, const char *name, char *out,
                        size_t capacity)
{
    static const char separator[] = ", ";
    const size_t name_size = strlen(name);
    const char *at = (const char *)data;
    const char *const end = at + size;
    struct line line;
    size_t used = 0;
    out[0] = '\0';
    while (next_line(&at, end, &line) && line.size > 0) {
        if (!is(&line, name))
            continue;
        const size_t between = used > 0 ? strlen(separator) : 0;
        const size_t value = line.size - name_size;
        if (used + between + value >= capacity)
            return false;
        memcpy(out + used, separator, between);
        memcpy(out + used + between, line.text + name_size, value);
        used += between + value;
        out[used] = '\0';
    }
    return true;
}
