/* How many offers an address may make, and all of them together. Each costs a handshake, which is a
   thousand times the work of a datagram, so the players who are there would pay for too many. */
#ifndef CAUSEWAY_RELAY_OFFER_LIMIT_H
#define CAUSEWAY_RELAY_OFFER_LIMIT_H

#include "net/socket_address.h"

#include <stdbool.h>

struct offer_limit;

/* All together may make max_sessions offers at once, and then 100 a second. An address may make
   twice max_per_address (0 = any number) at once, and is forgiven most of them in a minute; the
   fewer are left for all, the fewer of them it may have. So whoever comes for the first time is let
   in while others make too many. An IPv6 address counts by its /64. NULL when there is no memory.
 */
struct offer_limit *offer_limit_create(unsigned max_sessions, unsigned max_per_address);
void offer_limit_destroy(struct offer_limit *limit);

/* True when an offer from this address may be taken up: it is counted then. Otherwise *retry_after
   is the number of seconds after which it may be. now in seconds. */
bool offer_limit_pass(struct offer_limit *limit, const struct socket_address *client, double now,
                      unsigned *retry_after);

#endif
