#include "http/forwarded.h"

#include <ctype.h>
#include <string.h>

/* Reads an address with white space around it. */
static bool read_address(const char *text, size_t size, struct socket_address *out)
{
    char bare[SOCKET_ADDRESS_TEXT];
    bool has_port;
    while (size > 0 && isspace((unsigned char)*text))
        text++, size--;
    while (size > 0 && isspace((unsigned char)text[size - 1]))
        size--;
    if (size >= sizeof bare)
        return false;
    memcpy(bare, text, size);
    bare[size] = '\0';
    return socket_address_parse(bare, out, &has_port);
}

struct socket_address forwarded_client(const struct prefix_list *proxies,
                                       const struct socket_address *source, const char *value)
{
    struct socket_address client = *source;
    const char *end = value + strlen(value);
    while (end > value && prefix_list_holds(proxies, &client)) {
        const char *comma = memrchr(value, ',', (size_t)(end - value));
        const char *start = comma ? comma + 1 : value;
        struct socket_address found;
        if (!read_address(start, (size_t)(end - start), &found))
            break;
        client = found;
        end = comma ? comma : value;
    }
    return client;
}
