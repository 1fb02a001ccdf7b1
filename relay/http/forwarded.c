#include "http/forwarded.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define ELEMENT_MAX 512

bool forwarded_header_parse(const char *text, enum forwarded_header *out)
{
    if (strcmp(text, "x-forwarded-for") == 0)
        *out = FORWARDED_X_FORWARDED_FOR;
    else if (strcmp(text, "forwarded") == 0)
        *out = FORWARDED_FORWARDED;
    else
        return false;
    return true;
}

const char *forwarded_name(const struct forwarded *forwarded)
{
    return forwarded_once(forwarded) ? "forwarded:" : "x-forwarded-for:";
}

bool forwarded_once(const struct forwarded *forwarded)
{
    return forwarded->header == FORWARDED_FORWARDED;
}

/* Returns whether a character is a quote that begins or ends a quoted string, not one inside it,
   behind a backslash. */
static bool is_quote(const char *list, const char *at)
{
    const char *before = at;
    if (*at != '"')
        return false;
    while (before > list && before[-1] == '\\')
        before--;
    return (at - before) % 2 == 0;
}

/* Returns the start of the last element of a list that ends at `end`; commas in quotes do not part
   elements. The list is read from its end, where a trusted proxy wrote: a quote that a client
   leaves open reaches no element behind the client's own. */
static const char *element_before(const char *list, const char *end)
{
    bool quoted = false;
    for (const char *at = end; at > list; at--) {
        if (is_quote(list, at - 1))
            quoted = !quoted;
        else if (at[-1] == ',' && !quoted)
            return at;
    }
    return list;
}

/* Copies a text without the white space around it, and without the quotes. Returns false when it is
   too long. */
static bool copy_bare(const char *text, size_t size, char *out, size_t capacity)
{
    while (size > 0 && isspace((unsigned char)*text))
        text++, size--;
    while (size > 0 && isspace((unsigned char)text[size - 1]))
        size--;
    if (size >= 2 && text[0] == '"' && text[size - 1] == '"')
        text++, size -= 2;
    if (size >= capacity)
        return false;
    memcpy(out, text, size);
    out[size] = '\0';
    return true;
}

/* Returns the length up to the semicolon behind a parameter, or to the end. A semicolon in quotes
   ends nothing: the text there may be the client's. */
static size_t parameter_size(const char *text)
{
    bool quoted = false;
    size_t size = 0;
    for (; text[size] && (quoted || text[size] != ';'); size++) {
        if (is_quote(text, text + size))
            quoted = !quoted;
    }
    return size;
}

/* Copies the value of a parameter of a Forwarded element, "for" say. */
static bool parameter(const char *element, const char *name, char *out, size_t capacity)
{
    const size_t name_size = strlen(name);
    while (*element) {
        element += strspn(element, " \t;");
        const size_t size = parameter_size(element);
        if (size > name_size && strncasecmp(element, name, name_size) == 0 &&
            element[name_size] == '=')
            return copy_bare(element + name_size + 1, size - name_size - 1, out, capacity);
        element += size;
    }
    return false;
}

static bool read_client(enum forwarded_header header, const char *element,
                        struct socket_address *out)
{
    char value[SOCKET_ADDRESS_TEXT];
    bool has_port;
    if (header == FORWARDED_FORWARDED) {
        if (!parameter(element, "for", value, sizeof value))
            return false;
    } else if (!copy_bare(element, strlen(element), value, sizeof value)) {
        return false;
    }
    return socket_address_parse(value, out, &has_port);
}

struct socket_address forwarded_client(const struct forwarded *forwarded,
                                       const struct socket_address *peer, const char *value)
{
    struct socket_address client = *peer;
    const char *end = value + strlen(value);
    while (end > value && prefix_list_holds(&forwarded->trusted, &client)) {
        const char *start = element_before(value, end);
        char element[ELEMENT_MAX];
        struct socket_address found;
        if (!copy_bare(start, (size_t)(end - start), element, sizeof element) ||
            !read_client(forwarded->header, element, &found))
            break;
        client = found;
        end = start > value ? start - 1 : value;
    }
    return client;
}

void forwarded_host(const char *value, char *out, size_t capacity)
{
    char element[ELEMENT_MAX];
    const char *end = value + strlen(value);
    const char *start = element_before(value, end);
    if (!copy_bare(start, (size_t)(end - start), element, sizeof element) ||
        !parameter(element, "host", out, capacity))
        out[0] = '\0';
}
