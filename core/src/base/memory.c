#include "base/memory.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

void *cw_allocate(const struct cw_allocator *allocator, size_t size)
{
    return allocator->allocate ? allocator->allocate(allocator->context, size) : malloc(size);
}

void cw_release(const struct cw_allocator *allocator, void *memory, size_t size)
{
    if (allocator->allocate) {
        if (allocator->release)
            allocator->release(allocator->context, memory, size);
        return;
    }
    free(memory);
}

struct cw_arena cw_arena_create(const struct cw_allocator *allocator, size_t size)
{
    struct cw_arena arena = {.base = cw_allocate(allocator, size), .size = size};
    if (arena.base)
        memset(arena.base, 0, size);
    return arena;
}

void *cw_arena_take(struct cw_arena *arena, size_t size)
{
    const size_t alignment = alignof(max_align_t);
    const size_t most = SIZE_MAX - arena->used;
    if (most < alignment || size > most - alignment) {
        arena->used = SIZE_MAX;
        return NULL;
    }
    const size_t rounded = (size + alignment - 1) / alignment * alignment;
    uint8_t *part = arena->base ? arena->base + arena->used : NULL;
    if (part && rounded > arena->size - arena->used)
        return NULL;
    arena->used += rounded;
    return part;
}

static void *allocate_from_arena(void *context, size_t size)
{
    return cw_arena_take(context, size);
}

struct cw_allocator cw_arena_allocator(struct cw_arena *arena)
{
    return (struct cw_allocator){.allocate = allocate_from_arena, .context = arena};
}
