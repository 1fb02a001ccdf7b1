#include "causeway/lab/bunch_item.h"

#include "base/little_endian.h"

size_t cw_bunch_item_write(const struct cw_bunch_item *item, uint8_t *out)
{
    uint8_t *at = out;
    cw_little_endian_put(&at, item->tag, 1);
    cw_little_endian_put(&at, item->number, 2);
    cw_little_endian_put(&at, item->size, 2);
    cw_little_endian_put_bytes(&at, item->data, item->size);
    return (size_t)(at - out);
}

static bool within(const struct cw_bunch_item *item, const struct cw_bunch_limits *limits)
{
    if (item->tag == CW_BUNCH_PROPERTY)
        return item->number < limits->properties && item->size <= limits->max_property_size;
    return item->tag < 0x40 && (item->tag & CW_BUNCH_CHANNEL) < limits->channels &&
           item->size <= limits->max_part_size;
}

size_t cw_bunch_item_read(const uint8_t *data, size_t size, const struct cw_bunch_limits *limits,
                          struct cw_bunch_item *item)
{
    if (size < CW_BUNCH_ITEM_HEAD)
        return 0;
    const uint8_t *at = data;
    item->tag = (uint8_t)cw_little_endian_get(&at, 1);
    item->number = (uint16_t)cw_little_endian_get(&at, 2);
    item->size = (uint16_t)cw_little_endian_get(&at, 2);
    item->data = at;
    if (item->size > size - CW_BUNCH_ITEM_HEAD || !within(item, limits))
        return 0;
    return CW_BUNCH_ITEM_HEAD + (size_t)item->size;
}
