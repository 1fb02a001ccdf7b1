/* The client behind a trusted proxy, as named by the X-Forwarded-For of the proxy's request. */
#ifndef CAUSEWAY_RELAY_FORWARDED_H
#define CAUSEWAY_RELAY_FORWARDED_H

#include "os/prefix.h"

/* The name of the header, with its colon. */
#define FORWARDED_FOR "x-forwarded-for:"

/* Bytes of the longest value, which names the addresses of a chain of proxies. */
#define FORWARDED_MAX 1024

/* Returns the client of a request that came from `source`: the last address in the value of the
   header that is not a trusted proxy's. Each proxy adds the address from which it was asked, and
   only what trusted proxies have added can be believed. An address that cannot be read ends the
   search there, at the proxy that added it. Returns the address in `source` itself when it is not
   trusted, or the value is "". */
struct socket_address forwarded_client(const struct prefix_list *proxies,
                                       const struct socket_address *source, const char *value);

#endif
