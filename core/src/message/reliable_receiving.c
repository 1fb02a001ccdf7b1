/* The receiving half of a reliable channel. */
#include "message/message_pool.h"
#include "message/reliable_channel_internal.h"

#include "base/sequence.h"

enum keep { KEEP, IGNORE, REFUSE };

static bool is_unordered(const struct cw_reliable_channel *channel)
{
    return channel->common.config.kind == CW_CHANNEL_RELIABLE_UNORDERED;
}

/* Returns the mark for the slot of a fragment of a large message: not a message. */
static struct cw_message *fragment_mark(const struct cw_reliable_channel *channel)
{
    return (struct cw_message *)(uintptr_t)&channel->large;
}

static enum keep judge_id(const struct cw_reliable_channel *channel, uint16_t id)
{
    if (cw_sequence_newer(channel->next_taken, id))
        return IGNORE;
    if ((uint16_t)(id - channel->next_taken) >= channel->common.config.receive_queue_size)
        return REFUSE;
    return *cw_reliable_received_slot(channel, id) ? IGNORE : KEEP;
}

/* Returns whether id is the first message that is missing, apart from those of this entry that are
   to be kept. */
static bool is_next(const struct cw_reliable_channel *channel, struct cw_parsed_entry *parsed,
                    uint16_t id)
{
    if (!parsed->next_known) {
        parsed->next_known = true;
        parsed->next = cw_reliable_first_missing(channel, channel->next_taken);
        for (const struct cw_message *kept = parsed->first; kept; kept = kept->next)
            if (kept->id == parsed->next)
                parsed->next = cw_reliable_first_missing(channel, (uint16_t)(kept->id + 1));
    }
    return id == parsed->next;
}

/* Reads the body of a message that is to be kept. Messages that come out of order must leave some
   of the pool to those in order, which are released sooner, and are dropped when their packet is
   not taken whole. A full pool still has a reserve for the first missing message, and for one such
   message at a time. */
static bool read_kept(struct cw_reliable_channel *channel, struct cw_stream *stream,
                      struct cw_parsed_entry *parsed, uint32_t type, uint16_t id)
{
    const struct cw_channel_common *common = &channel->common;
    struct cw_message *message;
    const uint32_t used = cw_message_pool_used(common->pool);
    bool next = false, reserved = false, keep = true;
    uint32_t room = common->ahead_room;
    if (!CW_LIKELY(used < room && !parsed->only_next)) {
        next = is_next(channel, parsed, id);
        reserved = next && used >= common->pool_room && !channel->reserved && !parsed->reserved;
        keep = next || !parsed->only_next;
        room = next || is_unordered(channel) ? common->pool_room : room;
    }
    parsed->pool_limit = reserved ? UINT32_MAX : room;
    if (!cw_channel_read_body(stream, common, parsed, type, keep, &message))
        return false;
    if (!message) {
        if (keep && parsed->missing == 1 && used > room)
            parsed->missing += used - room; /* the first missing one needs several dropped */
        parsed->full = true;
        return true;
    }
    message->id = id;
    cw_parsed_add(parsed, message);
    if (reserved) {
        parsed->reserved = message;
        parsed->missing++; /* if others are dropped, this one gets room too */
    }
    if (parsed->next_known && id == parsed->next)
        parsed->next = cw_reliable_first_missing(channel, (uint16_t)(id + 1));
    return true;
}

static bool read_ignored(struct cw_stream *stream, const struct cw_channel_common *common,
                         struct cw_parsed_entry *parsed, uint32_t type)
{
    struct cw_message *none;
    return cw_channel_read_body(stream, common, parsed, type, false, &none);
}

static bool read_fragment(struct cw_reliable_channel *channel, struct cw_stream *stream,
                          struct cw_parsed_entry *parsed)
{
    struct cw_channel_common *common = &channel->common;
    const struct cw_channel_config *config = &common->config;
    struct cw_block_receiver *receiver = &channel->block_receiver;
    if (!config->blocks)
        return false;
    const uint32_t most =
        cw_block_max_fragments(config->max_block_size, config->block_fragment_size);
    struct cw_block_piece piece = {0};
    uint32_t id = 0, type = 0;
    if (!cw_stream_bits(stream, &id, CW_MESSAGE_ID_BITS) ||
        !cw_stream_uint(stream, &piece.count, 1, most) ||
        !cw_stream_uint(stream, &piece.fragment, 0, piece.count - 1) ||
        !cw_stream_uint(stream, &piece.size, 1, config->block_fragment_size) ||
        !cw_bit_reader_borrow(&stream->reader, piece.size, &piece.bytes))
        return false;
    piece.id = (uint16_t)id;
    if (piece.fragment == 0 && (!cw_channel_read_type(stream, common, &type) ||
                                !cw_schema_type_unchecked(common->schema, type)->block))
        return false;

