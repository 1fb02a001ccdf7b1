/* An allocator that counts. It also sees whether memory that comes back was wiped, and lets a test
   look for bytes that should not be there any more. */
#ifndef CAUSEWAY_TESTS_COUNTED_H
#define CAUSEWAY_TESTS_COUNTED_H

#include "causeway/base.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct counted {
    bool refuse;
    size_t allocations, releases;
    void *memory; /* the latest block, and its size */
    size_t size;
    size_t released; /* the size that the caller of release gave */
    bool wiped;      /* the released block was all zero */
};

static inline void *counted_allocate(void *context, size_t size)
{
    struct counted *counted = context;
    if (counted->refuse)
        return NULL;
    counted->allocations++;
    counted->size = size;
    return counted->memory = malloc(size);
}

static inline void counted_release(void *context, void *memory, size_t size)
{
    struct counted *counted = context;
    const uint8_t *bytes = memory;
    counted->releases++;
    counted->released = size;
    counted->wiped = true;
    for (size_t i = 0; i < size; i++)
        counted->wiped &= bytes[i] == 0;
    free(memory);
}

static inline struct cw_allocator counted_allocator(struct counted *counted)
{
    return (struct cw_allocator){counted_allocate, counted_release, counted};
}

/* Returns whether these bytes stand anywhere in the block. */
static inline bool counted_holds(const struct counted *counted, const void *bytes, size_t size)
{
    const uint8_t *memory = counted->memory;
    for (size_t at = 0; at + size <= counted->size; at++)
        if (memcmp(memory + at, bytes, size) == 0)
            return true;
    return false;
}

#endif
