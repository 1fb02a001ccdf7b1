/* The inside of a connection. connection.c creates and manages it, connection_sending.c makes its
   packets, and connection_receiving.c reads them. */
#ifndef CAUSEWAY_CONNECTION_INTERNAL_H
#define CAUSEWAY_CONNECTION_INTERNAL_H

#include "message/channel_internal.h"
#include "message/receipts.h"
#include "packet/endpoint_internal.h"

#include "causeway/connection.h"

#include <math.h>

/* A ring of 16-bit words records what each packet carried. Per channel it holds one word with the
   channel, whether it is a fragment, and the count, followed by the ids. When the ring wraps, the
   packets whose words were overwritten are forgotten, and what they carried is sent again. The ring
   wraps before an id does: of the 65,536 messages until then, the first 16,384 may have been sent
   before, and the last 16,384 may wait. */
#define CW_WORDS_PER_PACKET  16
#define CW_WORDS_PER_MESSAGE 8 /* in flight: an id in a packet, sent again, and in copies */
#define CW_WORDS_MOST        32768
#define CW_CARRIED_FRAGMENT  0x8000u
#define CW_CARRIED_CHANNEL   9 /* bits of the count, up to 256 */

/* What congestion control knows of a packet. */
enum cw_flight {
    CW_FLIGHT_NONE, /* nothing: it does not count */
    CW_FLIGHT_SENT,
    CW_FLIGHT_FRAGMENT, /* sent, with a fragment of a block */
    CW_FLIGHT_SETTLED   /* acked or lost */
};

/* A time before all times that a caller may give. */
#define CW_NEVER (-(double)INFINITY)

struct cw_carried {
    uint32_t start;
    uint16_t packet; /* its number */
    uint16_t words;
    uint16_t receipts; /* of its unreliable messages: a list */
    uint8_t flight;    /* what congestion control knows of it: an enum cw_flight */
    bool speaks;       /* has entries, which the other end answers */
};

struct cw_connection {
    struct cw_connection_config config;
    uint32_t packet_size;  /* bytes of payload up to which our packets are filled */
    uint32_t send_size;    /* the longest payload we send, in fragments, with a block fragment */
    uint32_t entries_bits; /* of the number of entries in front of it */
    struct cw_endpoint *endpoint;
    /* Two pools, so that neither received nor outgoing messages can use up the other's room. */
    struct cw_message_pool *made;
    struct cw_message_pool *arrived;
    uint32_t room_for_all; /* messages of the pool `arrived`; one more is for messages that are next
                              in order */
    struct cw_channel *channels;

    struct cw_carried *carried; /* by the packets of the endpoint's window */
    uint16_t *words;
    uint32_t words_mask;
    uint32_t words_written;
    struct cw_receipts receipts;

    struct cw_timing timing;
    double updated;   /* last, or CW_NEVER */
    double sent;      /* when the latest datagram was sent, or CW_NEVER */
    double spoken_to; /* when the latest packet with entries arrived, or the first update was */
    double answered; /* when the latest ack of a packet of ours with entries arrived, or CW_NEVER */
    double interval; /* between updates, smoothed */
    uint64_t share_clock;
    uint32_t packets_this_round;
    uint32_t fragments; /* packets in flight that carry one */
    bool acks_twice;    /* so many arrived before this round that two packets ack them */
    bool open;          /* messages are accepted to be sent */
    bool round_open;
    bool more;             /* something is due that did not fit into the packet before */
    bool held;             /* a fragment is due, but may not go into that packet */
    bool bulk;             /* congestion control counts that packet as in flight */
    uint32_t next_channel; /* the channel that next looks at first */

    struct cw_congestion congestion;
    uint64_t packets_refused;
    uint64_t packets_invalid;
};

/* Whether a call can be carried out at all: there is a connection, and now is a time. */
static inline bool cw_connection_can_run(const struct cw_connection *c, double now)
{
    return c && isfinite(now);
}

/* Sets whether send accepts messages. Without anyone at the other end they would be lost. True
   after create; a reset does not change it. */
void cw_connection_set_open(struct cw_connection *connection, bool open);

/* Whether everything that was sent is done: reliable messages have arrived, and all others are on
   their way. */
bool cw_connection_is_idle(const struct cw_connection *connection);

/* Takes what became of packets from the endpoint and tells the channels. */
void cw_connection_take_fates(struct cw_connection *connection, double now);

/* The config of the connection's endpoint, whose packets are no longer than needed. */
struct cw_endpoint_config cw_connection_endpoint_config(const struct cw_connection_config *config);

#endif
