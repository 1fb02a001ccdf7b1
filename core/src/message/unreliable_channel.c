#include "message/unreliable_channel.h"
#include "message/message_pool.h"

#include "message/large.h"

#include "base/outline.h"
#include "base/sequence.h"

#include <string.h>

#define ALL_BLOCKS     ((1u << CW_UNRELIABLE_BLOCKS) - 1)
#define ALIGNMENT_BITS 7

static struct cw_message **received_slot(const struct cw_unreliable_channel *channel,
                                         uint32_t position)
{
    return &channel->received[position & (channel->common.config.receive_queue_size - 1)];
}

static bool is_large(const struct cw_unreliable_slot *slot)
{
    return slot->size & CW_UNRELIABLE_LARGE;
}

/* Returns the bytes of a large message. */
static uint32_t total_of(const struct cw_unreliable_slot *slot)
{
    return slot->size & ~CW_UNRELIABLE_LARGE;
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
    channel->newest = channel->next_number = channel->large_end = 0;
    channel->common.unsent_fragments = 0;
    cw_large_receiver_reset(&channel->large);
    channel->common.stats = (struct cw_channel_stats){0};
}

/* Closes the gaps that the messages of a packet leave. */
CW_OUTLINE static void close_gaps(struct cw_unreliable_channel *channel)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < channel->queue_count; i++) {
        if (channel->queue[i].message)
            channel->queue[kept++] = channel->queue[i];
    }
    channel->common.stats.queued = channel->queue_count = kept;
}

static void append(struct cw_unreliable_channel *channel, struct cw_message *message, uint32_t size)
{
    message->owned = true;
    channel->queue[channel->queue_count++] =
        (struct cw_unreliable_slot){.message = message, .size = size};
    channel->common.stats.queued = channel->queue_count;
    channel->common.stats.sent++;
}

/* Queues a large message, whose fragments get their numbers now. */
CW_OUTLINE static enum cw_error send_large(struct cw_unreliable_channel *channel,
                                           struct cw_message *message)
{
    const uint32_t total = cw_large_prepare(&channel->common, message, channel->next_number);
    if (total == 0)
        return CW_ERROR_MESSAGE_VALUE;
    const uint32_t count = cw_large_count(&channel->common.large, total);
    if (message->receipt && !cw_receipts_has_room(channel->common.receipts, count))
        return CW_ERROR_RECEIPTS_FULL;
    message->id = channel->next_number;
    channel->next_number = (uint16_t)(channel->next_number + count);
    channel->common.unsent_fragments += count;
    cw_receipts_promise_parts(channel->common.receipts, message->receipt, count);
    append(channel, message, total | CW_UNRELIABLE_LARGE);
    return CW_OK;
}

enum cw_error cw_unreliable_send(struct cw_unreliable_channel *channel, struct cw_message *message,
                                 uint32_t bits)
{
    const struct cw_channel_common *common = &channel->common;
    if (channel->queue_count >= common->most_queued)
        return CW_ERROR_QUEUE_FULL;
    if (cw_large_takes(&common->large, message, bits, common->whole_bits))
        return send_large(channel, message);
    append(channel, message, bits);
    cw_receipts_promise(common->receipts, message->receipt);
    return CW_OK;
}

uint32_t cw_unreliable_block_bits(const struct cw_unreliable_channel *channel, uint32_t size)
{
    return cw_bits_required(channel->common.config.max_block_size - 1) + ALIGNMENT_BITS + size * 8;
}

/* Returns whether so many bits may go into the packet. A message that fits into no packet with
   others goes alone into a longer one, which is sent in fragments. */
static bool has_room(const struct cw_channel_common *common, uint32_t bits, uint32_t bits_left)
{
    return CW_LIKELY(bits <= bits_left) ||
           (bits > common->packet_bits && bits_left == common->packet_bits &&
            bits <= common->fragment_bits);
}

void cw_unreliable_begin(struct cw_unreliable_channel *channel)
{
    channel->cursor = 0;
    channel->waiting = CW_UNRELIABLE_NO_SLOT;
    channel->common.selection_count = 0;
    channel->common.done = channel->common.more_due = false;
    channel->common.fragment_due = channel->common.has_fragment = false;
}

/* Picks the next fragment of the first large message that waits. It is an entry of its own. Returns
   its bits. */
