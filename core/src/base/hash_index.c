#include "base/hash_index.h"

#include "base/unmapped.h"

#include <string.h>

struct cw_hash_index_entry {
    uint64_t hash;
    uint32_t number; /* the number plus 1; 0: empty */
};

void cw_hash_index_layout(struct cw_hash_index *index, struct cw_arena *arena, uint32_t count)
{
    uint32_t size = 4;
    while (size < 2 * count)
        size *= 2;
    index->mask = size - 1;
    index->entries = cw_arena_take(arena, size * sizeof(*index->entries));
}

void cw_hash_index_add(struct cw_hash_index *index, uint64_t hash, uint32_t number)
{
    uint32_t at = (uint32_t)hash & index->mask;
    while (index->entries[at].number != 0)
        at = (at + 1) & index->mask;
    index->entries[at] = (struct cw_hash_index_entry){hash, number + 1};
}

void cw_hash_index_remove(struct cw_hash_index *index, uint64_t hash, uint32_t number)
{
    uint32_t at = (uint32_t)hash & index->mask;
    while (index->entries[at].hash != hash || index->entries[at].number != number + 1)
        at = (at + 1) & index->mask;
    /* Entries that follow without a gap move up, unless that would put them before their place. */
    uint32_t next = at;
    for (;;) {
        next = (next + 1) & index->mask;
        if (index->entries[next].number == 0)
            break;
        const uint32_t home = (uint32_t)index->entries[next].hash & index->mask;
        if (((next - home) & index->mask) >= ((next - at) & index->mask)) {
            index->entries[at] = index->entries[next];
            at = next;
        }
    }
    index->entries[at].number = 0;
}

uint32_t cw_hash_index_find(const struct cw_hash_index *index, uint64_t hash, uint32_t *probe)
{
    for (;;) {
        const struct cw_hash_index_entry *entry =
            &index->entries[((uint32_t)hash + *probe) & index->mask];
        if (entry->number == 0)
            return CW_HASH_INDEX_NONE;
        (*probe)++;
        if (entry->hash == hash)
            return entry->number - 1;
    }
}

uint64_t cw_hash_index_hash(uint64_t seed, uint64_t value)
{
    uint64_t hash = seed ^ value;
    for (int round = 0; round < 2; round++) {
        hash ^= hash >> 32;
        hash *= 0xd6e8feb86659fd93u;
    }
    return hash ^ hash >> 32;
}

uint64_t cw_hash_index_hash_address(uint64_t seed, const struct cw_address *address)
{
    const struct cw_address one = cw_address_unmapped(address);
    uint64_t words[2] = {0};
    memcpy(words, one.bytes, one.type == CW_ADDRESS_IPV4 ? 4 : 16);
    const uint64_t rest = (uint64_t)one.type << 16 | one.port;
    return cw_hash_index_hash(cw_hash_index_hash(cw_hash_index_hash(seed, words[0]), words[1]),
                              rest);
}
