/* Packets of bunches carry these items, and an end has these two halves. bunch.h says what stands
   where on the wire. This header is private to the library. */
#ifndef CAUSEWAY_PROTOCOLS_BUNCH_INTERNAL_H
#define CAUSEWAY_PROTOCOLS_BUNCH_INTERNAL_H

#include "base/memory.h"
#include "causeway/protocols/bunch.h"

#define CW_BUNCH_ITEM_HEAD      5 /* bytes before an item's own */
#define CW_BUNCH_MAX_PROPERTIES 256
#define CW_BUNCH_MAX_UNRELIABLE 256

enum {
    CW_BUNCH_CHANNEL = 0x0f,
    CW_BUNCH_FIRST = 0x10,
    CW_BUNCH_LAST = 0x20,
    CW_BUNCH_UNRELIABLE = 0x40, /* tags of parts are below it */
    CW_BUNCH_PROPERTY = 0x80
};

struct cw_bunch_item {
    uint8_t tag;
    uint16_t number;
    uint16_t size;
    const uint8_t *data;
};

/* Writes CW_BUNCH_ITEM_HEAD + item->size bytes and returns their number. */
size_t cw_bunch_item_write(const struct cw_bunch_item *item, uint8_t *out);

/* Reads the item at the start of data, checks it against the config, and returns its size with
   head; or 0 when there is none. */
size_t cw_bunch_item_read(const uint8_t *data, size_t size, const struct cw_bunch_config *config,
                          struct cw_bunch_item *item);

/* Unreliable bunches wait here, to be sent or to be taken. */
struct cw_bunch_queue {
    uint32_t places;
    uint32_t first, count;
    uint32_t max_size;             /* bytes of each */
    struct cw_bunch_item *waiting; /* a ring of places; their data is in bytes */
    uint8_t *bytes;
    uint64_t added, dropped;
};

/* Takes its memory from the arena, which may only measure. */
void cw_bunch_queue_init(struct cw_bunch_queue *queue, struct cw_arena *arena,
                         const struct cw_bunch_config *config);
void cw_bunch_queue_clear(struct cw_bunch_queue *queue);

/* Adds an item, whose bytes are copied, behind the others. In a full queue the oldest is dropped
   for it. */
void cw_bunch_queue_add(struct cw_bunch_queue *queue, const struct cw_bunch_item *item);

/* Returns the oldest item; NULL when there is none. */
const struct cw_bunch_item *cw_bunch_queue_oldest(const struct cw_bunch_queue *queue);

/* Takes the oldest item out. There must be one. Its data stays until more are added. */
void cw_bunch_queue_remove(struct cw_bunch_queue *queue);

/* A part waits here for earlier ones or for the application. */
struct cw_bunch_incoming {
    bool present;
    uint8_t tag;
    uint16_t size;
};

struct cw_bunch_inbox {
    uint16_t next;  /* the next part to come */
    uint32_t parts; /* parts that are here */
    bool open;      /* the first part of a bunch has come, but not its last */
    uint32_t size;  /* bytes of the bunch so far */
};

struct cw_bunch_receiver {
    const struct cw_bunch_config *config;
    struct cw_bunch_inbox *inboxes;     /* one for each channel */
    struct cw_bunch_incoming *incoming; /* queue_parts for each channel */
    uint8_t *part_bytes;
    uint8_t *bunch_bytes; /* bytes of one bunch for each channel */
    uint16_t *property_sizes;
    uint8_t *property_bytes;
    struct cw_bunch_queue unreliable;
    uint64_t changed[CW_BUNCH_MAX_PROPERTIES / 64]; /* properties with a value not told yet */
    uint64_t bunches_received;
};

/* Takes its memory from the arena, which may only measure. */
void cw_bunch_receiver_init(struct cw_bunch_receiver *receiver, struct cw_arena *arena,
                            const struct cw_bunch_config *config);
void cw_bunch_receiver_clear(struct cw_bunch_receiver *receiver);

/* Takes the payload of a packet, which must be newer than those before, as a whole or not at all.
   Returns false when it is malformed, or has a part for which there is no room. */
bool cw_bunch_receiver_take(struct cw_bunch_receiver *receiver, const uint8_t *payload,
                            size_t size);

/* Gives the next bunch; false when none is complete. Parts that make no bunch are dropped. */
bool cw_bunch_receiver_next_bunch(struct cw_bunch_receiver *receiver, uint32_t *channel,
                                  const uint8_t **data, size_t *size);

/* Gives the next property that has a new value; false when there is none. */
bool cw_bunch_receiver_next_property(struct cw_bunch_receiver *receiver, uint32_t *property,
                                     const uint8_t **data, size_t *size);

/* Does the work of cw_bunch_missing. */
bool cw_bunch_receiver_missing(const struct cw_bunch_receiver *receiver, uint32_t channel,
                               uint16_t *part);

/* A link is an item or the head of a list. Every item, a part or a property, is in one list, or
   alone. */
struct cw_bunch_link {
    uint32_t next, previous;
};

/* An item is a part or a property. */
struct cw_bunch_outgoing {
    uint8_t tag;
    bool queued; /* the item is to be sent */
    uint16_t number;
    uint16_t size;
};

/* Parts from first to next are not known to have arrived. */
struct cw_bunch_outbox {
    uint16_t first, next;
};

struct cw_bunch_sender {
    const struct cw_bunch_config *config;
    uint32_t items; /* parts, then properties */
    uint32_t turn;  /* the list to be served next */
    struct cw_bunch_link *links;
    struct cw_bunch_outbox *outboxes;   /* one for each channel */
    struct cw_bunch_outgoing *outgoing; /* one for each item */
    uint8_t *bytes;                     /* the bytes of all items */
    uint32_t queued_count;              /* items to be sent, without unreliable bunches */
    struct cw_bunch_queue unreliable;
    uint64_t unreliable_sent;
    uint64_t bunches_sent;
    uint64_t parts_sent, parts_lost;
    uint64_t properties_sent, properties_lost;
};

/* Takes its memory from the arena, which may only measure. */
void cw_bunch_sender_init(struct cw_bunch_sender *sender, struct cw_arena *arena,
                          const struct cw_bunch_config *config);
void cw_bunch_sender_clear(struct cw_bunch_sender *sender);

/* These do the work of cw_bunch_send and cw_bunch_set. */
enum cw_protocol_error cw_bunch_sender_send(struct cw_bunch_sender *sender, uint32_t channel,
                                            const uint8_t *data, size_t size);
enum cw_protocol_error cw_bunch_sender_set(struct cw_bunch_sender *sender, uint32_t property,
                                           const uint8_t *data, size_t size);

/* Returns whether there is anything to be sent. */
bool cw_bunch_sender_waits(const struct cw_bunch_sender *sender);

/* Fills the packet of that sequence number and returns its size. Lost items, properties, the new
   parts of each channel, and unreliable bunches take turns. */
size_t cw_bunch_sender_write(struct cw_bunch_sender *sender, uint16_t sequence, uint8_t *out,
                             size_t capacity);

/* Takes the fate of a packet. */
void cw_bunch_sender_settle(struct cw_bunch_sender *sender, uint16_t sequence, bool acked);

#endif
