/* Declarations that both ends of snapshots share. */
#ifndef CAUSEWAY_SNAPSHOT_INTERNAL_H
#define CAUSEWAY_SNAPSHOT_INTERNAL_H

#include "base/memory.h"

#include "causeway/snapshot.h"

/* Takes an array from the arena. One that is too large for any memory asks for SIZE_MAX bytes,
   which no allocator has. */
static inline void *cw_snapshot_take(struct cw_arena *arena, uint64_t count, size_t size)
{
    return cw_arena_take(arena, count > SIZE_MAX / size ? SIZE_MAX : (size_t)count * size);
}

/* Returns CW_OK, or the error that create would return. */
enum cw_error cw_snapshot_config_check(const struct cw_snapshot_config *config);

#endif
