#include "message/reliable_channel.h"

#include "causeway/sequence.h"

#define LATENCY_WEIGHT (1.0 / 16.0)
#define ALIGNMENT_BITS 7

static uint16_t slot_number(const struct cw_reliable_channel *channel, uint16_t id)
{
    return id & (channel->slots.size - 1);
}

static struct cw_reliable_slot *slot_of(const struct cw_reliable_channel *channel, uint16_t id)
{
    return &channel->slots.all[slot_number(channel, id)];
}

static struct cw_message **received_slot(const struct cw_reliable_channel *channel, uint16_t id)
{
    return &channel->received[id & (channel->common.config.receive_queue_size - 1)];
}

static bool is_block(const struct cw_message *message)
{
    return message->block != NULL;
}

void cw_reliable_reset(struct cw_reliable_channel *channel)
{
    const struct cw_channel_config *config = &channel->common.config;
    for (uint16_t id = channel->oldest_unacked; id != channel->next_id; id++) {
        cw_message_drop(slot_of(channel, id)->message);
        slot_of(channel, id)->message = NULL;
    }
    for (uint32_t i = 0; i < config->receive_queue_size; i++) {
        cw_message_drop(channel->received[i]);
        channel->received[i] = NULL;
    }
    cw_reliable_slots_reset(&channel->slots);
    channel->oldest_unacked = channel->next_id = 0;
    channel->next_taken = 0;
    channel->block_sender.active = false;
    if (config->blocks)
        cw_block_receiver_reset(&channel->block_receiver);
    channel->common.stats = (struct cw_channel_stats){0};
}

/* Sending */

enum cw_error cw_reliable_send(struct cw_reliable_channel *channel, struct cw_message *message,
                               uint32_t bits, double now)
{
    if (cw_reliable_count(channel) == channel->slots.size)
        return CW_ERROR_QUEUE_FULL;
    message->held = true;
    message->id = channel->next_id++;
    *slot_of(channel, message->id) =
        (struct cw_reliable_slot){.message = message, .queued = now, .bits = bits};
    cw_reliable_slots_append(&channel->slots, slot_number(channel, message->id), CW_LIST_UNSENT);
    cw_receipts_promise(channel->common.receipts, message->receipt);
    channel->common.stats.sent++;
    channel->common.stats.queued++;
    return CW_OK;
}

static void look_at(struct cw_reliable_channel *channel, enum cw_reliable_list list)
{
    channel->list = list;
    channel->cursor = channel->slots.all[cw_reliable_slots_end(&channel->slots, list)].next;
}

void cw_reliable_begin(struct cw_reliable_channel *channel, bool copies)
{
    look_at(channel, CW_LIST_SENT);
    channel->common.picked_count = 0;
    channel->common.more = channel->common.held = false;
    channel->picked_fragment = false;
    channel->copy_bits_left = copies ? (uint64_t)channel->common.config.redundancy_budget * 8 : 0;
}

static void count_send(struct cw_reliable_channel *channel, enum cw_due due)
{
    if (due != CW_DUE_FIRST)
        channel->common.stats.resent++;
}

static uint32_t id_bits(const struct cw_reliable_channel *channel, uint16_t id)
{
    const uint16_t *picked = channel->common.picked;
    const uint32_t count = channel->common.picked_count;
    if (count == 0)
        return channel->common.entry_bits + CW_MESSAGE_ID_BITS;
    struct cw_stream measurer = cw_stream_measurer();
    cw_stream_relative_sequence(&measurer, picked[count - 1], &id);
    return (uint32_t)cw_stream_position(&measurer);
}

uint32_t cw_reliable_fragment_bits(const struct cw_reliable_channel *channel, uint32_t size)
{
    const struct cw_channel_config *config = &channel->common.config;
    const uint32_t most =
        cw_block_max_fragments(config->max_block_size, config->block_fragment_size);
    return channel->common.entry_bits + CW_MESSAGE_ID_BITS + 2 * cw_bits_required(most - 1) +
           cw_bits_required(config->block_fragment_size - 1) + ALIGNMENT_BITS +
           (size < config->block_fragment_size ? size : config->block_fragment_size) * 8;
}

static void leave_queue(struct cw_reliable_channel *channel)
{
    channel->common.stats.queued--;
    channel->common.stats.in_flight++;
}

