#include "os/own_addresses.h"

#include "os/log.h"

#include <errno.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>

/* A list of the addresses is kept for this many seconds: a machine may have thousands, and one
   address is checked for each session. */
#define ASK_SECONDS 5.0

static bool read_address(const struct ifaddrs *entry, unsigned char out[16])
{
    struct socket_address address = {.size = 0};
    if (!entry->ifa_addr)
        return false;
    if (entry->ifa_addr->sa_family == AF_INET)
        memcpy(&address.address.v4, entry->ifa_addr, sizeof address.address.v4);
    else if (entry->ifa_addr->sa_family == AF_INET6)
        memcpy(&address.address.v6, entry->ifa_addr, sizeof address.address.v6);
    else
        return false;
    return socket_address_bytes(&address, out);
}

/* Keeps the addresses of a list. The last ones stay when there is no memory. */
static bool keep(struct own_addresses *own, const struct ifaddrs *entries)
{
    size_t most = 1;
    for (const struct ifaddrs *entry = entries; entry; entry = entry->ifa_next)
        most++;
    unsigned char(*addresses)[16] = calloc(most, sizeof *addresses);
    if (!addresses)
        return false;
    free(own->addresses);
    own->addresses = addresses;
    own->count = 0;
    for (const struct ifaddrs *entry = entries; entry; entry = entry->ifa_next) {
        if (read_address(entry, addresses[own->count]))
            own->count++;
    }
    return true;
}

static void ask(struct own_addresses *own)
{
    struct ifaddrs *entries = NULL;
    const bool answered = getifaddrs(&entries) == 0;
    const int error = answered ? ENOMEM : errno;
    const bool kept = answered && keep(own, entries);
    if (answered)
        freeifaddrs(entries);
    if (!kept && !own->addresses)
        log_error("cannot tell which addresses are this machine's (%s): a range of --upstream may "
                  "include them",
                  strerror(error));
}

bool own_addresses_hold(struct own_addresses *own, const struct socket_address *address, double now)
{
    unsigned char bytes[16];
    if (!socket_address_bytes(address, bytes))
        return false;
    if (now >= own->due) {
        own->due = now + ASK_SECONDS;
        ask(own);
    }
    for (size_t i = 0; i < own->count; i++) {
        if (memcmp(own->addresses[i], bytes, sizeof bytes) == 0)
            return true;
    }
    return false;
}

void own_addresses_free(struct own_addresses *own)
{
    free(own->addresses);
    *own = (struct own_addresses){0};
}
