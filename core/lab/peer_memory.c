#include "causeway/lab/peer_memory.h"

size_t cw_lab_peer_size(size_t peer, size_t protocol)
{
    struct cw_arena arena = {0};
    cw_arena_take(&arena, peer);
    cw_arena_take(&arena, protocol);
    return arena.used;
}

void *cw_lab_peer_allocate(const struct cw_allocator *allocator, size_t peer, size_t protocol,
                           struct cw_arena *arena)
{
    *arena = cw_arena_create(allocator, cw_lab_peer_size(peer, protocol));
    if (!arena->base)
        return NULL;
    struct cw_lab_peer_memory *memory = cw_arena_take(arena, peer);
    memory->allocator = *allocator;
    memory->size = arena->size;
    return memory;
}

void cw_lab_peer_release(void *peer)
{
    const struct cw_lab_peer_memory memory = *(struct cw_lab_peer_memory *)peer;
    cw_release(&memory.allocator, peer, memory.size);
}