static uint32_t pick_fragment(struct cw_reliable_channel *channel, const struct cw_timing *timing,
                              uint32_t bits_left)
{
    struct cw_block_sender *sender = &channel->block_sender;
    const uint16_t id = channel->oldest_unacked;
    const struct cw_reliable_slot *slot = slot_of(channel, id);
    if (!sender->active) {
        cw_block_sender_start(sender, id, slot->message->block, slot->message->block_size);
        leave_queue(channel);
    }
    enum cw_due due;
    const uint32_t fragment = cw_block_sender_due(sender, timing, &due);
    channel->common.held = due != CW_NOT_DUE && timing->no_fragments;
    if (due == CW_NOT_DUE || timing->no_fragments)
        return 0;
    uint32_t bits =
        cw_reliable_fragment_bits(channel, cw_block_sender_fragment_size(sender, fragment));
    if (fragment == 0)
        bits += slot->bits;
    channel->common.more = true;
    const bool alone = bits_left == channel->common.packet_bits;
    if (bits > (alone ? channel->common.fragment_bits : bits_left))
        return 0;
    struct cw_block_fragment *sent = &sender->fragments[fragment];
    if (due == CW_DUE_FIRST) {
        *sent = (struct cw_block_fragment){0};
        sender->next_unsent++;
    }
    cw_transmission_send(&sent->transmission, due, 0, timing);
    sent->transmission.copies = 0; /* no fragment waits for another one */
    count_send(channel, due);
    channel->common.picked[0] = id;
    channel->common.picked[1] = (uint16_t)fragment;
    channel->common.picked_count = 2;
    channel->picked_fragment = true;
    return bits;
}

/* The receiver may not have room for ids further ahead than its queue is long, and a block waits
   until all messages before it are acked. */
static bool may_begin(const struct cw_reliable_channel *channel, const struct cw_message *message)
{
    return !is_block(message) && (uint16_t)(message->id - channel->oldest_unacked) <
                                     channel->common.config.receive_queue_size;
}

/* Whether a block has its turn: nothing that was sent before it is unacked. */
static bool block_is_first(const struct cw_reliable_channel *channel)
{
    return cw_reliable_count(channel) > 0 &&
           is_block(slot_of(channel, channel->oldest_unacked)->message);
}

/* The next message that is due, which the cursor then has passed; NULL when there is none. */
static struct cw_reliable_slot *next_due(struct cw_reliable_channel *channel,
                                         const struct cw_timing *timing, enum cw_due *due)
{
    for (;;) {
        struct cw_reliable_slot *slot = &channel->slots.all[channel->cursor];
        if (channel->cursor < channel->slots.size) {
            *due = cw_transmission_due(&slot->transmission, timing);
            if (*due != CW_NOT_DUE && (*due != CW_DUE_FIRST || may_begin(channel, slot->message))) {
                channel->cursor = slot->next;
                return slot;
            }
        }
        if (channel->list == CW_LIST_UNSENT)
            return NULL;
        look_at(channel, channel->list + 1);
    }
}

/* Notes that a message goes into the packet being made, whose ids ascend. */
static void pick(struct cw_reliable_channel *channel, struct cw_reliable_slot *slot,
                 enum cw_due due, const struct cw_timing *timing)
{
    struct cw_channel_common *common = &channel->common;
    const uint16_t id = slot->message->id, number = slot_number(channel, id);
    uint32_t at = common->picked_count++;
    for (; at > 0 && cw_sequence_newer(common->picked[at - 1], id); at--)
        common->picked[at] = common->picked[at - 1];
    common->picked[at] = id;
    if (due == CW_DUE_FIRST)
        leave_queue(channel);
    count_send(channel, due);
    cw_transmission_send(&slot->transmission, due, common->config.redundancy, timing);
    cw_reliable_slots_unlink(&channel->slots, number);
    cw_reliable_slots_append(&channel->slots, number,
                             slot->transmission.copies > 0 ? CW_LIST_COPIES : CW_LIST_SENT);
}

uint32_t cw_reliable_pick(struct cw_reliable_channel *channel, const struct cw_timing *timing,
                          uint32_t bits_left)
{
    struct cw_channel_common *common = &channel->common;
    if (channel->picked_fragment)
        return 0;
    if (common->picked_count == common->config.max_messages_per_packet) {
        common->more = true;
        return 0;
    }
    enum cw_due due;
    struct cw_reliable_slot *slot;
    while ((slot = next_due(channel, timing, &due)) != NULL) {
        const uint32_t bits = slot->bits + id_bits(channel, slot->message->id);
        if (due == CW_DUE_REDUNDANT_COPY) {
            if (bits > bits_left || bits > channel->copy_bits_left)
                continue;
            channel->copy_bits_left -= bits;
        } else if (bits > bits_left) {
            common->more = true;
            continue;
        }
        pick(channel, slot, due, timing);
        return bits;
    }
    return common->picked_count == 0 && block_is_first(channel)
               ? pick_fragment(channel, timing, bits_left)
               : 0;
}

