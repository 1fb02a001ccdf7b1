#include "session/blocks.h"

#include "os/handover.h"
#include "os/heritage.h"
#include "os/loop.h"

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

/* As many as fit into a message, so that all of them fit into what a line holds. */
bool blocks_send(const struct blocks *blocks, int line)
{
    const unsigned most = HANDOVER_MAX / sizeof blocks->list[0];
    for (unsigned i = 0; i < blocks->count; i += most) {
        const unsigned count = blocks->count - i < most ? blocks->count - i : most;
        if (!handover_send(line, HERITAGE_BLOCKS, &blocks->list[i], count * sizeof blocks->list[0],
                           -1))
            return false;
    }
    return true;
}

void blocks_receive(struct blocks *blocks, const void *data, size_t size)
{
    struct block block;
    const double now = loop_now();
    for (size_t at = 0; at + sizeof block <= size; at += sizeof block) {
        memcpy(&block, (const char *)data + at, sizeof block);
        blocks_add(blocks, &block.prefix, block.until, now);
    }
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
