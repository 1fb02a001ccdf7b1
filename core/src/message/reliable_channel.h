/* The reliable channels: messages are kept and sent until they are acked, and given to the
   application in the order of their ids or, unordered, as they arrive. */
#ifndef CAUSEWAY_RELIABLE_CHANNEL_H
#define CAUSEWAY_RELIABLE_CHANNEL_H

#include "base/shared.h"
#include "message/block_receiver.h"
#include "message/block_sender.h"
#include "message/channel_common.h"
#include "message/large_receiver.h"
#include "message/recovery.h"
#include "message/reliable_slots.h"
#include "message/repair_entry.h"

#define CW_MESSAGE_ID_BITS 16

struct cw_reliable_channel {
    struct cw_channel_common common;

    /* Messages from oldest_unacked up to next_id, each in slot id & (size - 1). */
    struct cw_reliable_slots slots;
    uint16_t oldest_unacked;
    uint16_t next_id;
    uint32_t fragments; /* the number of slots that hold a fragment of a large message */
    struct cw_block_sender block_sender; /* the block of oldest_unacked */
    struct cw_block_sender next_block; /* the block of the message after it, if that begins early */

    /* The next members describe the packet being made. */
    enum cw_reliable_list list; /* the list that is being searched */
    uint16_t cursor;            /* the next slot of that list */
    bool may_copy;              /* it may hold copies of new messages */
    /* If not NULL, the packet has a fragment of this block, and `selection` holds the message's id
       and the fragment's number. */
    const struct cw_block_sender *picked_fragment;

    /* Messages that arrived, from next_taken on, each in slot id & mask. In an unordered channel
       the messages that are not taken yet are also in a list, and a mark is in the slot of one that
       was taken before an older one. */
    uint16_t next_taken;
    struct cw_message **received;
    struct cw_message *reserved; /* the message in the channel's own reserve, or NULL */
    struct cw_message *ready_first, *ready_last;
    struct cw_recovery recovery;
    struct cw_repair *repair; /* NULL: without coded repair */
    struct cw_block_receiver block_receiver;
    struct cw_large_receiver large;                 /* for large messages */
    struct cw_large_span *complete, *last_complete; /* unordered: such messages, as they arrived */
};

void cw_reliable_reset(struct cw_reliable_channel *channel);

/* The number of messages that are queued or not acked, including those acked out of order. */
CW_SHARED uint16_t cw_reliable_count(const struct cw_reliable_channel *channel)
{
    return (uint16_t)(channel->next_id - channel->oldest_unacked);
}

/* Queues a message that takes at most `bits` bits, and takes over its reference unless it fails:
   with CW_ERROR_QUEUE_FULL, or with CW_ERROR_MESSAGE_VALUE when it cannot be written. */
enum cw_error cw_reliable_send(struct cw_reliable_channel *channel, struct cw_message *message,
                               uint32_t bits, double now);

/* The most bits that one fragment takes of a block of size bytes, without the type and body that go
   with the first fragment. */
uint32_t cw_reliable_fragment_bits(const struct cw_reliable_channel *channel, uint32_t size);

/* The most bits that an entry takes without its messages. */
uint32_t cw_reliable_entry_bits(const struct cw_reliable_channel *channel);

/* Begins a new packet. first says that it is the first of its round; it may hold copies of new
   messages. */
void cw_reliable_begin(struct cw_reliable_channel *channel, const struct cw_timing *timing,
                       bool first);

/* Picks the next thing that is due for the packet being made, if it takes at most bits_left bits. A
   block fragment is also picked whenever the packet is empty. Returns the bits it takes, 0 when
   nothing was picked. */
uint32_t cw_reliable_pick(struct cw_reliable_channel *channel, const struct cw_timing *timing,
                          uint32_t bits_left);

/* Returns whether the oldest message, or the first missing fragment of its block, has been repeated
   many times and is due again. */
bool cw_reliable_stalls(struct cw_reliable_channel *channel, const struct cw_timing *timing);

/* Writes the entry with everything that was picked. index is the channel's. */
bool cw_reliable_write(struct cw_reliable_channel *channel, struct cw_stream *stream,
                       uint32_t index);

/* These note that a packet that carried these ids was acked, or lost. */
void cw_reliable_acked(struct cw_reliable_channel *channel, const uint16_t *ids, uint32_t count,
                       bool is_fragment, uint16_t packet, double now);
void cw_reliable_lost(struct cw_reliable_channel *channel, const uint16_t *ids, uint32_t count,
                      bool is_fragment, uint16_t packet);

/* Reads an entry after its channel and block flag into parsed, which must be all zero. The channel
   does not change, except that coded repair learns messages as they are read, even if there is no
   room for them. There is always room for the first message that is missing, if the application has
   taken those before it and holds none. Returns false when it is malformed; the caller must release
   the messages that were parsed by then. */
bool cw_reliable_read(struct cw_reliable_channel *channel, struct cw_stream *stream,
                      bool is_fragment, struct cw_parsed_entry *parsed);

/* Takes the parsed messages, with their references. */
void cw_reliable_take(struct cw_reliable_channel *channel, const struct cw_parsed_entry *parsed,
                      double now);

/* Takes the next message in order, or the first to have arrived, with its reference; NULL when
   there is none. */
struct cw_message *cw_reliable_next(struct cw_reliable_channel *channel);

#endif
