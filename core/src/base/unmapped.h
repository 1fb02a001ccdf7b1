/* IPv4 addresses inside IPv6 ones, which mean the same as the IPv4 addresses themselves. */
#ifndef CAUSEWAY_UNMAPPED_H
#define CAUSEWAY_UNMAPPED_H

#include "causeway/base.h"

/* Returns the IPv4 address a.b.c.d for ::ffff:a.b.c.d, and any other address as it is. */
struct cw_address cw_address_unmapped(const struct cw_address *address);

#endif
