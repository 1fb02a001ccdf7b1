/* This set has the offers that are not open data channels yet. It limits their number, and says
   which one must leave when there are too many: the oldest one of the address that has the most, so
   a flood pushes out its own offers. Addresses that have only a few count as equal. */
#ifndef CAUSEWAY_RELAY_HALF_OPEN_H
#define CAUSEWAY_RELAY_HALF_OPEN_H

#include "os/socket_address.h"

#include <stdbool.h>

/* The most offers of all addresses together: 32 MB, at 16 KB each (hostile.rtc_half_open). */
#define HALF_OPEN_MAX 2048
/* The most offers of an address that count as few: those of a household, or of one player who tries
   again. */
#define HALF_OPEN_FEW 4
/* The number of offers among HALF_OPEN_MAX that may have started DTLS. OpenSSL takes some 64 KB for
   each, so on average an offer takes less than 16 KB. */
#define HALF_OPEN_HANDSHAKES 320
/* There may be this many handshakes when all players of a relay come back at once, if they are from
   addresses that have only a few. Each then gets these seconds, in which a handshake is done on a
   slow path. */
#define HALF_OPEN_HANDSHAKES_MAX 1024
#define HALF_OPEN_SECONDS        3.0

struct half_open;
struct address_count;

/* An entry, embedded in its owner; all zero before half_open_enter. */
struct half_open_entry {
    struct address_count *address; /* NULL = the entry is not in the set */
    struct half_open_entry *older;
    struct half_open_entry *newer;
    bool shakes_hands;
    double since; /* when the entry started DTLS */
};

/* Creates the set. One address may have max_per_address offers, 0 = no limit. Returns NULL when
   there is no memory. */
struct half_open *half_open_create(unsigned max_per_address);

/* Changes max_per_address. */
void half_open_set(struct half_open *set, unsigned max_per_address);

/* Frees the set. All entries must have left. NULL is allowed. */
void half_open_destroy(struct half_open *set);

/* Adds an offer from an address. Returns false when the address has too many, or there is no
   memory. */
bool half_open_enter(struct half_open *set, struct half_open_entry *entry,
                     const struct socket_address *client);

/* Notes that an offer has started DTLS, now (in seconds). Returns false, and nothing changes, when
   the offer is not in the set or had started before. */
bool half_open_shake_hands(struct half_open *set, struct half_open_entry *entry, double now);

/* Removes an offer that is open or has ended. It need not be in the set. */
void half_open_leave(struct half_open *set, struct half_open_entry *entry);

/* Returns an offer that must leave because there are too many; NULL when there are not. */
struct half_open_entry *half_open_surplus(const struct half_open *set, double now);

static inline bool half_open_has(const struct half_open_entry *entry)
{
    return entry->address != NULL;
}

#endif
