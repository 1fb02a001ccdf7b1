/* Addresses as the system's calls take them: struct sockaddr of POSIX, which Windows has too but in
   headers of its own. So include the system's headers before this one. This header is not
   installed. */
#ifndef CAUSEWAY_NATIVE_SYSTEM_ADDRESS_H
#define CAUSEWAY_NATIVE_SYSTEM_ADDRESS_H

#include "base/unmapped.h"
#include "causeway/base.h"

#include <stdbool.h>
#include <string.h>

union cw_system_address {
    struct sockaddr any;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
};

/* Converts an address and returns its length, 0 when a socket of this family cannot reach it. A
   socket of IPv6 takes IPv4 addresses mapped into IPv6. */
static inline socklen_t cw_to_system(const struct cw_address *given, bool is_ipv6,
                                     union cw_system_address *system)
{
    static const uint8_t mapped_prefix[12] = {[10] = 0xff, [11] = 0xff};
    const struct cw_address address = cw_address_unmapped(given);
    if (address.type == CW_ADDRESS_NONE || (address.type == CW_ADDRESS_IPV6 && !is_ipv6))
        return 0;
    memset(system, 0, sizeof *system);
    if (!is_ipv6) {
        system->ipv4.sin_family = AF_INET;
        system->ipv4.sin_port = htons(address.port);
        memcpy(&system->ipv4.sin_addr, address.bytes, 4);
        return sizeof system->ipv4;
    }
    uint8_t *bytes = system->ipv6.sin6_addr.s6_addr;
    system->ipv6.sin6_family = AF_INET6;
    system->ipv6.sin6_port = htons(address.port);
    if (address.type == CW_ADDRESS_IPV6) {
        memcpy(bytes, address.bytes, 16);
    } else {
        memcpy(bytes, mapped_prefix, sizeof mapped_prefix);
        memcpy(bytes + sizeof mapped_prefix, address.bytes, 4);
    }
    return sizeof system->ipv6;
}

static inline void cw_from_system(const union cw_system_address *system, struct cw_address *address)
{
    *address = (struct cw_address){.type = CW_ADDRESS_NONE};
    if (system->any.sa_family == AF_INET) {
        address->type = CW_ADDRESS_IPV4;
        address->port = ntohs(system->ipv4.sin_port);
        memcpy(address->bytes, &system->ipv4.sin_addr, 4);
    } else if (system->any.sa_family == AF_INET6) {
        address->type = CW_ADDRESS_IPV6;
        address->port = ntohs(system->ipv6.sin6_port);
        memcpy(address->bytes, system->ipv6.sin6_addr.s6_addr, 16);
        *address = cw_address_unmapped(address);
    }
}

/* Asks the resolver. flags may be AI_NUMERICHOST. Sets *address to the first IPv4 address, or to
   the first IPv6 address if there is no IPv4 one. Returns false when there is none. */
static inline bool cw_system_look_up(const char *name, int flags, struct cw_address *address)
{
    static const int families[] = {AF_INET, AF_INET6};
    const struct addrinfo hints = {.ai_flags = flags, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *found = NULL;
    bool known = false;
    if (getaddrinfo(name, NULL, &hints, &found) != 0)
        return false;
    for (int i = 0; i < 2 && !known; i++) {
        const struct addrinfo *best = found;
        while (best && best->ai_family != families[i])
            best = best->ai_next;
        known = best != NULL;
        if (known)
            cw_from_system((const void *)best->ai_addr, address);
    }
    freeaddrinfo(found);
    return known;
}

#endif
