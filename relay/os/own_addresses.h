/* The addresses of this machine. */
#ifndef CAUSEWAY_RELAY_OWN_ADDRESSES_H
#define CAUSEWAY_RELAY_OWN_ADDRESSES_H

#include "os/socket_address.h"

/* The last list of the addresses. Zero it before use. */
struct own_addresses {
    unsigned char (*addresses)[16]; /* the addresses, as socket_address_bytes gives them */
    size_t count;
    double due; /* the time at which the system is asked again */
};

/* Returns whether an address is one of this machine's, whatever its port. These may come and go:
   the system is asked every few seconds. When it does not tell, the reason is logged and the last
   list counts. */
bool own_addresses_hold(struct own_addresses *own, const struct socket_address *address,
                        double now);

void own_addresses_free(struct own_addresses *own);

#endif
