/* An arena divides one allocation into the parts of an object. */
#ifndef CAUSEWAY_MEMORY_H
#define CAUSEWAY_MEMORY_H

#include "causeway/base.h"

#include <stddef.h>
#include <stdint.h>

void *cw_allocate(const struct cw_allocator *allocator, size_t size);
void cw_release(const struct cw_allocator *allocator, void *memory, size_t size);

/* A block that is handed out front to back. With a NULL base it only measures. The same layout
   function runs twice, first without memory and then with it, so size and layout always agree. */
struct cw_arena {
    uint8_t *base;
    size_t used;
    size_t size;
};

/* An arena of size bytes, all zero, in one block from the allocator. base is NULL when the
   allocator has none. Give the block back with cw_release. */
struct cw_arena cw_arena_create(const struct cw_allocator *allocator, size_t size);

/* Takes the next size bytes, aligned for any type; NULL while measuring. A total too large for any
   block stays at SIZE_MAX, which no allocator has. */
void *cw_arena_take(struct cw_arena *arena, size_t size);

/* An allocator over the arena, for objects that live inside another one's block. Release does
   nothing: the block is released as a whole. allocate returns NULL past the end. */
struct cw_allocator cw_arena_allocator(struct cw_arena *arena);

#endif
