#include "http/proxy_protocol.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define V1_MAX      107 /* bytes of the longest header of version 1, with its CR and LF */
#define V2_HEAD     16
#define V2_LOCAL    0x20
#define V2_PROXY    0x21
#define V2_TCP_IPV4 0x11
#define V2_TCP_IPV6 0x21

static const char v1_begin[] = "PROXY ";
static const uint8_t v2_begin[12] = "\r\n\r\n\0\r\nQUIT\n";

/* Returns 1 when the data begin so, 0 when they do not, and -1 when there are too few bytes to
   tell. */
static int begins(const uint8_t *data, size_t size, const void *with, size_t with_size)
{
    const size_t common = size < with_size ? size : with_size;
    if (memcmp(data, with, common) != 0)
        return 0;
    return size < with_size ? -1 : 1;
}

static bool number(const char *text, unsigned *out)
{
    const size_t digits = strspn(text, "0123456789");
    *out = digits > 0 && digits <= 5 ? (unsigned)strtoul(text, NULL, 10) : 65536;
    return text[digits] == '\0' && *out <= 65535;
}

/* Reads "TCP4 SOURCE DESTINATION PORT PORT", or TCP6. */
static bool read_v1(char *line, struct socket_address *client)
{
    char *rest = NULL;
    const char *words[5];
    for (int i = 0; i < 5; i++) {
        words[i] = strtok_r(i == 0 ? line : NULL, " ", &rest);
        if (!words[i])
            return false;
    }
    unsigned source;
    unsigned destination;
    bool has_port;
    if (strtok_r(NULL, " ", &rest) || !number(words[3], &source) || !number(words[4], &destination))
        return false;
    const int family = strcmp(words[0], "TCP4") == 0 ? AF_INET : AF_INET6;
    if (family == AF_INET6 && strcmp(words[0], "TCP6") != 0)
        return false;
    if (!socket_address_parse(words[1], client, &has_port) || has_port ||
        client->address.any.sa_family != family)
        return false;
    socket_address_set_port(client, source);
    return true;
}

static enum proxy_protocol parse_v1(const uint8_t *data, size_t size, struct socket_address *client,
                                    size_t *header_size)
{
    char line[V1_MAX + 1];
    const size_t seen = size < V1_MAX ? size : V1_MAX;
    const uint8_t *end = memchr(data, '\n', seen);
    if (!end)
        return size < V1_MAX ? PROXY_PROTOCOL_MORE : PROXY_PROTOCOL_BAD;
    *header_size = (size_t)(end - data) + 1;
    const size_t before = strlen(v1_begin);
    if (*header_size < before + 2 || end[-1] != '\r' || memchr(data, '\0', *header_size))
        return PROXY_PROTOCOL_BAD;
    const size_t length = *header_size - 2 - before;
    memcpy(line, data + before, length);
    line[length] = '\0';
    if (strncmp(line, "UNKNOWN", 7) == 0 && (line[7] == '\0' || line[7] == ' '))
        return PROXY_PROTOCOL_LOCAL;
    return read_v1(line, client) ? PROXY_PROTOCOL_CLIENT : PROXY_PROTOCOL_BAD;
}

static enum proxy_protocol read_v2(const uint8_t *body, size_t size, unsigned family,
                                   struct socket_address *client)
{
    memset(client, 0, sizeof *client);
    struct sockaddr_in *v4 = &client->address.v4;
    struct sockaddr_in6 *v6 = &client->address.v6;
    if (family == V2_TCP_IPV4 && size >= 12) {
        v4->sin_family = AF_INET;
        memcpy(&v4->sin_addr, body, 4);
        memcpy(&v4->sin_port, body + 8, 2);
        client->size = sizeof *v4;
        return PROXY_PROTOCOL_CLIENT;
    }
    if (family == V2_TCP_IPV6 && size >= 36) {
        v6->sin6_family = AF_INET6;
        memcpy(&v6->sin6_addr, body, 16);
        memcpy(&v6->sin6_port, body + 32, 2);
        client->size = sizeof *v6;
        return PROXY_PROTOCOL_CLIENT;
    }
    /* A family that is unspecified, UNIX or UDP names no client of HTTP. */
    return family == V2_TCP_IPV4 || family == V2_TCP_IPV6 ? PROXY_PROTOCOL_BAD
                                                          : PROXY_PROTOCOL_LOCAL;
}

static enum proxy_protocol parse_v2(const uint8_t *data, size_t size, struct socket_address *client,
                                    size_t *header_size)
{
    if (size < V2_HEAD)
        return PROXY_PROTOCOL_MORE;
    const size_t body = (size_t)data[14] << 8 | data[15];
    *header_size = V2_HEAD + body;
    if (*header_size > PROXY_PROTOCOL_MAX || (data[12] != V2_LOCAL && data[12] != V2_PROXY))
        return PROXY_PROTOCOL_BAD;
    if (size < *header_size)
        return PROXY_PROTOCOL_MORE;
    return data[12] == V2_LOCAL ? PROXY_PROTOCOL_LOCAL
                                : read_v2(data + V2_HEAD, body, data[13], client);
}

enum proxy_protocol proxy_protocol_read(const uint8_t *data, size_t size,
                                        struct socket_address *client, size_t *header_size)
{
    const int v1 = begins(data, size, v1_begin, strlen(v1_begin));
    const int v2 = begins(data, size, v2_begin, sizeof v2_begin);
    struct socket_address named;
    enum proxy_protocol found = PROXY_PROTOCOL_NONE;
    if (v1 > 0)
        found = parse_v1(data, size, &named, header_size);
    else if (v2 > 0)
        found = parse_v2(data, size, &named, header_size);
    else if (v1 < 0 || v2 < 0)
        found = PROXY_PROTOCOL_MORE;
    if (found == PROXY_PROTOCOL_CLIENT)
        *client = named;
    return found;
}
