/* A table of the number of sessions, links or connections of each client address. */
#ifndef CAUSEWAY_RELAY_PER_ADDRESS_LIMIT_H
#define CAUSEWAY_RELAY_PER_ADDRESS_LIMIT_H

#include "os/socket_address.h"

struct per_address_limit;
struct address_count;

/* Creates a table that is fast for about `expected` addresses. Returns NULL when there is no
   memory. */
struct per_address_limit *per_address_limit_create(unsigned expected);
void per_address_limit_destroy(struct per_address_limit *limit);

/* Counts one more session for the owner of an address, unless that owner already has `most` (0 = no
   limit). Returns NULL when it has, or when there is no memory; *full tells which. Give the result
   to per_address_limit_leave once. */
struct address_count *per_address_limit_enter(struct per_address_limit *limit,
                                              const struct socket_address *client, unsigned most,
                                              bool *full);
void per_address_limit_leave(struct per_address_limit *limit, struct address_count *count);

/* Returns whether a count is that of the owner of this address. */
bool per_address_limit_counts(const struct address_count *count,
                              const struct socket_address *client);

/* Returns how many sessions the address has. */
unsigned per_address_limit_count(const struct address_count *count);

#endif