    enum keep keep = judge_id(channel, piece.id);
    if (keep == KEEP && piece.id != cw_reliable_first_missing(channel, channel->next_taken))
        keep = IGNORE; /* it is too early and comes again, see block_sender.h */
    enum cw_error error = keep == REFUSE ? CW_ERROR_RECEIVER_FULL : CW_OK;
    if (keep == KEEP)
        error = cw_block_receiver_check(receiver, &piece);
    if (error == CW_ERROR_MALFORMED)
        return false;
    const bool is_new = keep == KEEP && error == CW_OK && !cw_block_receiver_has(receiver, &piece);
    if (piece.fragment == 0 && !(is_new ? read_kept(channel, stream, parsed, type, piece.id)
                                        : read_ignored(stream, common, parsed, type)))
        return false;
    parsed->full |= error == CW_ERROR_RECEIVER_FULL;
    if (is_new && (piece.fragment > 0 || parsed->first))
        parsed->piece = piece;
    return true;
}

/* Reads a fragment of a large message, which takes no room of the pool. */
static bool read_large(struct cw_reliable_channel *channel, struct cw_stream *stream,
                       struct cw_parsed_entry *parsed)
{
    struct cw_large_piece piece;
    if (!cw_large_read(stream, &channel->common, &piece))
        return false;
    const uint16_t id = (uint16_t)(piece.first + piece.index);
    const enum keep keep = judge_id(channel, id);
    if (keep == IGNORE)
        return true;
    if (keep == KEEP && (uint16_t)(piece.first - channel->next_taken) >= channel->large.window)
        return false; /* its beginning was taken as something else */
    const enum cw_error error =
        keep == KEEP ? cw_large_receiver_check(&channel->large, &piece) : CW_ERROR_RECEIVER_FULL;
    if (error == CW_ERROR_MALFORMED)
        return false;
    parsed->full |= error != CW_OK || (parsed->only_next && !is_next(channel, parsed, id));
    if (parsed->full)
        return true;
    parsed->large = piece;
    parsed->is_large = true;
    return true;
}

static bool read_ids(struct cw_reliable_channel *channel, struct cw_stream *stream, uint16_t *ids,
                     uint32_t *count)
{
    const struct cw_channel_common *common = &channel->common;
    uint32_t head = 0;
    if (!cw_stream_bits(stream, &head, common->count_bits + CW_MESSAGE_ID_BITS))
        return false;
    *count = (head & ((1u << common->count_bits) - 1)) + 1;
    ids[0] = (uint16_t)(head >> common->count_bits);
    if (*count > common->config.max_messages_per_packet)
        return false;
    for (uint32_t i = 1; i < *count; i++) {
        if (!cw_stream_relative_sequence(stream, ids[i - 1], &ids[i]))
            return false;
    }
    return true;
}

/* Reads the messages of an entry. With repair, the bytes of a message are of use even if there is
   no room for it. */
CW_INLINE bool read_messages(struct cw_reliable_channel *channel, struct cw_stream *stream,
                             const uint16_t *ids, uint32_t count, struct cw_parsed_entry *parsed,
                             struct cw_repair *repair)
{
    const struct cw_channel_common *common = &channel->common;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type = 0;
        const enum keep keep = judge_id(channel, ids[i]);
        if (repair && !cw_stream_align(stream))
            return false;
        const size_t start = repair ? cw_stream_position(stream) : 0;
        if (!cw_channel_read_type(stream, common, &type) ||
            cw_schema_type_unchecked(common->schema, type)->block ||
            !(keep == KEEP ? read_kept(channel, stream, parsed, type, ids[i])
                           : read_ignored(stream, common, parsed, type)))
            return false;
        parsed->full |= keep == REFUSE;
        if (repair && keep != REFUSE)
            cw_repair_receiver_add(&repair->receiver, ids[i], stream->reader.data + start / 8,
                                   cw_stream_position(stream) - start);
    }
    return true;
}

static bool read_with_repair(struct cw_reliable_channel *channel, struct cw_stream *stream,
                             const uint16_t *ids, uint32_t count, struct cw_parsed_entry *parsed)
{
    const uint32_t limit = channel->next_taken + channel->common.config.receive_queue_size;
    return read_messages(channel, stream, ids, count, parsed, channel->repair) &&
           cw_repair_read(channel->repair, stream, count > 0 ? &ids[count - 1] : NULL,
                          (uint16_t)limit);
}

