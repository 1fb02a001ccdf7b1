#include "session/blocks.h"

#include <string.h>

static struct block *find(struct blocks *blocks, const struct prefix *prefix)
{
    for (unsigned i = 0; i < blocks->count; i++) {
        struct block *block = &blocks->list[i];
        if (block->prefix.bits == prefix->bits &&
            memcmp(block->prefix.address, prefix->address, sizeof prefix->address) == 0)
            return block;
    }
    return NULL;
}

void blocks_expire(struct blocks *blocks, double now)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < blocks->count; i++) {
        if (blocks->list[i].until > now)
            blocks->list[kept++] = blocks->list[i];
    }
    blocks->count = kept;
}

bool blocks_add(struct blocks *blocks, const struct prefix *prefix, double until, double now)
{
    blocks_expire(blocks, now);
    struct block *block = find(blocks, prefix);
    if (!block && blocks->count < BLOCKS_MAX)
        block = &blocks->list[blocks->count++];
    if (!block)
        return false;
    *block = (struct block){*prefix, until};
    return true;
}

bool blocks_remove(struct blocks *blocks, const struct prefix *prefix)
{
    struct block *block = find(blocks, prefix);
    if (!block)
        return false;
    *block = blocks->list[--blocks->count];
    return true;
}

bool blocks_hold(const struct blocks *blocks, const struct socket_address *address, double now)
{
    for (unsigned i = 0; i < blocks->count; i++) {
        const struct block *block = &blocks->list[i];
        if (block->until > now && prefix_holds(&block->prefix, address))
            return true;
    }
    return false;
}
