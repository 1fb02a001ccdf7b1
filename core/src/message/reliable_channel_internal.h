/* Declarations that the parts of a reliable channel share: reliable_queue.c, which has the messages
   to send, reliable_channel.c and reliable_blocks.c, which put them into packets, and
   reliable_receiving.c. */
#ifndef CAUSEWAY_RELIABLE_CHANNEL_INTERNAL_H
#define CAUSEWAY_RELIABLE_CHANNEL_INTERNAL_H

#include "base/shared.h"
#include "message/large.h"
#include "message/reliable_channel.h"

/* Returns whether the channel has coded repair; most have not, and should not pay for it. */
CW_SHARED bool cw_reliable_repairs(const struct cw_reliable_channel *channel)
{
    return !CW_LIKELY(!channel->repair);
}

CW_SHARED uint16_t cw_reliable_slot_number(const struct cw_reliable_channel *channel, uint16_t id)
{
    return id & (channel->slots.size - 1);
}

CW_SHARED struct cw_reliable_slot *cw_reliable_slot_of(const struct cw_reliable_channel *channel,
                                                       uint16_t id)
{
    return &channel->slots.items[cw_reliable_slot_number(channel, id)];
}

/* Returns the id of a slot's message, or of the fragment of it. */
CW_SHARED uint16_t cw_reliable_id_of(const struct cw_reliable_slot *slot)
{
    return (uint16_t)(slot->message->id + slot->index);
}

/* Returns whether a slot's message is sent as a block. */
CW_SHARED bool cw_reliable_is_block(const struct cw_reliable_slot *slot)
{
    return !CW_LIKELY(!slot->message->block) && slot->count == 0;
}

CW_SHARED struct cw_message **cw_reliable_received_slot(const struct cw_reliable_channel *channel,
                                                        uint16_t id)
{
    return &channel->received[id & (channel->common.config.receive_queue_size - 1)];
}

/* Returns the first message from id on that has not arrived. */
CW_SHARED uint16_t cw_reliable_first_missing(const struct cw_reliable_channel *channel, uint16_t id)
{
    const uint32_t size = channel->common.config.receive_queue_size;
    while ((uint16_t)(id - channel->next_taken) < size && *cw_reliable_received_slot(channel, id))
        id++;
    return id;
}

CW_SHARED void cw_reliable_count_send(struct cw_reliable_channel *channel, enum cw_due due)
{
    if (due != CW_DUE_FIRST)
        channel->common.stats.resent++;
}

/* Counts a message that is sent for the first time. */
CW_SHARED void cw_reliable_leave_queue(struct cw_reliable_channel *channel)
{
    channel->common.stats.queued--;
    channel->common.stats.in_flight++;
}

/* Picks a fragment of the first block, or of the next one if that begins early, for a packet that
   has nothing of the channel. Returns its bits, 0 when none is due or may go. */
uint32_t cw_reliable_pick_fragment(struct cw_reliable_channel *channel,
                                   const struct cw_timing *timing, uint32_t bits_left);

/* Writes the entry with the fragment that was picked. */
bool cw_reliable_write_fragment(struct cw_reliable_channel *channel, struct cw_stream *stream,
                                uint32_t index);

/* Drops all messages that have arrived. */
void cw_reliable_reset_received(struct cw_reliable_channel *channel);

/* Notes that all messages before this one have arrived at the other end. */
void cw_reliable_acked_before(struct cw_reliable_channel *channel, uint16_t first_missing,
                              double now);

#endif
