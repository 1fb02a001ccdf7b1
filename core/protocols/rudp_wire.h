/* A datagram of the request-based protocol is made of these items. This header is private to the
   library. */
#ifndef CAUSEWAY_PROTOCOLS_RUDP_WIRE_H
#define CAUSEWAY_PROTOCOLS_RUDP_WIRE_H

#include <stddef.h>
#include <stdint.h>

enum cw_rudp_tag {
    CW_RUDP_HEARTBEAT, /* there is nothing else to say */
    CW_RUDP_CORRUPT,   /* a datagram of yours made no sense */
    CW_RUDP_REQUEST,   /* send package id again */
    CW_RUDP_MISSING,   /* package id is no longer kept */
    CW_RUDP_PACKAGE    /* its tag on the wire is this number + the size */
};

/* The longest head of an item: a tag of two bytes and an id. */
#define CW_RUDP_HEAD_MAX 4

struct cw_rudp_item {
    enum cw_rudp_tag tag;
    uint16_t id;         /* the id of a REQUEST, MISSING or PACKAGE */
    const uint8_t *data; /* the data of a PACKAGE, in the datagram */
    uint32_t size;
};

/* Returns the bytes of an item on the wire. */
size_t cw_rudp_item_size(const struct cw_rudp_item *item);

/* Writes an item to out, which must have room for it, and returns its size. */
size_t cw_rudp_item_write(const struct cw_rudp_item *item, uint8_t *out);

/* Reads the item at the start of size bytes, and returns how many it takes; 0 when there is no
   whole item in its shortest form. */
size_t cw_rudp_item_read(const uint8_t *data, size_t size, struct cw_rudp_item *item);

#endif
