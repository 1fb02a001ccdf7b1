/* Which transmission sequence numbers (TSNs) of the peer have arrived: what an honest SACK says. */
#ifndef CAUSEWAY_RELAY_RTC_TSN_MAP_H
#define CAUSEWAY_RELAY_RTC_TSN_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far past the cumulative one a TSN may lie. What lies further is not taken. */
#define TSN_WINDOW 1024

/* How far a lies ahead of b in a numbering that wraps; negative when it is behind. */
static inline int32_t tsn_ahead(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

struct tsn_map {
    uint32_t cumulative; /* all up to here have arrived or were given up by the peer */
    uint32_t highest;    /* the last one that has arrived; cumulative when there is no gap */
    uint64_t bits[TSN_WINDOW / 64];
};

/* A run of TSNs that arrived past a gap, as distances from the cumulative one. */
struct tsn_gap {
    uint16_t first;
    uint16_t last;
};

/* Starts the map: first is the TSN that the peer said it begins with. */
void tsn_map_reset(struct tsn_map *map, uint32_t first);

enum tsn_arrival {
    TSN_NEW,
    TSN_DUPLICATE,
    TSN_TOO_FAR, /* not recorded: it must not be acknowledged */
};

enum tsn_arrival tsn_map_add(struct tsn_map *map, uint32_t tsn);

/* The peer gave up all up to tsn. False when nothing changes. */
bool tsn_map_forward(struct tsn_map *map, uint32_t tsn);

/* Fills the first max runs past the cumulative TSN and returns how many there are of them. */
size_t tsn_map_gaps(const struct tsn_map *map, struct tsn_gap *gaps, size_t max);

#endif
