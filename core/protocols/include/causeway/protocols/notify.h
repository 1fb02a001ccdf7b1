/* Packet notification, as large commercial engines do it: numbers packets, and tells the sender of
   each one, exactly once and in order, whether it was delivered. Nothing is sent again here.

   On the wire, all words little-endian, a packet is

       bits 31..18  its sequence number, 14 bits, which wrap
       bits 17..4   acked: the newest packet of the other end whose fate this one tells
       bits 3..0    words - 1, 0 to 7
       history      words (1 to 8) of 32 bits: bit n % 32 of word n / 32 is set when packet
                    acked - n was delivered
       payload      the rest of the datagram

   A packet is valid when it is newer than the last valid one, and acks neither less than that one
   nor a packet that was never sent. It tells the fates of the packets after the last one acked, up
   to acked. A packet that is too old for the history was lost.

   The history of a packet begins with the first fate that the other end may not know: that of the
   packet after the one that was acked in the newest packet of ours known to be delivered. When the
   history would need more than 256 fates, the receiver stops delivering, reports new packets as
   lost, and waits until the other end knows of all packets that it has delivered. Then it goes on
   with the next packet that arrives. If the other end's history is as long (8 words), both would
   wait for each other forever. In this case the receiver goes on at once, and packets that it has
   delivered and not reported count as lost. So an ack always means "delivered", but a nak can be
   wrong after such an outage. */
#ifndef CAUSEWAY_PROTOCOLS_NOTIFY_H
#define CAUSEWAY_PROTOCOLS_NOTIFY_H

#include "causeway/base.h"
#include "causeway/protocols/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

#define CW_NOTIFY_SEQUENCES   16384 /* numbers of packets are below this */
#define CW_NOTIFY_WINDOW      8191  /* the most packets whose fate is not known or not taken yet */
#define CW_NOTIFY_HISTORY     256   /* the most packets whose fate one packet tells */
#define CW_NOTIFY_HEADER_SIZE 36    /* bytes of the longest header */

/* One end. It is not thread-safe; any number may exist. It needs no clock. */
struct cw_notify;

struct cw_notify_config {
    struct cw_allocator allocator; /* zero: malloc */

    /* Both ends must agree on these three. */
    uint16_t first_sequence;      /* the first packet sent, below CW_NOTIFY_SEQUENCES; default 0 */
    uint16_t first_peer_sequence; /* the first packet to arrive; default 0 */
    uint32_t max_packet_size;     /* bytes of the longest payload, 1 to 65000; default 1024 */

    /* Packets that come early wait for the ones before them. */
    uint32_t early_packets; /* the farthest ahead of the last one that a packet may wait, 1 to 256;
                               default 32 */
    uint32_t max_missing;   /* a packet waits only when at most this many are missing, at most
                               early_packets; 0: none waits; default 3. While packets wait, all others
                               do too */
};

struct cw_notify_config cw_notify_config_default(void);

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_notify_memory(const struct cw_notify_config *config);

/* The name of the first field of the config that is out of range; NULL when there is none, and when
   there is no config. */
const char *cw_notify_config_error_field(const struct cw_notify_config *config);

/* *notify is set only on CW_PROTOCOL_OK. Errors: CW_PROTOCOL_ERROR_CONFIG,
   CW_PROTOCOL_ERROR_NO_MEMORY. */
enum cw_protocol_error cw_notify_create(const struct cw_notify_config *config,
                                        struct cw_notify **notify);

/* NULL is allowed. */
void cw_notify_destroy(struct cw_notify *notify);

/* Goes back to the state after create. */
void cw_notify_reset(struct cw_notify *notify);

/* Makes the next packet, of size payload bytes (copied; 0 is allowed), and stores its number in
   *sequence unless that is NULL. Afterwards call transmit. Errors, with nothing changed:
   CW_PROTOCOL_ERROR_TOO_LARGE; CW_PROTOCOL_ERROR_TRANSMIT_PENDING when the previous packet has not
   been transmitted; CW_PROTOCOL_ERROR_EVENTS_PENDING when CW_NOTIFY_WINDOW packets have no fate yet
   or their fate has not been taken. At 60 packets per second this is a silence of more than two
   minutes, so an application should give up sooner: when both ends come to this, neither can send
   again. */
enum cw_protocol_error cw_notify_send(struct cw_notify *notify, const uint8_t *payload, size_t size,
                                      uint16_t *sequence);

/* Writes the packet to out, with the acks as they are now, and returns its size. Returns 0 when
   there is none, or when capacity is below CW_NOTIFY_HEADER_SIZE + max_packet_size. */
size_t cw_notify_transmit(struct cw_notify *notify, uint8_t *out, size_t capacity);

/* Takes a datagram that arrived (copied). Take the events with next afterwards. Errors, with
   nothing changed: CW_PROTOCOL_ERROR_MALFORMED, also for acks that cannot be;
   CW_PROTOCOL_ERROR_STALE when it is not newer than the last packet; CW_PROTOCOL_ERROR_DUPLICATE
   when it waits already; CW_PROTOCOL_ERROR_EVENTS_PENDING when early_packets packets have not been
   taken. */
enum cw_protocol_error cw_notify_receive(struct cw_notify *notify, const uint8_t *data,
                                         size_t size);

/* Ends a round of receives, once per tick: packets that came early wait no longer. */
void cw_notify_update(struct cw_notify *notify);

enum cw_notify_event_type {
    CW_NOTIFY_EVENT_ACK = 1, /* a packet of ours was delivered */
    CW_NOTIFY_EVENT_NAK,     /* a packet of ours was lost or refused */
    CW_NOTIFY_EVENT_PACKET   /* a packet from the other end, which is acked when it is taken */
};

struct cw_notify_event {
    enum cw_notify_event_type type;
    uint16_t sequence;
    const uint8_t *payload; /* PACKET: valid until the next call but refuse. Otherwise NULL */
    size_t size;            /* PACKET: bytes of payload. Otherwise 0 */
};

/* Takes the next event; false when there is none. Fates come in the order of the packets. The fates
   that a packet tells come before its payload. */
bool cw_notify_next(struct cw_notify *notify, struct cw_notify_event *event);

/* Refuses the packet that next gave last: its sender gets a nak. It does nothing after any other
   call. */
void cw_notify_refuse(struct cw_notify *notify);

/* The number of the next packet to be sent. */
uint16_t cw_notify_next_sequence(const struct cw_notify *notify);

/* The number of packets that may be sent until fates are taken, at most CW_NOTIFY_WINDOW. */
uint32_t cw_notify_room(const struct cw_notify *notify);

struct cw_notify_stats {
    /* These are counted since create or reset. */
    uint64_t packets_sent;
    uint64_t packets_acked;
    uint64_t packets_nakked;
    uint64_t packets_delivered;  /* the other end's, without those refused */
    uint64_t packets_overflowed; /* the other end's, reported lost because the history was full */
    uint64_t packets_stale;      /* dropped: not newer than the last packet, or here twice */
    uint64_t packets_malformed;  /* dropped */

    uint32_t packets_early; /* packets that wait for earlier ones now */
    uint32_t history_size;  /* packets whose fate the next history has to tell, 0 to 256 */
};

void cw_notify_get_stats(const struct cw_notify *notify, struct cw_notify_stats *stats);

CW_END_DECLARATIONS

#endif
