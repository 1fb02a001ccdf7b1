#include "unreliable_channel.h"

#include <string.h>

#define ALL_BLOCKS     ((1u << CW_UNRELIABLE_BLOCKS) - 1)
#define ALIGNMENT_BITS 7

static struct cw_message **received_slot(const struct cw_unreliable_channel *channel,
                                         uint32_t position)
{
    return &channel->received[position & (channel->parts.config.receive_queue_size - 1)];
}

void cw_unreliable_reset(struct cw_unreliable_channel *channel)
{
    for (uint32_t i = 0; i < channel->queue_count; i++)
        cw_message_release(channel->queue[i].message);
    while (channel->received_read != channel->received_written)
        cw_message_release(*received_slot(channel, channel->received_read++));
    channel->queue_count = 0;
    channel->received_read = channel->received_written = 0;
    channel->parts.stats = (struct cw_channel_stats){0};
}

enum cw_error cw_unreliable_send(struct cw_unreliable_channel *channel, struct cw_message *message,
                                 uint32_t bits)
{
    if (channel->queue_count == channel->parts.config.send_queue_size)
        return CW_ERROR_QUEUE_FULL;
    channel->queue[channel->queue_count++] = (struct cw_unreliable_slot){message, bits};
    channel->parts.stats.sent++;
    channel->parts.stats.queued++;
    return CW_OK;
}

uint32_t cw_unreliable_block_bits(const struct cw_unreliable_channel *channel, uint32_t size)
{
    return cw_bits_required(channel->parts.config.max_block_size - 1) + ALIGNMENT_BITS + size * 8;
}

void cw_unreliable_begin(struct cw_unreliable_channel *channel)
{
    channel->cursor = 0;
    channel->parts.picked_count = 0;
}

uint32_t cw_unreliable_pick(struct cw_unreliable_channel *channel, uint32_t bits_left)
{
    struct cw_channel_parts *parts = &channel->parts;
    if (parts->picked_count == parts->config.max_messages_per_packet)
        return 0;
    for (; channel->cursor < channel->queue_count; channel->cursor++) {
        const struct cw_unreliable_slot *slot = &channel->queue[channel->cursor];
        const uint32_t bits = slot->bits + (parts->picked_count == 0 ? parts->entry_bits : 0);
        if (!slot->message || bits > bits_left)
            continue;
        parts->picked[parts->picked_count++] = (uint16_t)channel->cursor++;
        return bits;
    }
    return 0;
}

static bool write_block(struct cw_unreliable_channel *channel, struct cw_stream *stream,
                        const struct cw_message *message)
{
    uint32_t size = message->block_size;
    return cw_stream_uint(stream, &size, 1, channel->parts.config.max_block_size) &&
           cw_stream_bytes(stream, message->block, size);
}

bool cw_unreliable_write(struct cw_unreliable_channel *channel, struct cw_stream *stream)
{
    struct cw_channel_parts *parts = &channel->parts;
    bool any = parts->picked_count > 0;
    if (!cw_stream_bool(stream, &any) || !any)
        return any == false;
    uint32_t count = parts->picked_count;
    if (!cw_stream_uint(stream, &count, 1, parts->config.max_messages_per_packet))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct cw_unreliable_slot *slot = &channel->queue[parts->picked[i]];
        if (!cw_channel_write_message(stream, parts, slot->message) ||
            (slot->message->block && !write_block(channel, stream, slot->message)))
            return false;
        cw_message_release(slot->message);
        slot->message = NULL;
        parts->stats.queued--;
    }
    if (parts->stats.queued == 0)
        channel->queue_count = 0;
    return true;
}

void cw_unreliable_end_round(struct cw_unreliable_channel *channel)
{
    for (uint32_t i = 0; i < channel->queue_count; i++) {
        if (channel->queue[i].message) {
            cw_message_release(channel->queue[i].message);
            channel->parts.stats.dropped++;
        }
    }
    channel->queue_count = 0;
    channel->parts.stats.queued = 0;
}

static void release_block(void *context, uint8_t *block, size_t size)
{
    struct cw_unreliable_channel *channel = context;
    (void)size;
    const uint32_t buffer =
        (uint32_t)((size_t)(block - channel->block_buffers) / channel->block_size);
    channel->block_buffers_used &= ~(1u << buffer);
}

/* False when every buffer is in the hands of the application. */
static bool keep_block(struct cw_unreliable_channel *channel, struct cw_message *message,
                       const uint8_t *bytes, uint32_t size)
{
    const uint32_t unused = ALL_BLOCKS & ~channel->block_buffers_used;
    if (!unused || size > channel->block_size)
        return false;
    const uint32_t buffer = (uint32_t)__builtin_ctz(unused);
    uint8_t *block = channel->block_buffers + (size_t)buffer * channel->block_size;
    channel->block_buffers_used |= 1u << buffer;
    memcpy(block, bytes, size);
    cw_message_attach(message, block, size, release_block, channel);
    return true;
}

static bool read_message(struct cw_unreliable_channel *channel, struct cw_stream *stream,
                         bool apply)
{
    struct cw_channel_parts *parts = &channel->parts;
    uint32_t type = 0;
    if (!cw_channel_read_type(stream, parts, &type))
        return false;
    const bool has_block = cw_schema_type(parts->schema, type)->block;
    if (has_block && !parts->config.blocks)
        return false;
    const bool has_room =
        channel->received_written - channel->received_read < parts->config.receive_queue_size;
    struct cw_message *message = NULL;
    const bool from_pool =
        apply && has_room && cw_message_create(&message, parts->pool, type) == CW_OK;
    if (!(from_pool ? cw_message_serialize(stream, message)
                    : cw_channel_skip_body(stream, parts, type))) {
        cw_message_release(message);
        return false;
    }
    bool keep = from_pool;
    if (has_block) {
        uint32_t size = 0;
        const uint8_t *bytes = NULL;
        if (!cw_stream_uint(stream, &size, 1, parts->config.max_block_size) ||
            !cw_bit_reader_borrow(&stream->reader, &bytes, size)) {
            cw_message_release(message);
            return false;
        }
        keep = keep && keep_block(channel, message, bytes, size);
    }
    if (!apply)
        return true;
    if (keep) {
        *received_slot(channel, channel->received_written++) = message;
        parts->stats.received++;
    } else {
        cw_message_release(message);
        parts->stats.dropped++;
    }
    return true;
}

enum cw_error cw_unreliable_read(struct cw_unreliable_channel *channel, struct cw_stream *stream,
                                 bool is_fragment, bool apply)
{
    bool any = false;
    uint32_t count = 0;
    if (is_fragment || !cw_stream_bool(stream, &any))
        return CW_ERROR_MALFORMED;
    if (!any)
        return CW_OK;
    if (!cw_stream_uint(stream, &count, 1, channel->parts.config.max_messages_per_packet))
        return CW_ERROR_MALFORMED;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_message(channel, stream, apply))
            return CW_ERROR_MALFORMED;
    }
    return CW_OK;
}

struct cw_message *cw_unreliable_next(struct cw_unreliable_channel *channel)
{
    if (channel->received_read == channel->received_written)
        return NULL;
    return *received_slot(channel, channel->received_read++);
}
