/* What packets of bunches carry, on the wire; see bunch.h. */
#ifndef CAUSEWAY_LAB_BUNCH_ITEM_H
#define CAUSEWAY_LAB_BUNCH_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CW_BUNCH_ITEM_HEAD      5 /* bytes before those of an item */
#define CW_BUNCH_MAX_PROPERTIES 256

enum {
    CW_BUNCH_CHANNEL = 0x0f,
    CW_BUNCH_FIRST = 0x10,
    CW_BUNCH_LAST = 0x20,
    CW_BUNCH_PROPERTY = 0x80
};

struct cw_bunch_item {
    uint8_t tag;
    uint16_t number;
    uint16_t size;
    const uint8_t *data;
};

/* What both ends have agreed on. */
struct cw_bunch_limits {
    uint32_t channels;
    uint32_t queue_parts;
    uint32_t max_part_size;
    uint32_t max_bunch_size;
    uint32_t properties;
    uint32_t max_property_size;
};

/* Writes CW_BUNCH_ITEM_HEAD + item->size bytes and returns their number. */
size_t cw_bunch_item_write(const struct cw_bunch_item *item, uint8_t *out);

/* Reads the item at the start of data, checks it against the limits, and returns its size with
   head; 0 when there is none. */
size_t cw_bunch_item_read(const uint8_t *data, size_t size, const struct cw_bunch_limits *limits,
                          struct cw_bunch_item *item);

#endif
