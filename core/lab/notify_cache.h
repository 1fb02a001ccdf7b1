/* Packets that have arrived and not been taken yet, in the order of their numbers. Those that came
   early wait until the ones before them arrive or are given up. */
#ifndef CAUSEWAY_LAB_NOTIFY_CACHE_H
#define CAUSEWAY_LAB_NOTIFY_CACHE_H

#include "base/memory.h"
#include "causeway/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cw_notify_cached {
    uint16_t sequence;
    uint16_t slot; /* where its bytes are */
    uint32_t size;
};

struct cw_notify_cache {
    uint32_t capacity;    /* packets */
    uint32_t max_missing; /* a longer gap is not waited for */
    uint32_t slot_size;   /* bytes of the longest packet */
    uint32_t count;
    uint32_t released;                /* of the count, how many wait for nothing */
    struct cw_notify_cached *packets; /* those after count have the free slots */
    uint8_t *slots;
};

/* Takes its memory from the arena, which may only measure. */
void cw_notify_cache_init(struct cw_notify_cache *cache, struct cw_arena *arena, uint32_t capacity,
                          uint32_t max_missing, uint32_t slot_size);

void cw_notify_cache_clear(struct cw_notify_cache *cache);

/* Adds a packet (copied) that is newer than last, the last one taken. A packet that is capacity or
   more ahead of last ends the waiting of all. Errors: CW_ERROR_DUPLICATE, CW_ERROR_EVENTS_PENDING
   when it is full. */
enum cw_error cw_notify_cache_add(struct cw_notify_cache *cache, uint16_t last, uint16_t sequence,
                                  const uint8_t *data, size_t size);

/* Ends the waiting of all packets. */
void cw_notify_cache_release(struct cw_notify_cache *cache);

/* The first packet, when it waits for nothing; else NULL. data and size are set with it. */
const struct cw_notify_cached *cw_notify_cache_first(const struct cw_notify_cache *cache,
                                                     uint16_t last, const uint8_t **data);

/* Drops the first packet. Its bytes stay until the next add. */
void cw_notify_cache_drop(struct cw_notify_cache *cache);

#endif
