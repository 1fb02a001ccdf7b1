#define _POSIX_C_SOURCE 200809L

#include "causeway/native/resolve.h"

#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* The longest name that DNS knows, and its terminator. */
#define NAME_SIZE 254

/* The resolver takes "127.1" and "0x7f.1" for addresses. */
static bool is_loose_address(const char *name)
{
    struct addrinfo *found = NULL;
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_DGRAM};
    if (getaddrinfo(name, NULL, &hints, &found) != 0)
        return false;
    freeaddrinfo(found);
    return true;
}

/* Splits "name" or "name:port". */
static enum cw_error split(const char *text, char name[NAME_SIZE], uint16_t *port)
{
    const size_t length = strcspn(text, ":");
    if (length == 0 || length >= NAME_SIZE || strpbrk(text, "[] /"))
        return CW_ERROR_ADDRESS;
    memcpy(name, text, length);
    name[length] = '\0';
    if (name[strspn(name, "0123456789.")] == '\0' || is_loose_address(name))
        return CW_ERROR_ADDRESS;
    *port = 0;
    if (text[length] == '\0')
        return CW_OK;

    /* A port is what an address may have behind its colon. */
    char numeric[] = "0.0.0.0:65535";
    struct cw_address address;
    if (strlen(text + length) > strlen(":65535"))
        return CW_ERROR_ADDRESS;
    strcpy(strchr(numeric, ':'), text + length);
    const enum cw_error error = cw_address_parse(numeric, &address);
    if (error == CW_OK)
        *port = address.port;
    return error;
}

static const struct addrinfo *first_of(const struct addrinfo *found, int family)
{
    while (found && found->ai_family != family)
        found = found->ai_next;
    return found;
}

enum cw_error cw_resolve(const char *text, struct cw_address *address)
{
    char name[NAME_SIZE];
    uint16_t port;
    struct addrinfo *found = NULL;
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM};

    const enum cw_error parsed = cw_address_parse(text, address);
    if (parsed != CW_ERROR_ADDRESS)
        return parsed;
    const enum cw_error error = split(text, name, &port);
    if (error != CW_OK)
        return error;
    if (getaddrinfo(name, NULL, &hints, &found) != 0)
        return CW_ERROR_HOST;
    struct cw_address resolved = {.port = port};
    const struct addrinfo *best = first_of(found, AF_INET);
    if (best) {
        const struct sockaddr_in *ipv4 = (const void *)best->ai_addr;
        resolved.type = CW_ADDRESS_IPV4;
        memcpy(resolved.bytes, &ipv4->sin_addr, 4);
    } else if ((best = first_of(found, AF_INET6)) != NULL) {
        const struct sockaddr_in6 *ipv6 = (const void *)best->ai_addr;
        resolved.type = CW_ADDRESS_IPV6;
        memcpy(resolved.bytes, &ipv6->sin6_addr, 16);
    }
    freeaddrinfo(found);
    if (!best)
        return CW_ERROR_HOST;
    *address = resolved;
    return CW_OK;
}
