#include "lab/peer.h"

#include "base/memory.h"

/* The first bytes are the kind, the id and the size, big-endian; each byte after them depends on
   the item and on its place. */
static uint8_t byte_at(const struct cw_lab_item *item, uint32_t place)
{
    if (place == 0)
        return (uint8_t)item->traffic;
    if (place < 5)
        return (uint8_t)(item->id >> (8 * (4 - place)));
    if (place < CW_LAB_ITEM_MIN)
        return (uint8_t)(item->size >> (8 * (8 - place)));
    return (uint8_t)((item->id + place) * 2654435761u >> 24);
}

void cw_lab_item_write(const struct cw_lab_item *item, uint32_t offset, uint8_t *out, size_t size)
{
    if (!item || !out || offset > item->size || size > item->size - offset)
        return;
    for (size_t i = 0; i < size; i++)
        out[i] = byte_at(item, offset + (uint32_t)i);
}

static uint32_t read_number(const uint8_t *data)
{
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

bool cw_lab_item_read(const uint8_t *data, size_t size, struct cw_lab_item *item)
{
    if (!data || !item || size < CW_LAB_ITEM_MIN || data[0] < CW_LAB_STATE ||
        data[0] > CW_LAB_BLOCK)
        return false;
    const uint32_t longest = data[0] == CW_LAB_BLOCK ? CW_LAB_BLOCK_MAX : CW_LAB_MESSAGE_MAX;
    const uint32_t item_size = read_number(data + 5);
    if (item_size < CW_LAB_ITEM_MIN || item_size > longest)
        return false;
    *item = (struct cw_lab_item){
        .traffic = (enum cw_lab_traffic)data[0], .id = read_number(data + 1), .size = item_size};
    return true;
}

bool cw_lab_item_check(const struct cw_lab_item *item, uint32_t offset, const uint8_t *data,
                       size_t size)
{
    if (!item || !data || offset > item->size || size > item->size - offset)
        return false;
    for (size_t i = 0; i < size; i++)
        if (data[i] != byte_at(item, offset + (uint32_t)i))
            return false;
    return true;
}

/* This lies before the struct of a peer. */
struct head {
    struct cw_allocator allocator;
    size_t size; /* bytes of the allocation */
};

/* Returns the bytes of a head, padded so that the struct behind it is aligned. */
static size_t head_size(void)
{
    struct cw_arena arena = {0};
    cw_arena_take(&arena, sizeof(struct head));
    return arena.used;
}

size_t cw_lab_peer_memory(const struct cw_lab_peer_type *type)
{
    struct cw_arena arena = {0};
    if (!type)
        return 0;
    cw_arena_take(&arena, sizeof(struct head));
    cw_arena_take(&arena, type->size);
    cw_arena_take(&arena, type->memory(type->mode));
    return arena.used;
}

void *cw_lab_peer_create(const struct cw_lab_peer_type *type, const struct cw_allocator *allocator)
{
    if (!type || !allocator)
        return NULL;
    struct cw_arena arena = cw_arena_create(allocator, cw_lab_peer_memory(type));
    if (!arena.base)
        return NULL;
    struct head *head = cw_arena_take(&arena, sizeof *head);
    *head = (struct head){.allocator = *allocator, .size = arena.size};
    void *peer = cw_arena_take(&arena, type->size);
    const struct cw_allocator rest = cw_arena_allocator(&arena);
    if (type->begin(peer, type->mode, &rest))
        return peer;
    cw_lab_peer_destroy(peer);
    return NULL;
}

void cw_lab_peer_destroy(void *peer)
{
    if (!peer)
        return;
    struct head *head = (void *)((uint8_t *)peer - head_size());
    const struct cw_allocator allocator = head->allocator;
    cw_release(&allocator, head, head->size);
}
