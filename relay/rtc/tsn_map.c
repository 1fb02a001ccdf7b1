#include "rtc/tsn_map.h"

#include <string.h>

static uint64_t bit_of(uint32_t tsn)
{
    return UINT64_C(1) << (tsn % 64);
}

static uint64_t *word_of(struct tsn_map *map, uint32_t tsn)
{
    return &map->bits[tsn % TSN_WINDOW / 64];
}

static bool has(const struct tsn_map *map, uint32_t tsn)
{
    return (map->bits[tsn % TSN_WINDOW / 64] & bit_of(tsn)) != 0;
}

/* Moves the cumulative TSN over the run that follows it. */
static void settle(struct tsn_map *map)
{
    while (map->cumulative != map->highest && has(map, map->cumulative + 1)) {
        map->cumulative++;
        *word_of(map, map->cumulative) &= ~bit_of(map->cumulative);
    }
}

void tsn_map_reset(struct tsn_map *map, uint32_t first)
{
    *map = (struct tsn_map){.cumulative = first - 1, .highest = first - 1};
}

enum tsn_arrival tsn_map_add(struct tsn_map *map, uint32_t tsn)
{
    const int32_t ahead = tsn_ahead(tsn, map->cumulative);
    if (ahead > TSN_WINDOW)
        return TSN_TOO_FAR;
    if (ahead <= 0 || has(map, tsn))
        return TSN_DUPLICATE;

    *word_of(map, tsn) |= bit_of(tsn);
    if (tsn_ahead(tsn, map->highest) > 0)
        map->highest = tsn;
    settle(map);
    return TSN_NEW;
}

bool tsn_map_forward(struct tsn_map *map, uint32_t tsn)
{
    if (tsn_ahead(tsn, map->cumulative) <= 0)
        return false;
    if (tsn_ahead(tsn, map->highest) >= 0) {
        memset(map->bits, 0, sizeof map->bits);
        map->cumulative = map->highest = tsn;
        return true;
    }
    while (map->cumulative != tsn) {
        map->cumulative++;
        *word_of(map, map->cumulative) &= ~bit_of(map->cumulative);
    }
    settle(map);
    return true;
}

size_t tsn_map_gaps(const struct tsn_map *map, struct tsn_gap *gaps, size_t max)
{
    const uint32_t span = map->highest - map->cumulative;
    size_t count = 0;
    for (uint32_t at = 1; at <= span && count < max; at++) {
        if (!has(map, map->cumulative + at))
            continue;
        gaps[count].first = (uint16_t)at;
        while (at < span && has(map, map->cumulative + at + 1))
            at++;
        gaps[count++].last = (uint16_t)at;
    }
    return count;
}