bool cw_reliable_read(struct cw_reliable_channel *channel, struct cw_stream *stream,
                      bool is_fragment, struct cw_parsed_entry *parsed)
{
    if (is_fragment)
        return read_fragment(channel, stream, parsed);
    uint16_t ids[CW_MAX_MESSAGES_PER_PACKET];
    uint32_t count = 0;
    bool any = false;
    if (!cw_stream_bool(stream, &any))
        return false;
    if (!any && channel->common.large.most > 0) {
        bool is_large = true;
        if (channel->repair && !cw_stream_bool(stream, &is_large))
            return false;
        if (is_large)
            return read_large(channel, stream, parsed);
    }
    if (any && !read_ids(channel, stream, ids, &count))
        return false;
    return cw_reliable_repairs(channel) ? read_with_repair(channel, stream, ids, count, parsed)
                                        : read_messages(channel, stream, ids, count, parsed, NULL);
}

static void add_ready(struct cw_reliable_channel *channel, struct cw_message *message)
{
    message->next = NULL;
    if (channel->ready_first)
        channel->ready_last->next = message;
    else
        channel->ready_first = message;
    channel->ready_last = message;
}

/* Puts a message where next finds it, unless the packet held it twice. */
static void keep_message(struct cw_reliable_channel *channel, struct cw_message *message)
{
    struct cw_message **slot = cw_reliable_received_slot(channel, message->id);
    if (*slot) {
        if (message == channel->reserved)
            channel->reserved = NULL;
        cw_message_drop(message);
        return;
    }
    *slot = message;
    if (is_unordered(channel))
        add_ready(channel, message);
    channel->common.stats.received++;
}

static void take_piece(struct cw_reliable_channel *channel, const struct cw_parsed_entry *parsed)
{
    if (parsed->reserved)
        channel->reserved = parsed->reserved;
    struct cw_message *complete =
        cw_block_receiver_take(&channel->block_receiver, &parsed->piece, parsed->first);
    if (complete)
        keep_message(channel, complete);
}

/* Takes a fragment of a large message, unless the packet held its id twice. */
static void take_large(struct cw_reliable_channel *channel, const struct cw_large_piece *piece)
{
    const uint16_t id = (uint16_t)(piece->first + piece->index);
    struct cw_message **slot = cw_reliable_received_slot(channel, id);
    if (*slot)
        return;
    *slot = fragment_mark(channel);
    if (!cw_large_receiver_take(&channel->large, piece))
        return;
    channel->common.stats.received++;
    if (!is_unordered(channel))
        return;
    struct cw_large_span *span = cw_large_span_of(&channel->large, piece->first);
    span->first = piece->first;
    if (channel->complete)
        channel->last_complete->next = span;
    else
        channel->complete = span;
    channel->last_complete = span;
}

static void take_messages(struct cw_reliable_channel *channel, const struct cw_parsed_entry *parsed)
{
    struct cw_message *message = parsed->first;
    if (parsed->reserved)
        channel->reserved = parsed->reserved;
    while (message) {
        struct cw_message *next = message->next;
        keep_message(channel, message);
        message = next;
    }
}

/* Takes the messages that were repaired. Any that cannot be kept now are sent again later. */
static void take_repaired(struct cw_reliable_channel *channel, const struct cw_parsed_entry *parsed)
{
    const struct cw_channel_common *common = &channel->common;
    struct cw_stream stream;
    uint16_t id;
    while (cw_repair_receiver_next(&channel->repair->receiver, &id, &stream)) {
        struct cw_parsed_entry entry = {.only_next = parsed->only_next};
        uint32_t type = 0;
        if (judge_id(channel, id) != KEEP || !cw_channel_read_type(&stream, common, &type) ||
            cw_schema_type_unchecked(common->schema, type)->block ||
            !read_kept(channel, &stream, &entry, type, id) || !entry.first)
            continue;
        take_messages(channel, &entry);
        cw_repair_report(channel->repair);
    }
}

static void take_repair(struct cw_reliable_channel *channel, const struct cw_parsed_entry *parsed,
                        double now)
{
    struct cw_repair *repair = channel->repair;
    take_repaired(channel, parsed);
    if (repair->has_report)
        cw_reliable_acked_before(channel, repair->first_missing, now);
    repair->has_report = false;
}

void cw_reliable_take(struct cw_reliable_channel *channel, const struct cw_parsed_entry *parsed,
                      double now)
{
    if (parsed->piece.size > 0) {
        if (parsed->is_large)
            take_large(channel, &parsed->large);
        else
            take_piece(channel, parsed);
        return;
    }
    take_messages(channel, parsed);
    if (cw_reliable_repairs(channel))
        take_repair(channel, parsed, now);
}

