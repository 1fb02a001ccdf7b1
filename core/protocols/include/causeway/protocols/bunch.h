/* Bunches and properties on packet notification, as large commercial engines send them. A bunch is
   a message that arrives exactly once, and in order on its channel. A property is a value of which
   only the newest counts. A lost packet is not sent again as it was: its bunches go into a new
   packet, and its properties are sent with the values that they have then. An unreliable bunch is
   sent once: it arrives at most once, in order among the unreliable ones, or is lost.

   On the wire, the payload of a packet is a list of items, to its end, all numbers little-endian:

       tag     8 bits: 0x80 for a property; else for a part of a bunch, the channel in bits 3..0,
               bit 4 set in the first part of a bunch, bit 5 in its last, and bits 7..6 zero;
               for an unreliable bunch 0x40 with its channel
       number  16 bits: of the property, or of the part, counted on its channel from 0; wraps; 0
               for an unreliable bunch
       size    16 bits: bytes that follow
       bytes

   A packet that breaks this is refused as a whole, and so is one with a part for which the receiver
   has no room yet: its sender gets a nak. */
#ifndef CAUSEWAY_PROTOCOLS_BUNCH_H
#define CAUSEWAY_PROTOCOLS_BUNCH_H

#include "causeway/protocols/notify.h"

CW_BEGIN_DECLARATIONS

/* One end. It is not thread-safe; any number may exist. */
struct cw_bunch;

struct cw_bunch_config {
    struct cw_allocator allocator; /* zero: malloc */

    /* Both ends must agree on all of these. */
    uint32_t channels;      /* 1 to 16; default 2 */
    uint32_t queue_parts;   /* parts of a channel that may be on their way, or have arrived and wait
                               to be taken; a power of two from 2 to 4096; default 512 */
    uint32_t max_part_size; /* bytes of a bunch that are sent in one piece, at least 1, 5 less than
                               max_packet_size at most; default 240 */
    uint32_t max_bunch_size;        /* bytes, 1 to queue_parts * max_part_size; default 65536 */
    uint32_t properties;            /* the number of properties, 0 to 256; default 0 */
    uint32_t max_property_size;     /* bytes, limits as for max_part_size; default 240 */
    uint32_t unreliable_bunches;    /* unreliable bunches of all channels that may wait to be sent,
                                       and as many to be taken, 0 to 256; 0: there are none;
                                       default 0 */
    struct cw_notify_config notify; /* the config of the packets; its allocator is not used */

    uint32_t bytes_per_second; /* counts datagrams with items, and none that only acks; 0: no limit;
                                  default 100000 */
};

struct cw_bunch_config cw_bunch_config_default(void);

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_bunch_memory(const struct cw_bunch_config *config);

/* The name of the first field of the config, or of its notify, that is out of range; NULL when
   there is none, and when there is no config. */
const char *cw_bunch_config_error_field(const struct cw_bunch_config *config);

/* *bunch is set only on CW_PROTOCOL_OK. Errors: CW_PROTOCOL_ERROR_CONFIG,
   CW_PROTOCOL_ERROR_NO_MEMORY. */
enum cw_protocol_error cw_bunch_create(const struct cw_bunch_config *config,
                                       struct cw_bunch **bunch);

/* NULL is allowed. */
void cw_bunch_destroy(struct cw_bunch *bunch);

/* Goes back to the state after create. */
void cw_bunch_reset(struct cw_bunch *bunch);

/* Sends a bunch of size bytes (copied; 0 is allowed) on a channel. Errors, with nothing changed:
   CW_PROTOCOL_ERROR_TOO_LARGE; CW_PROTOCOL_ERROR_QUEUE_FULL, try again later. */
enum cw_protocol_error cw_bunch_send(struct cw_bunch *bunch, uint32_t channel, const uint8_t *data,
                                     size_t size);

/* Sends a bunch of size bytes (copied; 0 is allowed, max_part_size at most) once, in the next
   packet with room. When unreliable_bunches of them wait, the oldest is dropped. Errors, with
   nothing changed: CW_PROTOCOL_ERROR_TOO_LARGE; CW_PROTOCOL_ERROR_INVALID_ARGUMENT also when
   unreliable_bunches is 0. */
enum cw_protocol_error cw_bunch_send_unreliable(struct cw_bunch *bunch, uint32_t channel,
                                                const uint8_t *data, size_t size);

/* Gives a property a new value of size bytes (copied), which will be sent until it is known to have
   arrived or there is a newer one. Error, with nothing changed: CW_PROTOCOL_ERROR_TOO_LARGE. */
enum cw_protocol_error cw_bunch_set(struct cw_bunch *bunch, uint32_t property, const uint8_t *data,
                                    size_t size);

/* Takes a datagram that arrived. Errors, with nothing changed: those of cw_notify_receive. */
enum cw_protocol_error cw_bunch_receive(struct cw_bunch *bunch, const uint8_t *data, size_t size);

/* Ends a round of receives and lets time pass. Call it once per tick, then take the events, then
   transmit. */
void cw_bunch_update(struct cw_bunch *bunch, double now);

/* Writes the next datagram to out and returns its size; call it until it returns 0. The first one
   after an update carries the acks even when nothing else is to be sent. It also returns 0 when
   capacity is below CW_NOTIFY_HEADER_SIZE + notify.max_packet_size, and in the silence that
   cw_notify_send describes. */
size_t cw_bunch_transmit(struct cw_bunch *bunch, uint8_t *out, size_t capacity);

enum cw_bunch_event_type {
    CW_BUNCH_EVENT_BUNCH = 1, /* a bunch arrived */
    CW_BUNCH_EVENT_PROPERTY,  /* a property has arrived; values before it may have been skipped */
    CW_BUNCH_EVENT_UNRELIABLE /* an unreliable bunch arrived; some before it may have been lost */
};

struct cw_bunch_event {
    enum cw_bunch_event_type type;
    uint32_t number;     /* the channel's number, or the property's */
    const uint8_t *data; /* valid until the next call */
    size_t size;         /* bytes of data */
};

/* Takes the next event; false when there is none. Unreliable bunches that are not taken are
   dropped, the oldest first, when more come. */
bool cw_bunch_next(struct cw_bunch *bunch, struct cw_bunch_event *event);

/* Returns whether parts of bunches have arrived on the channel that wait for an earlier one, which
   is then stored in *part. */
bool cw_bunch_missing(const struct cw_bunch *bunch, uint32_t channel, uint16_t *part);

struct cw_bunch_stats {
    /* These are counted since create or reset. */
    uint64_t bunches_sent;
    uint64_t bunches_received;
    uint64_t parts_sent; /* parts sent, repeats included */
    uint64_t parts_lost; /* parts for which a nak came */
    uint64_t properties_sent;
    uint64_t properties_lost;     /* properties for whose newest value that was sent a nak came */
    uint64_t unreliable_sent;     /* unreliable bunches that went out */
    uint64_t unreliable_received; /* unreliable bunches that came */
    uint64_t unreliable_dropped;  /* bunches dropped before they went out, or untaken */
    uint64_t packets_refused;     /* the other end's packets that were refused */
    struct cw_notify_stats notify;
};

void cw_bunch_get_stats(const struct cw_bunch *bunch, struct cw_bunch_stats *stats);

CW_END_DECLARATIONS

#endif
