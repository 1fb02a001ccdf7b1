/* The blocks of a reliable channel, which go one at a time: how their fragments come into packets.
 */
#include "message/reliable_channel_internal.h"

#define ALIGNMENT_BITS 7 /* the most bits that an alignment takes */

uint32_t cw_reliable_fragment_bits(const struct cw_reliable_channel *channel, uint32_t size)
{
    const struct cw_channel_config *config = &channel->common.config;
    const uint32_t most =
        cw_block_max_fragments(config->max_block_size, config->block_fragment_size);
    return channel->common.entry_bits + CW_MESSAGE_ID_BITS + 2 * cw_bits_required(most - 1) +
           cw_bits_required(config->block_fragment_size - 1) + ALIGNMENT_BITS +
           (size < config->block_fragment_size ? size : config->block_fragment_size) * 8;
}

static void start_block(struct cw_reliable_channel *channel, struct cw_block_sender *sender,
                        uint16_t id)
{
    const struct cw_message *message = cw_reliable_slot_of(channel, id)->message;
    cw_block_sender_start(sender, id, message->block, message->block_size);
    cw_reliable_leave_queue(channel);
}

/* Turns to the block that is first now, which may have begun early. */
static void turn_to_first_block(struct cw_reliable_channel *channel, const struct cw_timing *timing)
{
    struct cw_block_sender *sender = &channel->block_sender;
    if (sender->active)
        return;
    if (!channel->next_block.active) {
        start_block(channel, sender, channel->oldest_unacked);
        return;
    }
    const struct cw_block_sender done = *sender;
    *sender = channel->next_block;
    channel->next_block = done;
    cw_block_sender_doubt(sender, timing->newest_reported);
}

/* Returns whether all of the first block left in rounds before this one. */
static bool is_under_way(const struct cw_block_sender *sender, const struct cw_timing *timing)
{
    return sender->next_unsent == sender->count &&
           sender->fragments[sender->count - 1].transmission.time < timing->round;
}

/* Returns whether the block after the first one may be sent now. It does not begin in the same
   round, because one header would ack both. */
static bool begins_early(struct cw_reliable_channel *channel, const struct cw_timing *timing)
{
    struct cw_block_sender *next = &channel->next_block;
    const uint16_t id = (uint16_t)(channel->oldest_unacked + 1);
    if (!timing->early || !is_under_way(&channel->block_sender, timing) ||
        cw_reliable_count(channel) < 2 || !cw_reliable_is_block(cw_reliable_slot_of(channel, id)))
        return false;
    if (!next->active)
        start_block(channel, next, id);
    return next->next_unsent < next->count;
}

/* Returns the block with a fragment that is due, and sets the fragment; NULL when there is none. A
   block that begins early is not sent again. */
static struct cw_block_sender *due_fragment(struct cw_reliable_channel *channel,
                                            const struct cw_timing *timing, uint32_t *fragment,
                                            enum cw_due *due)
{
    struct cw_block_sender *sender = &channel->block_sender;
    turn_to_first_block(channel, timing);
    const bool early = begins_early(channel, timing);
    *fragment = cw_block_sender_due(sender, timing, early, due);
    if (*due != CW_NOT_DUE)
        return sender;
    if (!early)
        return NULL;
    *due = CW_DUE_FIRST;
    *fragment = channel->next_block.next_unsent;
    return &channel->next_block;
}

uint32_t cw_reliable_pick_fragment(struct cw_reliable_channel *channel,
                                   const struct cw_timing *timing, uint32_t bits_left)
{
    enum cw_due due;
    uint32_t fragment;
    struct cw_block_sender *sender = due_fragment(channel, timing, &fragment, &due);
    channel->common.fragment_due = sender && timing->no_fragments;
    if (!sender || timing->no_fragments)
        return 0;
    uint32_t bits =
        cw_reliable_fragment_bits(channel, cw_block_sender_fragment_size(sender, fragment));
    if (fragment == 0)
        bits += cw_reliable_slot_of(channel, sender->id)->bits;
    channel->common.more_due = true;
    const bool alone = bits_left == channel->common.packet_bits;
    if (bits > (alone ? channel->common.fragment_bits : bits_left))
        return 0;
    cw_block_sender_send(sender, fragment, due, timing);
    cw_reliable_count_send(channel, due);
    channel->common.selection[0] = sender->id;
    channel->common.selection[1] = (uint16_t)fragment;
    channel->common.selection_count = 2;
    channel->picked_fragment = sender;
    return bits;
}

bool cw_reliable_write_fragment(struct cw_reliable_channel *channel, struct cw_stream *stream,
                                uint32_t index)
{
    const struct cw_channel_common *common = &channel->common;
    const struct cw_channel_config *config = &common->config;
    const struct cw_block_sender *sender = channel->picked_fragment;
    const uint32_t most =
        cw_block_max_fragments(config->max_block_size, config->block_fragment_size);
    uint32_t id = common->selection[0];
    uint32_t fragment = common->selection[1];
    uint32_t head = index | 1u << common->index_bits | id << (common->index_bits + 1);
    uint32_t count = sender->count;
    uint32_t size = cw_block_sender_fragment_size(sender, fragment);
    /* the stream is a writer, so it only reads from here */
    uint8_t *bytes =
        (uint8_t *)(uintptr_t)(sender->block + (size_t)fragment * config->block_fragment_size);
    if (!cw_stream_bits(stream, &head, common->index_bits + 1 + CW_MESSAGE_ID_BITS) ||
        !cw_stream_uint(stream, &count, 1, most) ||
        !cw_stream_uint(stream, &fragment, 0, count - 1) ||
        !cw_stream_uint(stream, &size, 1, config->block_fragment_size) ||
        !cw_stream_bytes(stream, bytes, size))
        return false;
    return fragment > 0 || cw_channel_write_message(
                               stream, common, cw_reliable_slot_of(channel, (uint16_t)id)->message);
}