static uint32_t pick_large(struct cw_unreliable_channel *channel, uint32_t bits_left,
                           bool fragments)
{
    struct cw_channel_common *common = &channel->common;
    const struct cw_unreliable_slot *slot = &channel->queue[channel->waiting];
    const uint32_t bits =
        cw_large_bits(common, cw_large_size(&common->large, total_of(slot), slot->next));
    common->fragment_due = !fragments && common->selection_count == 0;
    common->more_due |= !common->fragment_due;
    if (!fragments || common->selection_count > 0 || !has_room(common, bits, bits_left))
        return 0;
    common->has_fragment = true;
    common->selection[common->selection_count++] = (uint16_t)channel->waiting;
    return bits;
}

/* Returns whether the channel goes on behind a message that cannot be picked. On a sequenced one,
   no later message may go before it. */
static bool may_pass(const struct cw_unreliable_channel *channel)
{
    return !is_sequenced(channel);
}

/* Notes that a message waits: a large one, of which fragments go later, or one without room. */
static void note_waiting(struct cw_unreliable_channel *channel, uint32_t at)
{
    if (!is_large(&channel->queue[at]))
        channel->common.more_due = true;
    else if (channel->waiting == CW_UNRELIABLE_NO_SLOT)
        channel->waiting = at;
}

/* Picks a message that fits, or all that do, and finds the first large message before the cursor.
   Returns the bits of what was picked. */
static uint32_t pick_messages(struct cw_unreliable_channel *channel, uint32_t bits_left, bool all)
{
    struct cw_channel_common *common = &channel->common;
    const uint32_t most = common->config.max_messages_per_packet;
    uint32_t at = channel->cursor, count = common->selection_count, picked = 0;
    for (; at < channel->queue_count && count < most; at++) {
        const struct cw_unreliable_slot *slot = &channel->queue[at];
        const uint32_t bits = slot->size + (count == 0 ? common->entry_bits : 0);
        if (!has_room(common, bits, bits_left - picked)) {
            note_waiting(channel, at);
            if (!may_pass(channel))
                break;
            continue;
        }
        common->selection[count++] = (uint16_t)at;
        picked += bits;
        if (all)
            continue;
        at++;
        break;
    }
    channel->cursor = at;
    common->selection_count = count;
    return picked;
}

uint32_t cw_unreliable_pick(struct cw_unreliable_channel *channel, uint32_t bits_left, bool all,
                            bool fragments)
{
    struct cw_channel_common *common = &channel->common;
    const uint32_t most = common->config.max_messages_per_packet;
    if (common->has_fragment)
        return 0; /* nothing goes beside a fragment */
    const uint32_t picked = pick_messages(channel, bits_left, all);
    const bool waits = channel->waiting != CW_UNRELIABLE_NO_SLOT;
    common->done = channel->cursor == channel->queue_count && !waits;
    common->more_due |= !common->done && common->selection_count == most;
    return picked == 0 && waits ? pick_large(channel, bits_left, fragments) : picked;
}

/* Writes a fragment of a large message. After the last one the message is done. */
static bool write_large(struct cw_unreliable_channel *channel, struct cw_stream *stream,
                        uint32_t index)
{
    struct cw_channel_common *common = &channel->common;
    struct cw_unreliable_slot *slot = cw_unreliable_picked(channel, 0);
    const struct cw_large_piece piece = {
        .first = slot->message->id, .index = slot->next, .total = total_of(slot)};
    const uint32_t count = cw_large_count(&common->large, piece.total);
    if (!cw_large_write(stream, common, index, slot->message, &piece))
        return false;
    if (slot->message->receipt)
        cw_receipts_carry_part(common->receipts, slot->message->receipt, slot->next, count,
                               &slot->leader);
    common->unsent_fragments--;
    if (++slot->next < count)
        return true;
    cw_message_drop(slot->message);
    slot->message = NULL;
    close_gaps(channel);
    return true;
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
    if (!CW_LIKELY(!common->has_fragment))
        return write_large(channel, stream, index);
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
    if (written == channel->queue_count)
        common->stats.queued = channel->queue_count = 0;
    else
        close_gaps(channel);
    return true;
}

/* Returns the newest large message of the queue, as a slot. */
static uint32_t newest_large(const struct cw_unreliable_channel *channel)
{
    uint32_t at = channel->queue_count;
    while (at > 0 && !is_large(&channel->queue[at - 1]))
        at--;
    return at - 1;
}

