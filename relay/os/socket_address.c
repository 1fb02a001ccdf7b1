#include "os/socket_address.h"

#include "causeway/native/socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST_MAX 256

/* Splits "host:port"; host gets no brackets. Returns false when the text has another form. */
static bool split(const char *text, char host[HOST_MAX], const char **port)
{
    const char *colon = strrchr(text, ':');
    if (!colon)
        return false;
    size_t size = (size_t)(colon - text);
    if (size >= 2 && text[0] == '[' && text[size - 1] == ']') {
        text++;
        size -= 2;
    } else if (memchr(text, ':', size) || memchr(text, '[', size)) {
        return false;
    }
    if (size >= HOST_MAX)
        return false;
    memcpy(host, text, size);
    host[size] = '\0';
    *port = colon + 1;
    return true;
}

bool socket_address_valid(const char *text, unsigned lowest_port)
{
    char host[HOST_MAX];
    const char *port;
    if (!split(text, host, &port))
        return false;
    if (strpbrk(host, "*/ "))
        return false; /* to the system, the name * means this machine */
    size_t digits = strspn(port, "0123456789");
    if (digits == 0 || digits > 5 || port[digits] != '\0')
        return false;
    unsigned long number = strtoul(port, NULL, 10);
    return number >= lowest_port && number <= 65535;
}

static bool parse_host(const char *host, unsigned port, struct socket_address *out)
{
    memset(out, 0, sizeof *out);
    struct sockaddr_in *v4 = &out->address.v4;
    struct sockaddr_in6 *v6 = &out->address.v6;
    if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)port);
        out->size = sizeof *v4;
        return true;
    }
    memset(out, 0, sizeof *out);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons((uint16_t)port);
    out->size = sizeof *v6;
    return inet_pton(AF_INET6, host, &v6->sin6_addr) == 1;
}

bool socket_address_parse(const char *text, struct socket_address *out, bool *has_port)
{
    char host[HOST_MAX];
    const char *port;
    *has_port = socket_address_valid(text, 0) && split(text, host, &port);
    if (*has_port)
        return parse_host(host, (unsigned)strtoul(port, NULL, 10), out);
    const size_t size = strlen(text);
    const bool brackets = size >= 2 && text[0] == '[' && text[size - 1] == ']';
    if (size >= HOST_MAX)
        return false;
    snprintf(host, sizeof host, "%.*s", (int)(brackets ? size - 2 : size), text + brackets);
    return parse_host(host, 0, out);
}

bool socket_address_resolve(const char *text, struct socket_address *out, const char **error)
{
    char host[HOST_MAX];
    const char *port;
    if (!split(text, host, &port)) {
        *error = "not of the form host:port";
        return false;
    }
    /* cw_resolve reads no scopes, and no short forms of IPv4 addresses. */
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *found = NULL;
    if (getaddrinfo(host[0] ? host : "::", port, &hints, &found) == 0) {
        memset(out, 0, sizeof *out);
        memcpy(&out->address, found->ai_addr, found->ai_addrlen);
        out->size = found->ai_addrlen;
        freeaddrinfo(found);
        return true;
    }
    struct cw_address address;
    const enum cw_error failure = cw_resolve(host, &address);
    if (failure != CW_OK) {
        *error = cw_error_string(failure);
        return false;
    }
    char numeric[CW_ADDRESS_TEXT_SIZE];
    return parse_host(cw_address_format(&address, numeric), (unsigned)strtoul(port, NULL, 10), out);
}

unsigned socket_address_port(const struct socket_address *socket_address)
{
    if (socket_address->address.any.sa_family == AF_INET6)
        return ntohs(socket_address->address.v6.sin6_port);
    return ntohs(socket_address->address.v4.sin_port);
}

