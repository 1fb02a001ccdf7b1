/* The inside of a connection. connection_config.c says how large its parts are, connection.c
   creates and manages it, connection_timing.c keeps what is known of the path,
   connection_sending.c makes its packets, connection_receiving.c reads them, and
   connection_requests.c asks and answers. */
#ifndef CAUSEWAY_CONNECTION_INTERNAL_H
#define CAUSEWAY_CONNECTION_INTERNAL_H

#include "base/shared.h"
#include "message/channel_internal.h"
#include "message/receipts.h"
#include "message/requests.h"
#include "packet/congestion.h"
#include "packet/endpoint_internal.h"

#include "causeway/connection.h"

#include <math.h>

/* A ring of 16-bit words records what each packet carried. Per channel it holds one word with the
   channel, whether it is a fragment, and the count, followed by the ids. When the ring wraps, the
   packets whose words were overwritten are forgotten, and their contents are sent again. The ring
   wraps before an id does: of the 65,536 messages until then, the first 16,384 may have been sent
   before, and the last 16,384 may wait. */
#define CW_WORDS_PER_PACKET  16
#define CW_WORDS_PER_MESSAGE 8 /* per message in flight: its id in packets and copies */
#define CW_WORDS_MOST        32768
#define CW_CARRIED_FRAGMENT  0x8000u
#define CW_CARRIED_CHANNEL   9 /* bits of the count, up to 256 */

/* The state of a packet for congestion control. */
enum cw_flight {
    CW_FLIGHT_NONE, /* unknown: the packet does not count */
    CW_FLIGHT_SENT,
    CW_FLIGHT_FRAGMENT, /* sent, with a fragment of a block */
    CW_FLIGHT_SETTLED   /* acked or lost */
};

/* The answer that is owed to the packets with entries that have arrived since our latest packet.
   More than CW_OWES_SOON is an answer in the next round. */
enum cw_owes { CW_OWES_NOTHING = 0, CW_OWES_SOON = 1, CW_OWES_NOW = 2 };

/* The part of the config that is of use after create, without the configs of 64 channels. */
struct cw_connection_settings {
    struct cw_allocator allocator;
    size_t memory; /* bytes of the one allocation */
    const struct cw_schema *schema;
    uint32_t channel_count;
    uint32_t sent_window; /* packets that may be in flight */
    uint32_t max_messages;
    uint32_t max_packets_per_update;
    double idle_interval_seconds;
};

/* A time before any that a caller may give. */
#define CW_NEVER (-(double)INFINITY)

struct cw_carried {
    uint32_t start;
    uint16_t packet; /* the packet's number */
    uint16_t words;
    uint16_t receipts; /* the list of receipts of its unreliable messages */
    uint8_t flight;    /* an enum cw_flight */
    bool speaks;       /* the packet has entries, which the other end answers */
    uint16_t spoken;   /* the number of packets with entries up to this one; wraps */
};

/* Why reliable messages always go on. The application takes its messages and releases them, and a
   path loses some packets but not all. Then the oldest message of each reliable channel that is not
   acked is sent about once in a round trip, is accepted, and is acked, whatever is full:

   1. All messages before the oldest are acked, so the other end has them. It either has the oldest
      too, or that is the first one missing there. The same holds for a block: any fragment of the
      oldest block can be accepted.

   2. The oldest is sent when it is due. In a packet it goes before all others of its channel, lost
      ones, copies and combinations among them (next_to_pick). Where other channels leave it no
      room, its channel sends nothing else and keeps its place in virtual time, so that it soon
      comes first in a packet (next_channel), and a message that is sent at all fits into an empty
      one.

   3. A first missing message is accepted, even out of a packet that is refused (read_kept). It may
      take the reserve of its channel, if the pool `arrived` has no other room. A channel has at
      most one message there, which was next in order when it came: it waits for the application, or
      is the beginning of a block. In the first case the application takes it. In the second case
      the first thing missing is another fragment, which needs no room in the pool. Everything else
      together takes no more than the rest of the pool. A fragment of a large message needs no room
      either, and its place is free once the application has released what it took before.

   4. A packet is acked if every reliable message in it was accepted. The rest of the packet might
      always be refused. So after a few repeats in vain the oldest goes into a packet that has
      nothing of any reliable channel but the oldest that is due (compose, first_due), all of which
      is accepted by 1 and 3. Combinations do not have a packet refused either. Where the other end
      is seen to refuse packets, the messages after the oldest are sent in the same way, one in a
      packet: each is the first missing one when it comes, so that far more than one arrives in a
      round trip. The oldest may be a fragment, which messages after it otherwise go before: then
      it and other fragments go alone until packets are accepted again.

   5. While nothing is heard, little is sent, but a packet goes at least every five seconds
      (cw_sent_packets_spread, must_send), so that both ends soon hear of each other when the path
      is good again, and everything that was sent before is due.

   6. Every packet with reliable messages is answered at once, so that an ack goes with each repeat
   of the oldest. An answer that gets lost needs no other: the repeat asks for the next one. */
