/* The one allocation of a peer: its own struct, and the protocol's memory behind it. */
#ifndef CAUSEWAY_LAB_PEER_MEMORY_H
#define CAUSEWAY_LAB_PEER_MEMORY_H

#include "base/memory.h"

/* The first member of a peer's struct. */
struct cw_lab_peer_memory {
    struct cw_allocator allocator;
    size_t size; /* bytes of the allocation */
};

/* Bytes of the allocation. peer, protocol: bytes of the struct and of what the protocol takes. */
size_t cw_lab_peer_size(size_t peer, size_t protocol);

/* Makes the allocation and returns the struct, or NULL. *arena is left with the room for the
   protocol. */
void *cw_lab_peer_allocate(const struct cw_allocator *allocator, size_t peer, size_t protocol,
                           struct cw_arena *arena);

/* The protocol goes with the allocation. */
void cw_lab_peer_release(void *peer);

#endif
