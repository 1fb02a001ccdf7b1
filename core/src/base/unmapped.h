/* The one meaning of IPv4 addresses inside IPv6. */
#ifndef CAUSEWAY_UNMAPPED_H
#define CAUSEWAY_UNMAPPED_H

#include "causeway/address.h"

/* ::ffff:a.b.c.d as the IPv4 address a.b.c.d that it is; any other address as it is. */
struct cw_address cw_address_unmapped(const struct cw_address *address);

#endif