void socket_address_set_port(struct socket_address *socket_address, unsigned port)
{
    if (socket_address->address.any.sa_family == AF_INET6)
        socket_address->address.v6.sin6_port = htons((uint16_t)port);
    else
        socket_address->address.v4.sin_port = htons((uint16_t)port);
}

static const unsigned char mapped_prefix[12] = {[10] = 0xff, [11] = 0xff};

bool socket_address_bytes(const struct socket_address *socket_address, unsigned char out[16])
{
    if (socket_address->address.any.sa_family == AF_INET6) {
        memcpy(out, &socket_address->address.v6.sin6_addr, 16);
        return true;
    }
    memcpy(out, mapped_prefix, sizeof mapped_prefix);
    memcpy(out + 12, &socket_address->address.v4.sin_addr, 4);
    return socket_address->address.any.sa_family == AF_INET;
}

bool socket_address_bytes_are_v4(const unsigned char bytes[16])
{
    return memcmp(bytes, mapped_prefix, sizeof mapped_prefix) == 0;
}

void socket_address_of_bytes(const unsigned char bytes[16], struct socket_address *out)
{
    struct sockaddr_in *v4 = &out->address.v4;
    struct sockaddr_in6 *v6 = &out->address.v6;
    memset(out, 0, sizeof *out);
    if (socket_address_bytes_are_v4(bytes)) {
        v4->sin_family = AF_INET;
        memcpy(&v4->sin_addr, bytes + 12, 4);
        out->size = sizeof *v4;
    } else {
        v6->sin6_family = AF_INET6;
        memcpy(&v6->sin6_addr, bytes, 16);
        out->size = sizeof *v6;
    }
}

bool socket_address_same(const struct socket_address *a, const struct socket_address *b)
{
    unsigned char one[16];
    unsigned char other[16];
    return socket_address_bytes(a, one) && socket_address_bytes(b, other) &&
           memcmp(one, other, sizeof one) == 0 && socket_address_port(a) == socket_address_port(b);
}

void socket_address_format(const struct socket_address *socket_address,
                           char text[SOCKET_ADDRESS_TEXT])
{
    char host[SOCKET_ADDRESS_TEXT - 16];
    char port[8];
    if (getnameinfo(&socket_address->address.any, socket_address->size, host, sizeof host, port,
                    sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        snprintf(text, SOCKET_ADDRESS_TEXT, "unknown");
        return;
    }
    const char *mapped = "::ffff:";
    if (socket_address->address.any.sa_family == AF_INET6 && strchr(host, '.') &&
        strncmp(host, mapped, strlen(mapped)) == 0)
        snprintf(text, SOCKET_ADDRESS_TEXT, "%s:%s", host + strlen(mapped), port);
    else if (socket_address->address.any.sa_family == AF_INET6)
        snprintf(text, SOCKET_ADDRESS_TEXT, "[%s]:%s", host, port);
    else
        snprintf(text, SOCKET_ADDRESS_TEXT, "%s:%s", host, port);
}

void socket_address_owner(const struct socket_address *socket_address, unsigned char owner[16])
{
    memset(owner, 0, 16);
    if (socket_address->address.any.sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = &socket_address->address.v6;
        bool mapped = IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);
        memcpy(owner, &v6->sin6_addr, mapped ? 16 : 8);
    } else if (socket_address->address.any.sa_family == AF_INET) {
        const struct sockaddr_in *v4 = &socket_address->address.v4;
        owner[10] = owner[11] = 0xff;
        memcpy(owner + 12, &v4->sin_addr, 4);
    }
}

uint64_t socket_address_owner_hash(const unsigned char owner[16], uint64_t seed)
{
    uint64_t words[2];
    memcpy(words, owner, sizeof words);
    uint64_t hash = seed;
    /* This is the mixing of splitmix64: every bit of an address reaches the low bits of the hash.
     */
    for (int i = 0; i < 2; i++) {
        hash ^= words[i];
        hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
        hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
        hash ^= hash >> 31;
    }
    return hash;
}
