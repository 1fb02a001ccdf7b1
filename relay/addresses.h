/* How many sessions each client address has. */
#ifndef CAUSEWAY_RELAY_ADDRESSES_H
#define CAUSEWAY_RELAY_ADDRESSES_H

#include "endpoint.h"

struct addresses;
struct address_count;

/* A table that is quick for about `expected` addresses. NULL when there is no memory. */
struct addresses *addresses_create(unsigned expected);
void addresses_destroy(struct addresses *addresses);

/* Counts one more session for the owner of an address, unless it has `limit` already (0 = no
   limit): then, or without memory, NULL, with *full telling which. The result goes back to
   addresses_leave once. */
struct address_count *addresses_enter(struct addresses *addresses, const struct endpoint *client,
                                      unsigned limit, bool *full);
void addresses_leave(struct addresses *addresses, struct address_count *count);

/* How many its address has. */
unsigned addresses_count(const struct address_count *count);

#endif
