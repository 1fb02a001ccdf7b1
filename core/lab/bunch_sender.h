/* What has to be sent, what is under way in which packet, and what was lost. */
#ifndef CAUSEWAY_LAB_BUNCH_SENDER_H
#define CAUSEWAY_LAB_BUNCH_SENDER_H

#include "base/memory.h"
#include "causeway/error.h"
#include "causeway/lab/bunch_item.h"

/* An item or the head of a list. Every item, a part or a property, is in one list, or alone. */
struct cw_bunch_link {
    uint32_t next, previous;
};

/* A part or a property. */
struct cw_bunch_outgoing {
    uint8_t tag;
    bool waits; /* to be sent */
    uint16_t number;
    uint16_t size;
};

/* Parts that are not known to have arrived, from first to next. */
struct cw_bunch_outbox {
    uint16_t first, next;
};

struct cw_bunch_sender {
    struct cw_bunch_limits limits;
    uint32_t items; /* parts, then properties */
    uint32_t turn;  /* the list to be served next */
    struct cw_bunch_link *links;
    struct cw_bunch_outbox *outboxes;   /* one for each channel */
    struct cw_bunch_outgoing *outgoing; /* one for each item */
    uint8_t *bytes;                     /* of all items */
    uint32_t waiting;                   /* items to be sent */
    uint64_t bunches_sent;
    uint64_t parts_sent, parts_lost;
    uint64_t properties_sent, properties_lost;
};

/* Takes its memory from the arena, which may only measure. */
void cw_bunch_sender_init(struct cw_bunch_sender *sender, struct cw_arena *arena,
                          const struct cw_bunch_limits *limits);
void cw_bunch_sender_clear(struct cw_bunch_sender *sender);

/* As cw_bunch_send and cw_bunch_set. */
enum cw_error cw_bunch_sender_send(struct cw_bunch_sender *sender, uint32_t channel,
                                   const uint8_t *data, size_t size);
enum cw_error cw_bunch_sender_set(struct cw_bunch_sender *sender, uint32_t property,
                                  const uint8_t *data, size_t size);

/* Fills the packet of that sequence number and returns its size. What was lost, the properties, and
   what is new on each channel take turns. */
size_t cw_bunch_sender_write(struct cw_bunch_sender *sender, uint16_t sequence, uint8_t *out,
                             size_t capacity);

/* The fate of a packet. */
void cw_bunch_sender_settle(struct cw_bunch_sender *sender, uint16_t sequence, bool acked);

#endif
