#include "protocols/rudp_wire.h"

#include <string.h>

#define LONG_TAG 0x80 /* tags from here on take two bytes, and their first byte has this bit */

static uint32_t tag_on_the_wire(const struct cw_rudp_item *item)
{
    return (uint32_t)item->tag + item->size;
}

size_t cw_rudp_item_size(const struct cw_rudp_item *item)
{
    const size_t tag = tag_on_the_wire(item) < LONG_TAG ? 1 : 2;
    return item->tag < CW_RUDP_REQUEST ? tag : tag + 2 + item->size;
}

size_t cw_rudp_item_write(const struct cw_rudp_item *item, uint8_t *out)
{
    const uint32_t tag = tag_on_the_wire(item);
    size_t used = 0;
    if (tag >= LONG_TAG)
        out[used++] = (uint8_t)(LONG_TAG | tag >> 8);
    out[used++] = (uint8_t)tag;
    if (item->tag < CW_RUDP_REQUEST)
        return used;
    out[used++] = (uint8_t)(item->id >> 8);
    out[used++] = (uint8_t)item->id;
    if (item->size)
        memcpy(out + used, item->data, item->size);
    return used + item->size;
}

size_t cw_rudp_item_read(const uint8_t *data, size_t size, struct cw_rudp_item *item)
{
    size_t used = 0;
    if (size == 0)
        return 0;
    uint32_t tag = data[used++];
    if (tag >= LONG_TAG) {
        if (size < 2)
            return 0;
        tag = (tag & ~(uint32_t)LONG_TAG) << 8 | data[used++];
        if (tag < LONG_TAG)
            return 0;
    }
    *item = (struct cw_rudp_item){.tag = CW_RUDP_PACKAGE};
    if (tag < CW_RUDP_PACKAGE)
        item->tag = (enum cw_rudp_tag)tag;
    if (tag < CW_RUDP_REQUEST)
        return used;
    item->size = tag - (uint32_t)item->tag;
    if (size - used < 2 + (size_t)item->size)
        return 0;
    item->id = (uint16_t)(data[used] << 8 | data[used + 1]);
    item->data = data + used + 2;
    return used + 2 + item->size;
}
