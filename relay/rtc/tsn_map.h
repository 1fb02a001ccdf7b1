/* A map of the transmission sequence numbers (TSNs) of the other side that have arrived, from which
   a SACK is written. */
#ifndef CAUSEWAY_RELAY_RTC_TSN_MAP_H
#define CAUSEWAY_RELAY_RTC_TSN_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* TSNs up to this distance past the cumulative one are taken. */
#define TSN_WINDOW 1024

/* Returns how far a is ahead of b in a numbering that wraps; negative when it is behind. */
static inline int32_t tsn_ahead(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

struct tsn_map {
    /* all TSNs up to this one have arrived, or the other side has given them up */
    uint32_t cumulative;
    uint32_t highest; /* the last TSN that has arrived; cumulative when there is no gap */
    uint64_t bits[TSN_WINDOW / 64];
};

/* A run of TSNs that arrived past a gap, as distances from the cumulative one. */
struct tsn_gap {
    uint16_t first;
    uint16_t last;
};

/* Starts the map. first is the TSN with which the other side said it begins. */
void tsn_map_reset(struct tsn_map *map, uint32_t first);

enum tsn_arrival {
    TSN_NEW,
    TSN_DUPLICATE,
    TSN_TOO_FAR, /* the TSN is not recorded: it must not be acknowledged */
};

enum tsn_arrival tsn_map_add(struct tsn_map *map, uint32_t tsn);

/* Notes that the other side has given up all TSNs up to tsn. Returns false when that changes
   nothing. */
bool tsn_map_forward(struct tsn_map *map, uint32_t tsn);

/* Writes up to max of the runs past the cumulative TSN, and returns how many it wrote. */
size_t tsn_map_gaps(const struct tsn_map *map, struct tsn_gap *gaps, size_t max);

#endif
