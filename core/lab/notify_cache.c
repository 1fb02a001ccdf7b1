#include "causeway/lab/notify_cache.h"

#include "causeway/lab/notify_header.h"

#include <string.h>

void cw_notify_cache_init(struct cw_notify_cache *cache, struct cw_arena *arena, uint32_t capacity,
                          uint32_t max_missing, uint32_t slot_size)
{
    *cache = (struct cw_notify_cache){
        .capacity = capacity, .max_missing = max_missing, .slot_size = slot_size};
    cache->packets = cw_arena_take(arena, capacity * sizeof *cache->packets);
    cache->slots = cw_arena_take(arena, (size_t)capacity * slot_size);
    for (uint32_t i = 0; cache->packets && i < capacity; i++)
        cache->packets[i].slot = (uint16_t)i;
}

void cw_notify_cache_clear(struct cw_notify_cache *cache)
{
    cache->count = 0;
    cache->released = 0;
}

/* Packets that are missing right before the one at place. */
static uint32_t missing_before(const struct cw_notify_cache *cache, uint16_t last, uint32_t place)
{
    const uint16_t previous = place ? cache->packets[place - 1].sequence : last;
    return cw_notify_ahead(cache->packets[place].sequence, previous) - 1;
}

static bool any_waits(const struct cw_notify_cache *cache, uint16_t last)
{
    for (uint32_t i = cache->released; i < cache->count; i++)
        if (missing_before(cache, last, i))
            return true;
    return false;
}

enum cw_error cw_notify_cache_add(struct cw_notify_cache *cache, uint16_t last, uint16_t sequence,
                                  const uint8_t *data, size_t size)
{
    struct cw_notify_cached *const packets = cache->packets;
    uint32_t place = cache->count;
    while (place && cw_notify_newer(packets[place - 1].sequence, sequence))
        place--;
    if (place && packets[place - 1].sequence == sequence)
        return CW_ERROR_DUPLICATE;
    if (cache->count == cache->capacity)
        return CW_ERROR_EVENTS_PENDING;
    const bool waiting = any_waits(cache, last);
    struct cw_notify_cached packet = packets[cache->count];
    packet.sequence = sequence;
    packet.size = (uint32_t)size;
    memcpy(cache->slots + (size_t)packet.slot * cache->slot_size, data, size);
    memmove(packets + place + 1, packets + place, (cache->count - place) * sizeof *packets);
    packets[place] = packet;
    cache->count++;
    if (place < cache->released)
        cache->released++;
    const bool hopeless = !waiting && missing_before(cache, last, place) > cache->max_missing;
    if (hopeless || cw_notify_ahead(sequence, last) >= cache->capacity)
        cw_notify_cache_release(cache);
    return CW_OK;
}

void cw_notify_cache_release(struct cw_notify_cache *cache)
{
    cache->released = cache->count;
}

const struct cw_notify_cached *cw_notify_cache_first(const struct cw_notify_cache *cache,
                                                     uint16_t last, const uint8_t **data)
{
    if (!cache->count || (!cache->released && missing_before(cache, last, 0)))
        return NULL;
    *data = cache->slots + (size_t)cache->packets->slot * cache->slot_size;
    return cache->packets;
}

void cw_notify_cache_drop(struct cw_notify_cache *cache)
{
    const struct cw_notify_cached first = cache->packets[0];
    cache->count--;
    memmove(cache->packets, cache->packets + 1, cache->count * sizeof *cache->packets);
    cache->packets[cache->count] = first;
    if (cache->released)
        cache->released--;
}