void cw_unreliable_end_round(struct cw_unreliable_channel *channel)
{
    const uint32_t newest = channel->common.large.most > 0 ? newest_large(channel) : 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < channel->queue_count; i++) {
        const struct cw_unreliable_slot slot = channel->queue[i];
        if (is_large(&slot) && (slot.next > 0 || i == newest)) {
            channel->queue[kept++] = slot;
            continue;
        }
        const uint32_t count =
            is_large(&slot) ? cw_large_count(&channel->common.large, total_of(&slot)) : 0;
        if (slot.message->receipt)
            cw_receipts_settle_parts(channel->common.receipts, slot.message->receipt,
                                     count > 0 ? count : 1);
        channel->common.unsent_fragments -= count;
        cw_message_drop(slot.message);
        channel->common.stats.dropped++;
    }
    channel->queue_count = kept;
    channel->common.stats.queued = kept;
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

static bool read_large(struct cw_unreliable_channel *channel, struct cw_stream *stream,
                       struct cw_parsed_entry *parsed)
{
    struct cw_large_piece piece;
    if (!cw_large_read(stream, &channel->common, &piece))
        return false;
    if (parsed->only_next)
        return true; /* the packet comes again, but without this fragment */
    parsed->large = piece;
    parsed->is_large = true;
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
        return channel->common.large.most == 0 || read_large(channel, stream, parsed);
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

/* Moves the window of fragments up to one past its newest. The messages that leave it will never be
   complete. */
static void move_window(struct cw_unreliable_channel *channel, uint16_t end)
{
    if ((uint16_t)(end - channel->large_end) > channel->large.window)
        channel->large_end = (uint16_t)(end - channel->large.window);
    for (; channel->large_end != end; channel->large_end++) {
        const struct cw_large_span *span = cw_large_span_of(&channel->large, channel->large_end);
        channel->common.stats.dropped += span->total > 0;
        cw_large_receiver_forget(&channel->large, channel->large_end, 1);
    }
}

/* Makes a message of which all fragments are here. */
static struct cw_message *build_large(struct cw_unreliable_channel *channel, uint16_t first)
{
    const struct cw_channel_common *common = &channel->common;
    const uint16_t count = cw_large_receiver_complete(&channel->large, first);
    struct cw_message *message = NULL;
    bool room = true;
    while (room && cw_message_pool_used(common->pool) >= common->pool_room)
        room = cw_unreliable_drop_oldest(channel, false);
    if (!room || cw_large_receiver_build(&channel->large, common, first, &message) != CW_OK)
        channel->common.stats.dropped++;
    cw_large_receiver_forget(&channel->large, first, count);
    return message;
}

/* Takes a fragment of a large message. Returns the message when it is complete. */
static struct cw_message *take_large(struct cw_unreliable_channel *channel,
                                     const struct cw_large_piece *piece)
{
    const uint16_t end =
        (uint16_t)(piece->first + cw_large_count(&channel->common.large, piece->total));
    if (cw_sequence_newer(end, channel->large_end))
        move_window(channel, end);
    if ((uint16_t)(channel->large_end - piece->first) > channel->large.window ||
        cw_large_receiver_check(&channel->large, piece) != CW_OK ||
        !cw_large_receiver_take(&channel->large, piece))
        return NULL;
    return build_large(channel, piece->first);
}

/* Puts a message where next finds it. */
static void keep_message(struct cw_unreliable_channel *channel, struct cw_message *message)
{
    if (cw_unreliable_unread(channel) == channel->common.config.receive_queue_size)
        cw_unreliable_drop_oldest(channel, false);
    *received_slot(channel, channel->received_written++) = message;
    channel->common.stats.received++;
}

void cw_unreliable_take(struct cw_unreliable_channel *channel, const struct cw_parsed_entry *parsed)
{
    struct cw_channel_stats *stats = &channel->common.stats;
    stats->dropped += parsed->missing + parsed->missing_blocks;
    struct cw_message *message =
        CW_LIKELY(!parsed->is_large) ? parsed->first : take_large(channel, &parsed->large);
    const bool late = is_late(channel, parsed);
    if (message && !late)
        channel->newest = parsed->packet;
    while (message) {
        struct cw_message *next = message->next;
        if (late) {
            cw_message_drop(message);
            stats->dropped++;
        } else {
            keep_message(channel, message);
        }
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
