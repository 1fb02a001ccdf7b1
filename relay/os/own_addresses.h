/* The addresses of this machine. */
#ifndef CAUSEWAY_RELAY_OWN_ADDRESSES_H
#define CAUSEWAY_RELAY_OWN_ADDRESSES_H

#include "os/socket_address.h"

/* Zeroed before use. */
struct own_addresses {
    unsigned char (*all)[16]; /* as socket_address_bytes gives them */
    size_t count;
    double due; /* when the system is asked again */
};

/* Returns whether an address is one of them, whatever its port. They may come and go: the system is
   asked every few seconds, and logs why when it does not tell. Then what it told last counts. */
bool own_addresses_hold(struct own_addresses *own, const struct socket_address *address,
                        double now);

void own_addresses_free(struct own_addresses *own);

#endif
