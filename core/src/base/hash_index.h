/* Finds numbers by hash in constant time: an open hash table of fixed size. Several numbers may
   have the same hash; the caller checks whether one is the right one. */
#ifndef CAUSEWAY_HASH_INDEX_H
#define CAUSEWAY_HASH_INDEX_H

#include "base/memory.h"
#include "causeway/base.h"

#include <stdint.h>

struct cw_hash_index {
    struct cw_hash_index_entry *entries;
    uint32_t mask;
};

#define CW_HASH_INDEX_NONE UINT32_MAX

/* Takes room for count numbers from the arena. */
void cw_hash_index_layout(struct cw_hash_index *index, struct cw_arena *arena, uint32_t count);

/* Adds a number, which is below CW_HASH_INDEX_NONE. There must be room. */
void cw_hash_index_add(struct cw_hash_index *index, uint64_t hash, uint32_t number);

/* Removes a pair of hash and number, which must be there. */
void cw_hash_index_remove(struct cw_hash_index *index, uint64_t hash, uint32_t number);

/* Returns the first number with this hash when *probe is 0, then the next one on each further call
   with the same probe, and CW_HASH_INDEX_NONE at the end. */
uint32_t cw_hash_index_find(const struct cw_hash_index *index, uint64_t hash, uint32_t *probe);

/* Hashes that depend on a secret seed. Only authenticated addresses and ids are ever added, so no
   stranger can make an index slow. */
uint64_t cw_hash_index_hash(uint64_t seed, uint64_t value);
uint64_t cw_hash_index_hash_address(uint64_t seed, const struct cw_address *address);

#endif
