/* The inside of a connection: connection.c makes and keeps it, connection_packets.c moves it. */
#ifndef CAUSEWAY_CONNECTION_INTERNAL_H
#define CAUSEWAY_CONNECTION_INTERNAL_H

#include "message/channel_internal.h"
#include "message/receipts.h"
#include "packet/endpoint_internal.h"

#include "causeway/connection.h"
#include "causeway/sequence_buffer.h"

#include <math.h>

/* What a packet carried lies in a ring of 16-bit words: per channel a word with the channel,
   whether it is a fragment, and the count, then the ids. When the ring comes round, the packets
   whose words were overwritten are forgotten: what they carried is sent again. It comes round
   before an id does: of the 65,536 messages until then the first 16,384 may have been sent before,
   and the last as many may wait. */
#define CW_WORDS_PER_PACKET  16
#define CW_WORDS_PER_MESSAGE 8 /* in flight: an id in a packet, sent again, and in copies */
#define CW_WORDS_MOST        32768
#define CW_CARRIED_FRAGMENT  0x8000u
#define CW_CARRIED_CHANNEL   9 /* bits of the count, up to 256 */

/* A time before all times that a caller may give. */
#define CW_NEVER (-(double)INFINITY)

struct cw_carried {
    uint32_t start;
    uint16_t words;
    uint16_t receipts; /* of its unreliable messages: a list */
};

struct cw_connection {
    struct cw_connection_config config;
    uint32_t packet_size;  /* bytes of payload that a packet of ours is filled up to */
    uint32_t send_size;    /* that it has at most, in fragments, with one of a block */
    uint32_t entries_bits; /* of the number of entries in front of it */
    struct cw_endpoint *endpoint;
    /* Apart, so that neither what arrived nor what is to be sent can keep the other out. */
    struct cw_message_pool *made;
    struct cw_message_pool *arrived;
    uint32_t room_for_all; /* messages of arrived; one more is for those that are next in order */
    struct cw_channel *channels;

    struct cw_sequence_buffer packets; /* of struct cw_carried */
    uint16_t *words;
    uint32_t words_mask;
    uint32_t words_written;
    struct cw_receipts receipts;

    struct cw_timing timing;
    double updated;  /* last, or CW_NEVER */
    double interval; /* between updates, smoothed */
    uint64_t share_clock;
    uint32_t packets_this_round;
    bool open; /* messages are accepted to be sent */
    bool round_open;
    bool more;             /* something is due that did not fit into the packet before */
    uint32_t next_channel; /* that next looks at first */

    struct cw_congestion congestion;
    uint64_t packets_refused;
    uint64_t packets_invalid;
};

/* Whether a call can be carried out at all: there is a connection, and now is a time. */
static inline bool cw_connection_can_run(const struct cw_connection *c, double now)
{
    return c && isfinite(now);
}

/* Whether messages are taken to be sent: without anyone at the other end they would be lost. True
   after create; a reset leaves it as it is. */
void cw_connection_set_open(struct cw_connection *connection, bool open);

/* The config of its endpoint, which sends no longer packets than it has to. */
struct cw_endpoint_config cw_connection_endpoint_config(const struct cw_connection_config *config);

#endif
