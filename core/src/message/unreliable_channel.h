/* The unreliable channels: messages go into the next packets that have room, once. */
#ifndef CAUSEWAY_UNRELIABLE_CHANNEL_H
#define CAUSEWAY_UNRELIABLE_CHANNEL_H

#include "base/shared.h"
#include "message/channel_common.h"
#include "message/large_receiver.h"

#define CW_UNRELIABLE_NO_SLOT UINT32_MAX

/* The most blocks that have arrived and are not released yet. */
#define CW_UNRELIABLE_BLOCKS 8

/* This is added to the bytes of a large message, so that as bits they find no room anywhere. */
#define CW_UNRELIABLE_LARGE 0x80000000u

struct cw_unreliable_slot {
    struct cw_message *message; /* the id of a large one is its first fragment's number */
    uint32_t size;   /* the most bits that type, body and block need; of a large message, its bytes
                        and CW_UNRELIABLE_LARGE */
    uint16_t next;   /* the index of the fragment that is sent next */
    uint16_t leader; /* for its receipt, which is that of all packets with fragments */
};

struct cw_unreliable_channel {
    struct cw_channel_common common;

    struct cw_unreliable_slot *queue; /* the first queue_count hold a message */
    uint32_t queue_count;
    uint32_t cursor;      /* the slots before it have been looked at for the packet being made */
    uint32_t waiting;     /* the first slot before it whose fragment may not go yet; or NO_SLOT */
    uint16_t next_number; /* the number of the next large message's first fragment */

    struct cw_message **received; /* a ring */
    uint32_t received_read;
    uint32_t received_written;
    uint16_t newest; /* sequenced: the number of the packet with the newest message that was kept */

    uint8_t *block_buffers; /* CW_UNRELIABLE_BLOCKS times block_size bytes */
    uint32_t block_size;
    uint32_t block_buffers_used; /* a bit for each buffer */

    struct cw_large_receiver large; /* for large messages */
    uint16_t large_end;             /* one past the newest fragment's number */
};

void cw_unreliable_reset(struct cw_unreliable_channel *channel);

/* Queues a message, and takes over its reference unless it fails: with CW_ERROR_QUEUE_FULL, or for
   a large one with CW_ERROR_RECEIPTS_FULL, or with CW_ERROR_MESSAGE_VALUE when it cannot be
   written. */
enum cw_error cw_unreliable_send(struct cw_unreliable_channel *channel, struct cw_message *message,
                                 uint32_t bits);

/* The most bits that a block of size bytes takes in a message. */
uint32_t cw_unreliable_block_bits(const struct cw_unreliable_channel *channel, uint32_t size);

void cw_unreliable_begin(struct cw_unreliable_channel *channel);

/* Picks the next message that fits into bits_left, or all messages that do. fragments says whether
   the packet may have one of a large message. Returns their bits. */
uint32_t cw_unreliable_pick(struct cw_unreliable_channel *channel, uint32_t bits_left, bool all,
                            bool fragments);

/* Writes the entry with everything that was picked, and releases the messages. index is the
   channel's. */
bool cw_unreliable_write(struct cw_unreliable_channel *channel, struct cw_stream *stream,
                         uint32_t index);

/* Returns the picked message with this index. */
CW_SHARED struct cw_unreliable_slot *
cw_unreliable_picked(const struct cw_unreliable_channel *channel, uint32_t index)
{
    return &channel->queue[channel->common.selection[index]];
}

/* Drops messages that found no room in any packet of this round. A large message of which a part
   has been sent stays, and so does the newest one of which none was. */
void cw_unreliable_end_round(struct cw_unreliable_channel *channel);

/* Like cw_reliable_read, but messages without room are dropped when they are taken, not refused. */
bool cw_unreliable_read(struct cw_unreliable_channel *channel, struct cw_stream *stream,
                        bool is_fragment, struct cw_parsed_entry *parsed);
void cw_unreliable_take(struct cw_unreliable_channel *channel,
                        const struct cw_parsed_entry *parsed);

/* The number of messages that arrived and were not taken. */
CW_SHARED uint32_t cw_unreliable_unread(const struct cw_unreliable_channel *channel)
{
    return channel->received_written - channel->received_read;
}

/* Drops the oldest such message, or the oldest with a block. Returns false when there is none. */
bool cw_unreliable_drop_oldest(struct cw_unreliable_channel *channel, bool with_block);

struct cw_message *cw_unreliable_next(struct cw_unreliable_channel *channel);

#endif
