/* This window has our TSNs that are on their way: some are acknowledged, some in flight, some given
   up. */
#ifndef CAUSEWAY_RELAY_RTC_OUTSTANDING_H
#define CAUSEWAY_RELAY_RTC_OUTSTANDING_H

#include "rtc/tsn_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most chunks that may be on their way. */
#define OUTSTANDING_MAX 512
/* The distance after which a chunk counts as lost: one that was sent this much later is
   acknowledged. */
#define OUTSTANDING_REORDER 3

struct outstanding {
    uint32_t next;                   /* the TSN of the next chunk */
    uint32_t acknowledged;           /* the cumulative TSN that the other side has acknowledged */
    uint32_t abandoned;              /* all TSNs up to this one are acknowledged or given up */
    size_t flight;                   /* the bytes that are neither acknowledged nor given up */
    uint64_t given_up;               /* the number of chunks that were given up */
    uint16_t sizes[OUTSTANDING_MAX]; /* bytes of each chunk in flight, found by its TSN; else 0 */
};

void outstanding_reset(struct outstanding *outstanding, uint32_t first);

/* Returns true when there is room to track count more chunks. */
bool outstanding_has_room(const struct outstanding *outstanding, size_t count);

/* Notes that a chunk of size bytes (1 to 65535) is sent; there must be room. Returns its TSN. */
uint32_t outstanding_send(struct outstanding *outstanding, size_t size);

/* Reads an acknowledgement. Returns false, and nothing changes, when it makes no sense: it reports
   a TSN that was never sent, or one twice. One that is older than the last changes nothing and is
   fine. keep is the first TSN that must not be given up (next when there is none). */
bool outstanding_acknowledge(struct outstanding *outstanding, uint32_t cumulative,
                             const struct tsn_gap *gaps, size_t count, uint32_t keep);

/* Gives up all TSNs before keep. */
void outstanding_abandon(struct outstanding *outstanding, uint32_t keep);

/* Returns true when tsn is neither acknowledged nor given up. */
bool outstanding_in_flight(const struct outstanding *outstanding, uint32_t tsn);

/* Returns true when the other side must be told not to wait for chunks that were given up. */
static inline bool outstanding_must_forward(const struct outstanding *outstanding)
{
    return outstanding->abandoned != outstanding->acknowledged;
}

#endif
