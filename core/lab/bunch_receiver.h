/* Parts that have arrived, in order or not, and the values of properties. */
#ifndef CAUSEWAY_LAB_BUNCH_RECEIVER_H
#define CAUSEWAY_LAB_BUNCH_RECEIVER_H

#include "base/memory.h"
#include "causeway/error.h"
#include "causeway/lab/bunch_item.h"

/* A part that waits for earlier ones or for the application. */
struct cw_bunch_incoming {
    bool here;
    uint8_t tag;
    uint16_t size;
};

struct cw_bunch_inbox {
    uint16_t next;  /* part */
    uint32_t parts; /* that are here */
    bool open;      /* the first part of a bunch has come, and not its last */
    uint32_t size;  /* bytes of the bunch so far */
};

struct cw_bunch_receiver {
    struct cw_bunch_limits limits;
    struct cw_bunch_inbox *inboxes;     /* one for each channel */
    struct cw_bunch_incoming *incoming; /* queue_parts for each channel */
    uint8_t *part_bytes;
    uint8_t *bunch_bytes; /* of a bunch for each channel */
    uint16_t *property_sizes;
    uint8_t *property_bytes;
    uint64_t changed[CW_BUNCH_MAX_PROPERTIES / 64]; /* properties with a value not told yet */
    uint64_t bunches_received;
};

/* Takes its memory from the arena, which may only measure. */
void cw_bunch_receiver_init(struct cw_bunch_receiver *receiver, struct cw_arena *arena,
                            const struct cw_bunch_limits *limits);
void cw_bunch_receiver_clear(struct cw_bunch_receiver *receiver);

/* Takes the payload of a packet, which must be newer than those before, as a whole or not at all.
   False when it is malformed, or has a part for which there is no room. */
bool cw_bunch_receiver_take(struct cw_bunch_receiver *receiver, const uint8_t *payload,
                            size_t size);

/* The next bunch; false when none is complete. Parts that make no bunch are dropped. */
bool cw_bunch_receiver_next_bunch(struct cw_bunch_receiver *receiver, uint32_t *channel,
                                  const uint8_t **data, size_t *size);

/* The next property that has a new value; false when there is none. */
bool cw_bunch_receiver_next_property(struct cw_bunch_receiver *receiver, uint32_t *property,
                                     const uint8_t **data, size_t *size);

/* As cw_bunch_missing. */
bool cw_bunch_receiver_missing(const struct cw_bunch_receiver *receiver, uint32_t channel,
                               uint16_t *part);

#endif
