#include "message/unreliable_channel.h"

#include <string.h>

#define ALL_BLOCKS     ((1u << CW_UNRELIABLE_BLOCKS) - 1)
#define ALIGNMENT_BITS 7

static struct cw_message **received_slot(const struct cw_unreliable_channel *channel,
                                         uint32_t position)
{
    return &channel->received[position & (channel->common.config.receive_queue_size - 1)];
}

static bool is_sequenced(const struct cw_unreliable_channel *channel)
{
    return channel->common.config.kind == CW_CHANNEL_UNRELIABLE_SEQUENCED;
}

void cw_unreliable_reset(struct cw_unreliable_channel *channel)
{
    for (uint32_t i = 0; i < channel->queue_count; i++)
        cw_message_drop(channel->queue[i].message);
    while (cw_unreliable_unread(channel) > 0)
        cw_message_drop(cw_unreliable_next(channel));
    channel->queue_count = 0;
    channel->received_read = channel->received_written = 0;
    channel->newest = 0;
    channel->common.stats = (struct cw_channel_stats){0};
}

/* Closes the gaps that sent messages leave until all are sent or the round ends. */
static void close_gaps(struct cw_unreliable_channel *channel)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < channel->queue_count; i++) {
        if (channel->queue[i].message)
            channel->queue[kept++] = channel->queue[i];
    }
    channel->queue_count = kept;
}

enum cw_error cw_unreliable_send(struct cw_unreliable_channel *channel, struct cw_message *message,
                                 uint32_t bits)
{
    if (channel->common.stats.queued >= channel->common.most_queued)
        return CW_ERROR_QUEUE_FULL;
    if (channel->queue_count == channel->common.config.send_queue_size)
        close_gaps(channel);
    message->owned = true;
    channel->queue[channel->queue_count++] = (struct cw_unreliable_slot){message, bits};
    cw_receipts_promise(channel->common.receipts, message->receipt);
    channel->common.stats.sent++;
    channel->common.stats.queued++;
    return CW_OK;
}

uint32_t cw_unreliable_block_bits(const struct cw_unreliable_channel *channel, uint32_t size)
{
    return cw_bits_required(channel->common.config.max_block_size - 1) + ALIGNMENT_BITS + size * 8;
}

void cw_unreliable_begin(struct cw_unreliable_channel *channel)
{
    channel->cursor = 0;
    channel->common.selection_count = 0;
    channel->common.done = channel->common.more_due = false;
}

uint32_t cw_unreliable_pick(struct cw_unreliable_channel *channel, uint32_t bits_left, bool all)
{
    struct cw_channel_common *common = &channel->common;
    const uint32_t most = common->config.max_messages_per_packet;
    uint32_t picked = 0;
    for (; channel->cursor < channel->queue_count && common->selection_count < most;
         channel->cursor++) {
        const struct cw_unreliable_slot *slot = &channel->queue[channel->cursor];
        const uint32_t bits = slot->bits + (common->selection_count == 0 ? common->entry_bits : 0);
        if (!slot->message)
            continue;
        if (bits > bits_left - picked) {
            common->more_due = true;
            if (is_sequenced(channel))
                break; /* a later message must not go before this one */
            continue;
        }
        common->selection[common->selection_count++] = (uint16_t)channel->cursor;
        picked += bits;
        if (all)
            continue;
        channel->cursor++;
        break;
    }
    common->done = channel->cursor == channel->queue_count;
    common->more_due |= !common->done && common->selection_count == most;
    return picked;
}

static bool write_block(struct cw_unreliable_channel *channel, struct cw_stream *stream,
                        const struct cw_message *message)
{
    uint32_t size = message->block_size;
    return cw_stream_uint(stream, &size, 1, channel->common.config.max_block_size) &&
           cw_stream_bytes(stream, message->block, size);
}

static bool write_message(struct cw_unreliable_channel *channel, struct cw_stream *stream,
                          struct cw_message *message)
{
    return cw_channel_write_message(stream, &channel->common, message) &&
           (!message->block || write_block(channel, stream, message));
}

bool cw_unreliable_write(struct cw_unreliable_channel *channel, struct cw_stream *stream,
                         uint32_t index)
{
    struct cw_channel_common *common = &channel->common;
    if (!cw_channel_write_head(stream, common, index, 0, 0))
        return false;
    uint32_t written = 0;
    for (uint32_t i = 0; i < common->selection_count; i++) {
        struct cw_unreliable_slot *slot = cw_unreliable_picked(channel, i);
        struct cw_message *message = slot->message;
        if (i == written) /* otherwise this one was written with the one before */
            written += message->broadcast
                           ? common->copies->write_some(common->copies, stream, channel, i)
                           : write_message(channel, stream, message);
        if (i == written)
            return false;
        if (message->receipt)
            cw_receipts_carry(common->receipts, message->receipt);
        cw_message_drop(message);
        slot->message = NULL;
    }
    common->stats.queued -= written;
    if (common->stats.queued == 0)
        channel->queue_count = 0;
    return true;
}

