/* Offers that are not open data channels yet: how many there may be, and which goes when there are
   too many. It is the oldest of the address that has most: whoever floods evicts himself. Addresses
   that have a few are all the same. */
#ifndef CAUSEWAY_RELAY_HALF_OPEN_H
#define CAUSEWAY_RELAY_HALF_OPEN_H

#include "net/socket_address.h"

#include <stdbool.h>

/* All together. */
#define HALF_OPEN_MAX 2048
/* Of one address: a household's, or those of one player who tries again. */
#define HALF_OPEN_FEW 4
/* Of HALF_OPEN_MAX those that have begun with DTLS. OpenSSL takes some 64 KB for each, so
   that one of all has less than 16 KB on average. */
#define HALF_OPEN_HANDSHAKES 320
/* When all players of a relay come back at once there may be so many, if they are from addresses
   that have a few: each has the seconds that a handshake takes on a slow path. */
#define HALF_OPEN_HANDSHAKES_MAX 1024
#define HALF_OPEN_SECONDS        3.0

struct half_open;
struct address_count;

/* Sits in its owner; all zero before half_open_enter. */
struct half_open_entry {
    struct address_count *address; /* NULL = not in */
    struct half_open_entry *older;
    struct half_open_entry *newer;
    bool shakes_hands;
    double since; /* when it began to */
};

/* Makes the set; max_per_address offers may be of one address, 0 = no limit. NULL when there is no
   memory. */
struct half_open *half_open_create(unsigned max_per_address);

/* Frees it; all entries have left. NULL is allowed. */
void half_open_destroy(struct half_open *set);

/* Puts an offer of an address in. False when it has too many in it, or there is no memory. */
bool half_open_enter(struct half_open *set, struct half_open_entry *entry,
                     const struct socket_address *client);

/* It has begun with DTLS, now (in seconds). False, and nothing happens, when it is not in or has
   before. */
bool half_open_shake_hands(struct half_open *set, struct half_open_entry *entry, double now);

/* Takes it out: it is open, or ended. One that is not in is fine. */
void half_open_leave(struct half_open *set, struct half_open_entry *entry);

/* One that must leave because there are too many; NULL when there are not. */
struct half_open_entry *half_open_surplus(const struct half_open *set, double now);

static inline bool half_open_has(const struct half_open_entry *entry)
{
    return entry->address != NULL;
}

#endif