static bool write_fragment(struct cw_reliable_channel *channel, struct cw_stream *stream,
                           uint32_t index)
{
    const struct cw_channel_common *common = &channel->common;
    const struct cw_channel_config *config = &common->config;
    const struct cw_block_sender *sender = &channel->block_sender;
    const uint32_t most =
        cw_block_max_fragments(config->max_block_size, config->block_fragment_size);
    uint32_t id = common->picked[0];
    uint32_t fragment = common->picked[1];
    uint32_t head = index | 1u << common->index_bits | id << (common->index_bits + 1);
    uint32_t count = sender->count;
    uint32_t size = cw_block_sender_fragment_size(sender, fragment);
    /* the stream only reads from here: it is a writer */
    uint8_t *bytes =
        (uint8_t *)(uintptr_t)(sender->block + (size_t)fragment * config->block_fragment_size);
    if (!cw_stream_bits(stream, &head, common->index_bits + 1 + CW_MESSAGE_ID_BITS) ||
        !cw_stream_uint(stream, &count, 1, most) ||
        !cw_stream_uint(stream, &fragment, 0, count - 1) ||
        !cw_stream_uint(stream, &size, 1, config->block_fragment_size) ||
        !cw_stream_bytes(stream, bytes, size))
        return false;
    return fragment > 0 ||
           cw_channel_write_message(stream, common, slot_of(channel, (uint16_t)id)->message);
}

bool cw_reliable_write(struct cw_reliable_channel *channel, struct cw_stream *stream,
                       uint32_t index)
{
    struct cw_channel_common *common = &channel->common;
    if (channel->picked_fragment)
        return write_fragment(channel, stream, index);
    const uint32_t count = common->picked_count;
    if (!cw_channel_write_head(stream, common, index, common->picked[0], CW_MESSAGE_ID_BITS))
        return false;
    for (uint32_t i = 1; i < count; i++) {
        if (!cw_stream_relative_sequence(stream, common->picked[i - 1], &common->picked[i]))
            return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!cw_channel_write_message(stream, common, slot_of(channel, common->picked[i])->message))
            return false;
    }
    return true;
}

/* What became of it */

static void settle(struct cw_reliable_channel *channel, uint16_t id, double now)
{
    struct cw_channel_stats *stats = &channel->common.stats;
    struct cw_reliable_slot *slot = slot_of(channel, id);
    const double latency = now - slot->queued;
    stats->delivery_latency_seconds =
        stats->delivered == 0 ? latency
                              : stats->delivery_latency_seconds +
                                    (latency - stats->delivery_latency_seconds) * LATENCY_WEIGHT;
    stats->delivered++;
    stats->in_flight--;
    if (slot->message->receipt)
        cw_receipts_settle(channel->common.receipts, slot->message->receipt, true);
    cw_message_drop(slot->message);
    slot->message = NULL;
    cw_reliable_slots_unlink(&channel->slots, slot_number(channel, id));
    while (channel->oldest_unacked != channel->next_id &&
           !slot_of(channel, channel->oldest_unacked)->message)
        channel->oldest_unacked++;
}

/* The slot of a message that was sent and is not acked, else NULL. */
static struct cw_reliable_slot *find_sent(const struct cw_reliable_channel *channel, uint16_t id)
{
    if ((uint16_t)(id - channel->oldest_unacked) >= cw_reliable_count(channel))
        return NULL;
    struct cw_reliable_slot *slot = slot_of(channel, id);
    return slot->message ? slot : NULL;
}

void cw_reliable_acked(struct cw_reliable_channel *channel, const uint16_t *ids, uint32_t count,
                       bool is_fragment, double now)
{
    if (is_fragment) {
        if (cw_block_sender_acked(&channel->block_sender, ids[0], ids[1]))
            settle(channel, ids[0], now);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (find_sent(channel, ids[i]))
            settle(channel, ids[i], now);
    }
}

void cw_reliable_lost(struct cw_reliable_channel *channel, const uint16_t *ids, uint32_t count,
                      bool is_fragment, uint16_t packet)
{
    if (is_fragment) {
        cw_block_sender_lost(&channel->block_sender, ids[0], ids[1], packet);
        return;
    }
    for (uint32_t i = count; i-- > 0;) {
        struct cw_reliable_slot *slot = find_sent(channel, ids[i]);
        if (!slot || slot->transmission.packet != packet || slot->transmission.lost)
            continue;
        slot->transmission.lost = true;
        cw_reliable_slots_unlink(&channel->slots, slot_number(channel, ids[i]));
        cw_reliable_slots_prepend(&channel->slots, slot_number(channel, ids[i]), CW_LIST_SENT);
    }
}

