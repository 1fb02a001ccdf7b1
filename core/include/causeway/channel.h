/* Channels: streams of messages within a connection, each with its own delivery guarantee. You send
   and receive on a channel through its connection; see connection.h. */
#ifndef CAUSEWAY_CHANNEL_H
#define CAUSEWAY_CHANNEL_H

#include "causeway/base.h"
#include "causeway/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

#define CW_MAX_CHANNELS            64
#define CW_MAX_MESSAGES_PER_PACKET 256

enum cw_channel_kind {
    /* Every message arrives, once, in the order of sending. */
    CW_CHANNEL_RELIABLE_ORDERED,
    /* A message is sent once, if the next packets have room for it, and otherwise dropped. It may
       be lost, or arrive out of order. */
    CW_CHANNEL_UNRELIABLE,

    /* The next two kinds are ours; yojimbo does not have them. On the wire they look like the two
       above: only the receiver treats them differently. Both ends must agree, as on every kind.

       A message is unreliable, and dropped when it is older than one that has arrived. A receipt
       only tells that it has arrived. */
    CW_CHANNEL_UNRELIABLE_SEQUENCED,
    /* Every message arrives, once, as soon as its packet does: one that is lost holds up no other,
       unless it is receive_queue_size messages behind. A message with a block still waits for all
       messages before it, and later ones wait for the block; give blocks a channel of their own. */
    CW_CHANNEL_RELIABLE_UNORDERED
};

/* The ways in which a reliable channel acts before it knows that a message was lost. The less is
   lost, the shorter the round trip, and the fewer messages wait for a lost one, the less it does.
   Without losses it costs next to nothing.

   Where a round trip takes 100 ms and 5 % of packets are lost, 99 % of messages arrive within 75 ms
   with CW_RECOVERY_CODED, 142 ms with CW_RECOVERY_COPIES, and 175 ms with CW_RECOVERY_RESEND; the
   first two send nearly twice the bytes. */
enum cw_recovery_kind {
    /* Nothing: a message is sent again when its ack should have come. */
    CW_RECOVERY_RESEND,

    /* Messages are sent again in the following packets. Where losses come in bursts, that is twice
       in a round trip, until they are acked. The other end need not be ours. */
    CW_RECOVERY_COPIES,

    /* Messages are followed by combinations of all that are not acked, and a receiver that lacks
       some rebuilds them from as many combinations, without a round trip. This is an extension of
       the wire that other implementations do not have: both ends turn it on, and where tokens carry
       a fingerprint it is part of that. Combinations hold messages of up to 256 bytes with their
       type; longer ones are copied. It takes about 40 KB of memory. */
    CW_RECOVERY_CODED
};

/* Large messages, an extension of the wire that other implementations do not have, and part of the
   fingerprint. A message that does not fit into a packet, or has a block, goes in fragments among
   the other messages of its channel, so that several are on their way at once, and those that fit
   do not wait for it. Congestion control counts fragments, as it does those of blocks. A reliable
   channel sends each until it is acked; on an unreliable one a message arrives if all of its
   fragments do. `blocks` may be false: it is for messages whose blocks are longer than
   max_message_size, which go one at a time.

   Both ends turn it on by max_message_size. CW_AUTO is what the longest message of the schema
   needs, as far as its fields tell, and 0 when every one fits into a packet. Where it is 0, a
   message that does not fit into a packet goes in a longer one, of up to the endpoint's
   max_packet_size, that is sent in fragments; any of them that is lost takes all with it.

   The receiver has memory for receive_queue_size fragments, and for the rest of one message. The
   block of a received message stays there until the message is released; meanwhile no fragment
   takes its place, and the other end is held back when that is the next one. */
struct cw_channel_config {
    enum cw_channel_kind kind; /* default: the kind given to cw_channel_config_default */

    /* Both ends must agree on these; packets do not say. */
    uint32_t max_messages_per_packet; /* 1 to 256; default 256 */
    uint32_t receive_queue_size; /* messages that the receiver can hold until the application takes
                                    them, a power of two from 2 to 16384; default 256. On a reliable
                                    channel a further one waits at the sender; on an unreliable one
                                    it replaces the oldest */
    bool blocks; /* messages may carry a block; default false. A reliable receiver holds one block
                    until its message is released; until then it takes the first 64 fragments of the
                    next block, but never all. An unreliable receiver holds the latest 8 blocks */
    enum cw_recovery_kind recovery; /* reliable: see above; default CW_RECOVERY_RESEND. The ends
                                       need not agree on the first two */
    uint32_t max_block_size;      /* bytes, 1 to 64 MB and at most 65,535 fragments; default 256 KB.
                                     A reliable channel with blocks has a receive buffer of this
                                     size, and one of 64 fragments */
    uint32_t block_fragment_size; /* bytes of a block in one packet of a reliable channel, and of a
                                     large message on every channel, 1 or more, and at least 16 less
                                     than the longest packet sent; default 1024 */
    uint32_t max_message_size;    /* bytes of the longest message, with its block: see above. 0: as
                                     other implementations; at most receive_queue_size times
                                     block_fragment_size; default CW_AUTO */

    /* These concern only the sender; the two ends may differ. */
    uint32_t send_queue_size; /* messages that may be waiting or unacked, a power of two from 2 to
                                 16384; default 256. It holds no more than the max_messages of
                                 the connection leave to it: 240 of two channels by default */
    uint32_t packet_budget;   /* bytes of one packet that this channel may use, 1 or more; default
                                 CW_AUTO: all */
    uint32_t weight;      /* this channel's share when a packet cannot hold everything, 1 to 1000;
                             default 1 */
    uint32_t extra_bytes; /* the most that recovery adds to the bytes of messages, in percent, 1 to
                             400; default 100 */
};

struct cw_channel_config cw_channel_config_default(enum cw_channel_kind kind);

/* CW_OK, or the error of the field that cannot work; see cw_error_field. packet_size is the longest
   payload that is sent in one packet, in bytes. */
enum cw_error cw_channel_config_check(const struct cw_channel_config *config, uint32_t packet_size);

struct cw_channel_stats {
    uint64_t sent;      /* messages that send has accepted */
    uint64_t resent;    /* messages and block fragments that were sent once more */
    uint64_t delivered; /* reliable: messages known to have arrived */
    uint64_t received;  /* messages that arrived and were kept, each counted once */
    uint64_t dropped;   /* unreliable: messages that found no room in a packet when sent, or that
                           arrived and then made room for later ones or, sequenced, were older, or
                           of which not all fragments came. Reliable: large ones that nobody of ours
                           has sent, as they are malformed */
    uint32_t queued;    /* messages waiting for their first packet */
    uint32_t in_flight; /* reliable: messages sent and not yet known to have arrived */
    uint32_t room;      /* messages that could be sent now: queue or pool has no more */
    uint32_t capacity;  /* the room of a channel that has sent nothing */
    double delivery_latency_seconds; /* reliable: seconds from send to the ack, smoothed by 1/16; 0
                                before the first */
};

CW_END_DECLARATIONS

#endif