/* Returns the mark for the slot of a message that was taken before an older one: not a message. */
static struct cw_message *taken_mark(struct cw_reliable_channel *channel)
{
    return (struct cw_message *)(void *)channel;
}

/* Makes a large message that is complete. One that is malformed is dropped: NULL, with *done set.
   While the application holds all messages of the pool, it waits: NULL, and *done is not set. */
static struct cw_message *build_large(struct cw_reliable_channel *channel, uint16_t first,
                                      uint16_t count, bool *done)
{
    struct cw_channel_common *common = &channel->common;
    struct cw_message *message = NULL;
    *done = false;
    const enum cw_error error = cw_large_receiver_build(&channel->large, common, first, &message);
    if (error == CW_ERROR_POOL_EMPTY)
        return NULL;
    *done = true;
    if (error != CW_OK)
        common->stats.dropped++;
    else
        message->id = first;
    cw_large_receiver_forget(&channel->large, first, count);
    return message;
}

/* Moves the window on when its oldest messages are taken. */
static void move_window(struct cw_reliable_channel *channel)
{
    struct cw_message **oldest;
    while (*(oldest = cw_reliable_received_slot(channel, channel->next_taken)) ==
           taken_mark(channel)) {
        *oldest = NULL;
        channel->next_taken++;
    }
}

/* Takes the next large message that is complete, of an unordered channel. */
static struct cw_message *next_complete(struct cw_reliable_channel *channel)
{
    struct cw_message *message = NULL;
    while (channel->complete && !message) {
        const uint16_t first = channel->complete->first;
        struct cw_large_span *next = channel->complete->next;
        const uint16_t count = cw_large_receiver_complete(&channel->large, first);
        bool done;
        message = build_large(channel, first, count, &done);
        if (!done)
            return NULL;
        channel->complete = next;
        for (uint16_t i = 0; i < count; i++)
            *cw_reliable_received_slot(channel, (uint16_t)(first + i)) = taken_mark(channel);
        move_window(channel);
    }
    return message;
}

/* Takes the next message that is ready. */
static struct cw_message *next_ready(struct cw_reliable_channel *channel)
{
    struct cw_message *message = channel->ready_first;
    if (!message)
        return channel->complete ? next_complete(channel) : NULL;
    channel->ready_first = message->next;
    *cw_reliable_received_slot(channel, message->id) = taken_mark(channel);
    move_window(channel);
    return message;
}

/* Takes the large messages that are next in order up to the first that is none, or is not complete.
   Returns a message, or NULL. */
static struct cw_message *next_large(struct cw_reliable_channel *channel)
{
    struct cw_message *message = NULL;
    while (!message &&
           *cw_reliable_received_slot(channel, channel->next_taken) == fragment_mark(channel)) {
        const uint16_t first = channel->next_taken;
        const uint16_t count = cw_large_receiver_complete(&channel->large, first);
        bool done = false;
        if (count > 0)
            message = build_large(channel, first, count, &done);
        if (!done)
            return NULL;
        for (uint16_t i = 0; i < count; i++)
            *cw_reliable_received_slot(channel, channel->next_taken++) = NULL;
    }
    return message;
}

static struct cw_message *next_in_order(struct cw_reliable_channel *channel)
{
    struct cw_message **slot = cw_reliable_received_slot(channel, channel->next_taken);
    struct cw_message *message = *slot;
    if (message && message == fragment_mark(channel)) {
        struct cw_message *large = next_large(channel);
        if (large)
            return large;
        slot = cw_reliable_received_slot(channel, channel->next_taken);
        message = *slot;
    }
    if (!message || message == fragment_mark(channel))
        return NULL;
    *slot = NULL;
    channel->next_taken++;
    return message;
}

struct cw_message *cw_reliable_next(struct cw_reliable_channel *channel)
{
    struct cw_message *message =
        is_unordered(channel) ? next_ready(channel) : next_in_order(channel);
    if (message == channel->reserved)
        channel->reserved = NULL;
    return message;
}

void cw_reliable_reset_received(struct cw_reliable_channel *channel)
{
    for (uint32_t i = 0; i < channel->common.config.receive_queue_size; i++) {
        if (channel->received[i] != taken_mark(channel) &&
            channel->received[i] != fragment_mark(channel))
            cw_message_drop(channel->received[i]);
        channel->received[i] = NULL;
    }
    cw_large_receiver_reset(&channel->large);
    channel->complete = NULL;
    channel->ready_first = channel->reserved = NULL;
    channel->next_taken = 0;
}