struct cw_connection {
    struct cw_connection_settings config;
    uint32_t packet_size;  /* bytes of payload up to which our packets are filled */
    uint32_t send_size;    /* the longest payload we send, in fragments, with a block fragment */
    uint32_t entries_bits; /* the width of the number of entries in front of a payload */
    struct cw_endpoint *endpoint;
    /* Two pools, so that neither received nor outgoing messages can use up the other's room. In
       `arrived`, each reliable channel has one message that is its own, and one more for a large
       message, which needs it only when the application takes it. */
    struct cw_message_pool *made;
    struct cw_message_pool *arrived;
    struct cw_channel *channels;

    struct cw_carried *carried; /* the contents of the packets in the endpoint's window */
    uint16_t *words;
    uint32_t words_mask;
    uint32_t words_written;
    struct cw_receipts receipts;
    struct cw_requests *requests; /* NULL where the schema has none */
    struct cw_large_writer writer;

    struct cw_timing timing;
    double updated;   /* the time of the last update, or CW_NEVER */
    double sent;      /* when the latest datagram was sent, or CW_NEVER */
    double spoken_to; /* when the latest packet with reliable entries arrived, or the first update
                         was */
    double interval;  /* the time between updates, smoothed */
    uint64_t share_clock;
    uint32_t packets_this_round;
    uint32_t fragments;   /* packets in flight that carry a fragment */
    double fragment_sent; /* when the latest of these was sent, or CW_NEVER */
    uint16_t spoken;      /* the number of our packets with entries; wraps */
    uint16_t spoken_seen; /* the same, up to the newest packet that the other end has seen */
    uint8_t answers;      /* rounds in which what arrived is answered once more */
    uint8_t owes;         /* an enum cw_owes, or the sum of both answers */
    bool acks_twice;      /* enough packets arrived before this round for two packets to ack them */
    bool open;            /* messages are accepted to be sent */
    bool round_open;
    bool more_due;     /* a message or fragment is due that did not fit into the previous packet */
    bool fragment_due; /* a fragment is due, but may not go into the packet being made */
    bool bulk;         /* congestion control counts the packet being made as in flight */
    uint32_t next_channel; /* the channel at which cw_connection_next looks first */

    uint32_t repair_work; /* the work left for the packet being read; see repair_receiver.h */
    struct cw_congestion congestion;
    uint64_t packets_refused;
    uint64_t packets_invalid;
    uint64_t reliable;      /* a bit for each reliable channel */
    uint32_t messages_read; /* all messages read, whether kept or not, as a measure of their cost;
                               wraps */
    CW_ONE_THREAD_MEMBER;
};

/* Returns whether a call can be carried out at all: there is a connection, and now is a time. */
CW_SHARED bool cw_connection_can_run(const struct cw_connection *c, double now)
{
    return c && isfinite(now);
}

/* Sets whether send accepts messages. Without anyone at the other end they would be lost. It is
   true after create; a reset does not change it. */
void cw_connection_set_open(struct cw_connection *connection, bool open);

/* Returns whether everything that was sent is done: reliable messages have arrived, and all others
   are on their way. */
bool cw_connection_is_idle(const struct cw_connection *connection);

/* Sends questions and answers again that are due, and ends questions whose time is over. */
void cw_connection_update_requests(struct cw_connection *connection, double now);

/* Looks at the event of a message that may be part of a request. Returns false when the application
   need not see it; the message is released then. */
bool cw_connection_sort_request(struct cw_connection *connection,
                                struct cw_connection_event *event);

/* The messages that could be sent now on a channel of the connection. */
uint32_t cw_connection_room(const struct cw_connection *connection, uint32_t channel);

/* Tells the channels the fate of a packet. */
void cw_connection_settle(struct cw_connection *connection, uint16_t packet, bool acked,
                          double now);

/* Takes the fates of packets from the endpoint and passes them to the channels. */
CW_INLINE void cw_connection_take_fates(struct cw_connection *c, double now)
{
    uint16_t packet;
    bool acked;
    while (cw_endpoint_next_fate(c->endpoint, &packet, &acked))
        cw_connection_settle(c, packet, acked, now);
}

/* Sets the timing of a round, and what changes in it with each header that arrives. */
void cw_connection_set_timing(struct cw_connection *connection);
void cw_connection_set_headers(struct cw_connection *connection);

/* Returns the bytes up to which packets are filled, so that they are not sent in fragments. */
uint32_t cw_connection_packet_size(const struct cw_connection_config *config);

/* Returns the bytes of the longest payload that is sent: more than packet_size_of only where a
   message or a fragment would not fit otherwise. */
uint32_t cw_connection_send_size(const struct cw_connection_config *config);

/* Returns the bytes of the longest message of a channel that goes in fragments of its own. */
uint32_t cw_connection_large(const struct cw_connection_config *config, uint32_t index);

/* Returns the bytes of the longest message of any channel that does. */
uint32_t cw_connection_largest(const struct cw_connection_config *config);

/* Returns the number of messages that may have arrived, besides the one of which each reliable
   channel is sure. */
uint32_t cw_connection_received_room(const struct cw_connection_config *config);

/* Returns the questions that may be open, 0 where the schema has no request. */
uint32_t cw_connection_requests(const struct cw_connection_config *config);

/* Returns the bytes of the longest type and body of a message that goes in fragments. */
uint32_t cw_connection_writer_size(const struct cw_connection_config *config);

/* The config of the connection's endpoint, whose packets are no longer than needed. */
struct cw_endpoint_config cw_connection_endpoint_config(const struct cw_connection_config *config);

#endif