/* Receiving */

enum keep { KEEP, IGNORE, REFUSE };

static enum keep judge_id(const struct cw_reliable_channel *channel, uint16_t id)
{
    if (cw_sequence_newer(channel->next_taken, id))
        return IGNORE;
    if ((uint16_t)(id - channel->next_taken) >= channel->common.config.receive_queue_size)
        return REFUSE;
    return *received_slot(channel, id) ? IGNORE : KEEP;
}

/* From id on, the first message that has not arrived. */
static uint16_t first_missing(const struct cw_reliable_channel *channel, uint16_t id)
{
    const uint32_t size = channel->common.config.receive_queue_size;
    while ((uint16_t)(id - channel->next_taken) < size && *received_slot(channel, id))
        id++;
    return id;
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
                                !cw_schema_type_checked(common->schema, type)->block))
        return false;

    const enum keep keep = judge_id(channel, piece.id);
    enum cw_error error = keep == REFUSE ? CW_ERROR_RECEIVER_FULL : CW_OK;
    if (keep == KEEP)
        error = cw_block_receiver_check(receiver, &piece);
    if (error == CW_ERROR_MALFORMED)
        return false;
    const bool is_new = keep == KEEP && error == CW_OK && !cw_block_receiver_has(receiver, &piece);
    struct cw_message *message = NULL;
    if (piece.fragment == 0) {
        const bool is_next =
            !parsed->only_next || piece.id == first_missing(channel, channel->next_taken);
        if (!cw_channel_read_body(stream, common, parsed, type, is_new && is_next, &message))
            return false;
        if (message)
            cw_parsed_add(parsed, message);
        parsed->full |= is_new && !message;
    }
    parsed->full |= error == CW_ERROR_RECEIVER_FULL;
    if (is_new && (piece.fragment > 0 || message))
        parsed->piece = piece;
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

bool cw_reliable_read(struct cw_reliable_channel *channel, struct cw_stream *stream,
                      bool is_fragment, struct cw_parsed_entry *parsed)
{
    if (is_fragment)
        return read_fragment(channel, stream, parsed);
    struct cw_channel_common *common = &channel->common;
    uint16_t ids[CW_MAX_MESSAGES_PER_PACKET];
    uint32_t count = 0;
    bool any = false;
    if (!cw_stream_bool(stream, &any))
        return false;
    if (!any)
        return true;
    if (!read_ids(channel, stream, ids, &count))
        return false;
    uint16_t next = parsed->only_next ? first_missing(channel, channel->next_taken) : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type = 0;
        struct cw_message *message;
        const enum keep keep = judge_id(channel, ids[i]);
        const bool is_next = !parsed->only_next || ids[i] == next;
        if (!cw_channel_read_type(stream, common, &type) ||
            cw_schema_type_checked(common->schema, type)->block ||
            !cw_channel_read_body(stream, common, parsed, type, keep == KEEP && is_next, &message))
            return false;
        if (message) {
            message->id = ids[i];
            cw_parsed_add(parsed, message);
            if (parsed->only_next)
                next = first_missing(channel, (uint16_t)(next + 1));
        }
        parsed->full |= keep == REFUSE || (keep == KEEP && !message);
    }
    return true;
}

/* Puts a message where next finds it, unless the packet held it twice. */
static void keep_message(struct cw_reliable_channel *channel, struct cw_message *message)
{
    struct cw_message **slot = received_slot(channel, message->id);
    if (*slot) {
        cw_message_drop(message);
        return;
    }
    *slot = message;
    channel->common.stats.received++;
}

static void take_piece(struct cw_reliable_channel *channel, const struct cw_block_piece *piece,
                       struct cw_message *message)
{
    struct cw_message *complete = cw_block_receiver_take(&channel->block_receiver, piece, message);
    if (complete) {
        complete->id = piece->id;
        keep_message(channel, complete);
    }
}

void cw_reliable_take(struct cw_reliable_channel *channel, const struct cw_parsed_entry *parsed)
{
    if (parsed->piece.size > 0) {
        take_piece(channel, &parsed->piece, parsed->first);
        return;
    }
    struct cw_message *message = parsed->first;
    while (message) {
        struct cw_message *next = message->next;
        keep_message(channel, message);
        message = next;
    }
}

struct cw_message *cw_reliable_next(struct cw_reliable_channel *channel)
{
    struct cw_message **slot = received_slot(channel, channel->next_taken);
    struct cw_message *message = *slot;
    if (!message)
        return NULL;
    *slot = NULL;
    channel->next_taken++;
    return message;
}
