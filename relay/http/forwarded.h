/* The client behind a trusted proxy, as named by the headers of the proxy's request. */
#ifndef CAUSEWAY_RELAY_FORWARDED_H
#define CAUSEWAY_RELAY_FORWARDED_H

#include "os/prefix.h"

enum forwarded_header {
    FORWARDED_X_FORWARDED_FOR, /* X-Forwarded-For, and X-Forwarded-Host */
    FORWARDED_FORWARDED,       /* RFC 7239 */
};

/* Reads "x-forwarded-for" or "forwarded". */
bool forwarded_header_parse(const char *text, enum forwarded_header *out);

struct forwarded {
    struct prefix_list trusted; /* the proxies that are believed */
    enum forwarded_header header;
};

/* Returns the name of the header, with its colon. A request may have Forwarded in one line only. */
const char *forwarded_name(const struct forwarded *forwarded);
bool forwarded_once(const struct forwarded *forwarded);

/* Returns the client of a request that came from `peer`: the last address in the value of the
   header that is not a trusted proxy's, since each proxy adds the address that it was asked from,
   and only what trusted proxies have added can be believed. An address that cannot be read ends the
   search there, at the proxy that added it. Returns the address in `peer` itself when it is not
   trusted, or the value is "". */
struct socket_address forwarded_client(const struct forwarded *forwarded,
                                       const struct socket_address *peer, const char *value);

/* Copies the host parameter of the last element of a Forwarded header; "" when there is none or it
   is too long. */
void forwarded_host(const char *value, char *out, size_t capacity);

#endif
