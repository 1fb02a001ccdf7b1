/* This limits the offers that one address may make, and all addresses together. Each offer costs a
   handshake, a thousand times the work of a datagram, so the connected players would pay for too
   many. */
#ifndef CAUSEWAY_RELAY_OFFER_LIMIT_H
#define CAUSEWAY_RELAY_OFFER_LIMIT_H

#include "os/socket_address.h"

#include <stdbool.h>

struct offer_limit;

/* Creates the limit. All addresses together may make max_sessions offers at once, and then 100 a
   second. One address may make twice max_per_address (0 = any number) at once, and most of them are
   forgotten within a minute. The fewer offers are left for all, the fewer of them one address may
   have made, so a newcomer gets in while others make too many. An IPv6 address counts by its /64.
   Returns NULL when there is no memory. */
struct offer_limit *offer_limit_create(unsigned max_sessions, unsigned max_per_address);

/* Changes both numbers. */
void offer_limit_set(struct offer_limit *limit, unsigned max_sessions, unsigned max_per_address);
void offer_limit_destroy(struct offer_limit *limit);

/* Returns true when an offer from this address may be accepted; it is counted then. Otherwise
 *retry_after is the number of seconds after which one may be. `now` is in seconds. */
bool offer_limit_pass(struct offer_limit *limit, const struct socket_address *client, double now,
                      unsigned *retry_after);

#endif