void cw_unreliable_end_round(struct cw_unreliable_channel *channel)
{
    for (uint32_t i = 0; i < channel->queue_count; i++) {
        struct cw_message *message = channel->queue[i].message;
        if (!message)
            continue;
        if (message->receipt)
            cw_receipts_settle(channel->common.receipts, message->receipt, false);
        cw_message_drop(message);
        channel->common.stats.dropped++;
    }
    channel->queue_count = 0;
    channel->common.stats.queued = 0;
}

static void release_block(void *context, uint8_t *block, size_t size)
{
    struct cw_unreliable_channel *channel = context;
    (void)size;
    const uint32_t buffer =
        (uint32_t)((size_t)(block - channel->block_buffers) / channel->block_size);
    channel->block_buffers_used &= ~(1u << buffer);
}

/* Keeps a block in a buffer. Returns false when every buffer is in use. */
static bool keep_block(struct cw_unreliable_channel *channel, struct cw_message *message,
                       const uint8_t *bytes, uint32_t size)
{
    const uint32_t unused = ALL_BLOCKS & ~channel->block_buffers_used;
    if (!unused || size > channel->block_size)
        return false;
    const uint32_t buffer = cw_lowest_bit(unused);
    uint8_t *block = channel->block_buffers + (size_t)buffer * channel->block_size;
    channel->block_buffers_used |= 1u << buffer;
    memcpy(block, bytes, size);
    cw_message_attach_owned(message, block, size, release_block, channel);
    return true;
}

static bool read_message(struct cw_unreliable_channel *channel, struct cw_stream *stream,
                         struct cw_parsed_entry *parsed)
{
    struct cw_channel_common *common = &channel->common;
    uint32_t type = 0;
    if (!cw_channel_read_type(stream, common, &type))
        return false;
    const bool has_block = cw_schema_type_unchecked(common->schema, type)->block;
    if (has_block && !common->config.blocks)
        return false;
    struct cw_message *message;
    if (!cw_channel_read_body(stream, common, parsed, type, !parsed->only_next, &message))
        return false;
    parsed->missing += parsed->only_next; /* the packet comes again, but without this message */
    if (has_block) {
        uint32_t size = 0;
        const uint8_t *bytes = NULL;
        if (!cw_stream_uint(stream, &size, 1, common->config.max_block_size) ||
            !cw_bit_reader_borrow(&stream->reader, size, &bytes)) {
            cw_message_drop(message);
            return false;
        }
        if (message && !keep_block(channel, message, bytes, size)) {
            cw_message_drop(message);
            parsed->missing_blocks++;
            parsed->full = true;
            return true;
        }
    }
    if (message)
        cw_parsed_add(parsed, message);
    else
        parsed->full = true;
    return true;
}

bool cw_unreliable_read(struct cw_unreliable_channel *channel, struct cw_stream *stream,
                        bool is_fragment, struct cw_parsed_entry *parsed)
{
    bool any = false;
    uint32_t count = 0;
    if (is_fragment || !cw_stream_bool(stream, &any))
        return false;
    if (!any)
        return true;
    if (!cw_stream_uint(stream, &count, 1, channel->common.config.max_messages_per_packet))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_message(channel, stream, parsed))
            return false;
    }
    return true;
}

/* Returns whether a sequenced channel has kept messages of a newer packet. Both packets are counted
   back from the newest of all, as numbers wrap: after 65,536 packets without a message, one that is
   out of order may be taken for late. */
static bool is_late(const struct cw_unreliable_channel *channel,
                    const struct cw_parsed_entry *parsed)
{
    const uint16_t newest_age = (uint16_t)(parsed->packet + parsed->age - channel->newest);
    return is_sequenced(channel) && newest_age < parsed->age;
}

void cw_unreliable_take(struct cw_unreliable_channel *channel, const struct cw_parsed_entry *parsed)
{
    struct cw_channel_stats *stats = &channel->common.stats;
    stats->dropped += parsed->missing + parsed->missing_blocks;
    struct cw_message *message = parsed->first;
    const bool late = is_late(channel, parsed);
    if (message && !late)
        channel->newest = parsed->packet;
    while (message) {
        struct cw_message *next = message->next;
        if (late) {
            cw_message_drop(message);
            stats->dropped++;
            message = next;
            continue;
        }
        if (cw_unreliable_unread(channel) == channel->common.config.receive_queue_size)
            cw_unreliable_drop_oldest(channel, false);
        *received_slot(channel, channel->received_written++) = message;
        stats->received++;
        message = next;
    }
}

bool cw_unreliable_drop_oldest(struct cw_unreliable_channel *channel, bool with_block)
{
    uint32_t position = channel->received_read;
    while (position != channel->received_written && with_block &&
           !(*received_slot(channel, position))->block)
        position++;
    if (position == channel->received_written)
        return false;
    cw_message_drop(*received_slot(channel, position));
    channel->common.stats.dropped++;
    for (; position != channel->received_read; position--)
        *received_slot(channel, position) = *received_slot(channel, position - 1);
    channel->received_read++;
    return true;
}

struct cw_message *cw_unreliable_next(struct cw_unreliable_channel *channel)
{
    if (cw_unreliable_unread(channel) == 0)
        return NULL;
    return *received_slot(channel, channel->received_read++);
}
