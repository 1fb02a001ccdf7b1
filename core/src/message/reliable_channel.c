#include "message/reliable_channel_internal.h"

#include "base/outline.h"
#include "base/sequence.h"

#define ALIGNMENT_BITS 7 /* the most bits that an alignment takes */

/* Returns the first slot of a list, NULL when there is none. */
static struct cw_reliable_slot *first_of(const struct cw_reliable_channel *channel,
                                         enum cw_reliable_list list)
{
    const struct cw_reliable_slots *slots = &channel->slots;
    const uint16_t first = slots->items[cw_reliable_slots_end(slots, list)].next;
    return first < slots->size ? &slots->items[first] : NULL;
}

static void look_at(struct cw_reliable_channel *channel, enum cw_reliable_list list)
{
    channel->list = list;
    channel->cursor = channel->slots.items[cw_reliable_slots_end(&channel->slots, list)].next;
}

void cw_reliable_begin(struct cw_reliable_channel *channel, bool first)
{
    look_at(channel, CW_LIST_SENT);
    channel->common.selection_count = 0;
    channel->common.done = channel->common.more_due = channel->common.fragment_due = false;
    channel->common.has_fragment = false;
    channel->picked_fragment = NULL;
    channel->copy_bits_left = first ? (uint64_t)channel->common.config.redundancy_budget * 8 : 0;
    if (cw_reliable_repairs(channel)) {
        cw_repair_begin(channel->repair, first);
        channel->common.extra = false;
    }
}

static void count_send(struct cw_reliable_channel *channel, enum cw_due due)
{
    if (due != CW_DUE_FIRST)
        channel->common.stats.resent++;
}

uint32_t cw_reliable_entry_bits(const struct cw_reliable_channel *channel)
{
    return channel->common.entry_bits + (channel->repair ? CW_REPAIR_ENTRY_BITS : 0);
}

/* Returns the bits of the entry apart from its messages. */
static uint32_t head_bits(const struct cw_reliable_channel *channel)
{
    const bool begun = channel->common.selection_count > 0 || channel->common.extra;
    return begun ? 0 : cw_reliable_entry_bits(channel);
}

static uint32_t id_bits(const struct cw_reliable_channel *channel, uint16_t id)
{
    const uint16_t *selection = channel->common.selection;
    const uint32_t count = channel->common.selection_count;
    if (count == 0)
        return head_bits(channel) + CW_MESSAGE_ID_BITS;
    struct cw_stream measurer = cw_stream_measurer();
    cw_stream_relative_sequence(&measurer, selection[count - 1], &id);
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

static void start_block(struct cw_reliable_channel *channel, struct cw_block_sender *sender,
                        uint16_t id)
{
    const struct cw_message *message = cw_reliable_slot_of(channel, id)->message;
    cw_block_sender_start(sender, id, message->block, message->block_size);
    leave_queue(channel);
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

CW_OUTLINE static uint32_t pick_fragment(struct cw_reliable_channel *channel,
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
    count_send(channel, due);
    channel->common.selection[0] = sender->id;
    channel->common.selection[1] = (uint16_t)fragment;
    channel->common.selection_count = 2;
    channel->picked_fragment = sender;
    return bits;
}

/* Returns the id with which the other end's window may begin: that of the oldest message, of which
   the first fragments may be acked. */
static inline uint16_t window_start(const struct cw_reliable_channel *channel)
{
    const uint16_t oldest = channel->oldest_unacked;
    return CW_LIKELY(channel->fragments == 0)
               ? oldest
               : (uint16_t)(oldest - cw_reliable_slot_of(channel, oldest)->index);
}

/* Returns whether a message may be sent for the first time: the receiver may have no room for ids
   further ahead than its queue is long, and a block waits until all before it are acked. */
static bool may_begin(const struct cw_reliable_channel *channel,
                      const struct cw_reliable_slot *slot)
{
    const uint16_t id = cw_reliable_id_of(slot);
    return !cw_reliable_is_block(slot) &&
           (uint16_t)(id - window_start(channel)) < channel->common.config.receive_queue_size;
}

/* Returns whether a block has its turn: nothing that was sent before it is unacked. */
static bool block_is_first(const struct cw_reliable_channel *channel)
{
    return cw_reliable_count(channel) > 0 &&
           cw_reliable_is_block(cw_reliable_slot_of(channel, channel->oldest_unacked));
}

/* Returns the timing of a message. One that is too long for combinations has nothing to wait for.
 */
static const struct cw_timing *timing_of(const struct cw_reliable_channel *channel,
                                         const struct cw_reliable_slot *slot,
                                         const struct cw_timing *timing)
{
    const bool is_long = cw_reliable_repairs(channel) && slot->bits > CW_REPAIR_BYTES * 8;
    return is_long ? channel->repair->plain : timing;
}

static enum cw_due due_of(const struct cw_reliable_channel *channel,
                          const struct cw_reliable_slot *slot, const struct cw_timing *timing)
{
    return cw_transmission_due(&slot->transmission, timing_of(channel, slot, timing));
}

/* Returns the next message that is due, which the cursor has then passed; NULL when none is. */
static struct cw_reliable_slot *next_due(struct cw_reliable_channel *channel,
                                         const struct cw_timing *timing, enum cw_due *due)
{
    for (;;) {
        struct cw_reliable_slot *slot = &channel->slots.items[channel->cursor];
        if (channel->cursor < channel->slots.size) {
            *due = due_of(channel, slot, timing);
            if (*due != CW_NOT_DUE && (*due != CW_DUE_FIRST || may_begin(channel, slot))) {
                channel->cursor = slot->next;
                return slot;
            }
        }
        if (channel->list == CW_LIST_UNSENT)
            return NULL;
        look_at(channel, channel->list + 1);
    }
}

static bool is_oldest(const struct cw_reliable_channel *channel,
                      const struct cw_reliable_slot *slot)
{
    return slot == cw_reliable_slot_of(channel, channel->oldest_unacked);
}

/* Returns the first slot by its id, among the next `most` ones, that is to be sent now; NULL when
   there is none, or when it is that of a fragment. */
static struct cw_reliable_slot *first_due(const struct cw_reliable_channel *channel, uint32_t most,
                                          const struct cw_timing *timing, enum cw_due *due)
{
    const uint32_t count = cw_reliable_count(channel);
    for (uint32_t i = 0; i < most && i < count; i++) {
        struct cw_reliable_slot *slot =
            cw_reliable_slot_of(channel, (uint16_t)(channel->oldest_unacked + i));
        if (!slot->message)
            continue;
        if (!may_begin(channel, slot))
            return NULL;
        *due = due_of(channel, slot, timing);
        if (*due == CW_DUE_FIRST || *due == CW_DUE_AGAIN)
            return slot->count > 0 ? NULL : slot;
    }
    return NULL;
}

/* Returns the slot to be picked next. In a packet that has nothing of the channel yet, this is the
   oldest message if it is due, because it holds up all others. */
static struct cw_reliable_slot *next_to_pick(struct cw_reliable_channel *channel,
                                             const struct cw_timing *timing, enum cw_due *due)
{
    const bool begins = channel->common.selection_count == 0;
    struct cw_reliable_slot *first = NULL, *slot = NULL;
    if (timing->only_oldest) {
        channel->common.more_due = true;
        first = begins ? first_due(channel, CW_MAX_MESSAGES_PER_PACKET, timing, due) : NULL;
    } else {
        slot = next_due(channel, timing, due);
        enum cw_due first_is;
        if (begins && !(slot && is_oldest(channel, slot)))
            first = first_due(channel, 1, timing, &first_is);
        if (first)
            *due = first_is;
    }
    if (!first)
        return slot;
    /* The slot that the search had found is looked at again, and this one is not. */
    if (slot)
        channel->cursor = (uint16_t)(slot - channel->slots.items);
    else if (channel->cursor == cw_reliable_slot_number(channel, first->message->id))
        channel->cursor = first->next;
    return first;
}

bool cw_reliable_stalls(struct cw_reliable_channel *channel, const struct cw_timing *timing)
{
    const struct cw_reliable_slot *oldest = cw_reliable_slot_of(channel, channel->oldest_unacked);
    if (!oldest->message)
        return false;
    if (cw_reliable_is_block(oldest))
        return channel->block_sender.active && !timing->no_fragments &&
               cw_block_sender_stalls(&channel->block_sender, timing);
    if (oldest->count > 0 && timing->no_fragments)
        return false;
    /* Messages go before fragments, and may be refused until the oldest fragment has arrived. */
    if (oldest->count > 0 && timing->refused && due_of(channel, oldest, timing) != CW_NOT_DUE)
        return true;
    if (cw_reliable_repairs(channel))
        timing = cw_repair_timing(channel->repair, timing);
    return cw_transmission_stalls(&oldest->transmission, timing_of(channel, oldest, timing));
}

/* Keeps the bytes of a message for combinations. */
CW_OUTLINE static void add_symbol(struct cw_reliable_channel *channel,
                                  const struct cw_reliable_slot *slot)
{
    struct cw_repair_symbol *symbol =
        cw_repair_sender_add(&channel->repair->sender, slot->message->id);
    if (slot->bits > CW_REPAIR_BYTES * 8)
        return;
    struct cw_stream stream = cw_stream_writer(symbol->bytes, sizeof symbol->bytes);
    if (cw_channel_write_message(&stream, &channel->common, slot->message))
        symbol->size = (uint16_t)cw_stream_flush(&stream);
}

/* Notes that a message goes into the packet being made, whose ids ascend. */
static void pick(struct cw_reliable_channel *channel, struct cw_reliable_slot *slot,
                 enum cw_due due, const struct cw_timing *timing)
{
    struct cw_channel_common *common = &channel->common;
    const uint16_t id = slot->message->id, number = cw_reliable_slot_number(channel, id);
    uint32_t at = common->selection_count++;
    for (; at > 0 && cw_sequence_newer(common->selection[at - 1], id); at--)
        common->selection[at] = common->selection[at - 1];
    common->selection[at] = id;
    if (due == CW_DUE_FIRST) {
        leave_queue(channel);
        if (cw_reliable_repairs(channel))
            add_symbol(channel, slot);
    }
    count_send(channel, due);
    cw_transmission_send(&slot->transmission, due, common->config.redundancy,
                         timing_of(channel, slot, timing));
    cw_reliable_slots_unlink(&channel->slots, number);
    cw_reliable_slots_append(&channel->slots, number,
                             slot->transmission.copies > 0 ? CW_LIST_COPIES : CW_LIST_SENT);
}

/* Picks the combinations of coded repair once all messages are picked, and returns their bits. The
   report of repaired messages has its own place beside messages. */
CW_OUTLINE static uint32_t pick_repair(struct cw_reliable_channel *channel, uint32_t bits_left)
{
    struct cw_channel_common *common = &channel->common;
    struct cw_repair *repair = channel->repair;
    const uint32_t head = head_bits(channel);
    const struct cw_reliable_slot *unsent = first_of(channel, CW_LIST_UNSENT);
    const uint16_t end = unsent ? cw_reliable_id_of(unsent) : channel->next_id;
    if (head > bits_left) {
        common->more_due |= cw_repair_waits(repair);
        return 0;
    }
    const uint32_t bits = cw_repair_pick(repair, channel->oldest_unacked, end, common->selection,
                                         common->selection_count, bits_left - head);
    common->extra = bits > 0 || repair->reports;
    common->more_due |= cw_repair_waits(repair) || common->fragment_due;
    common->fragment_due &= !common->extra; /* the fragment goes into the next packet */
    return common->extra ? head + bits : 0;
}

/* Returns the next fragment of a large message that is due: the oldest message or fragment of all
   first, as it holds up the others. */
static struct cw_reliable_slot *next_fragment(const struct cw_reliable_channel *channel,
                                              const struct cw_timing *timing, enum cw_due *due)
{
    const struct cw_reliable_slot *waiting = first_of(channel, CW_LIST_UNSENT);
    const struct cw_timing later = cw_bulk_timing(timing);
    struct cw_reliable_slot *oldest = cw_reliable_slot_of(channel, channel->oldest_unacked);
    *due = oldest->count > 0 ? cw_fragment_due(&oldest->transmission, timing, &later) : CW_NOT_DUE;
    if (*due == CW_DUE_AGAIN)
        return oldest;
    for (enum cw_reliable_list list = CW_LIST_FRAGMENTS; list < CW_RELIABLE_LISTS; list++) {
        struct cw_reliable_slot *slot = first_of(channel, list);
        if (!slot)
            continue;
        *due = cw_fragment_due(&slot->transmission, timing, &later);
        const bool waits = waiting && cw_reliable_is_block(waiting) &&
                           cw_sequence_newer(cw_reliable_id_of(slot), waiting->message->id);
        if (*due != CW_NOT_DUE && (*due != CW_DUE_FIRST || (!waits && may_begin(channel, slot))))
            return slot;
    }
    return NULL;
}

/* Picks a fragment of a large message, which is an entry of its own. */
CW_OUTLINE static uint32_t pick_large(struct cw_reliable_channel *channel,
                                      const struct cw_timing *timing, uint32_t bits_left)
{
    struct cw_channel_common *common = &channel->common;
    enum cw_due due;
    struct cw_reliable_slot *slot = next_fragment(channel, timing, &due);
    if (!slot)
        return 0;
    common->fragment_due = timing->no_fragments && common->selection_count == 0;
    common->more_due |= !common->fragment_due;
    const uint32_t bits =
        cw_large_bits(common, cw_large_size(&common->large, slot->bits, slot->index));
    const uint32_t room = bits_left == common->packet_bits ? common->fragment_bits : bits_left;
    if (timing->no_fragments || common->selection_count > 0 || bits > room)
        return 0;
    const uint16_t id = cw_reliable_id_of(slot), number = cw_reliable_slot_number(channel, id);
    if (due == CW_DUE_FIRST && slot->index == 0)
        leave_queue(channel);
    common->unsent_fragments -= due == CW_DUE_FIRST;
    count_send(channel, due);
    cw_transmission_send(&slot->transmission, due, 0, timing);
    cw_reliable_slots_unlink(&channel->slots, number);
    cw_reliable_slots_append(&channel->slots, number,
                             slot->transmission.copies > 0 ? CW_LIST_FRAGMENT_COPIES
                                                           : CW_LIST_FRAGMENTS);
    common->selection[common->selection_count++] = id;
    common->has_fragment = true;
    return bits;
}

/* Returns whether a message of this many bits may go into the packet. One that fits into no packet
   with others goes alone into a longer one, which is sent in fragments. */
static bool has_room(const struct cw_reliable_channel *channel, const struct cw_reliable_slot *slot,
                     uint32_t bits, uint32_t bits_left)
{
    const struct cw_channel_common *common = &channel->common;
    return bits <= bits_left || (!CW_LIKELY(slot->bits <= common->whole_bits) &&
                                 bits_left == common->packet_bits && bits <= common->fragment_bits);
}

uint32_t cw_reliable_pick(struct cw_reliable_channel *channel, const struct cw_timing *timing,
                          uint32_t bits_left)
{
    struct cw_channel_common *common = &channel->common;
    if (channel->picked_fragment || common->has_fragment || common->extra)
        return 0; /* nothing goes beside a fragment, or behind the part of coded repair */
    if (common->selection_count == common->config.max_messages_per_packet) {
        common->more_due = true;
        return 0;
    }
    if (cw_reliable_repairs(channel))
        timing = cw_repair_timing(channel->repair, timing);
    enum cw_due due;
    struct cw_reliable_slot *slot;
    while ((slot = next_to_pick(channel, timing, &due)) != NULL) {
        const uint32_t bits = slot->bits + id_bits(channel, slot->message->id);
        if (due == CW_DUE_REDUNDANT_COPY) {
            if (bits > bits_left || bits > channel->copy_bits_left)
                continue;
            channel->copy_bits_left -= bits;
        } else if (!has_room(channel, slot, bits, bits_left)) {
            common->more_due = true;
            if (is_oldest(channel, slot) || timing->only_oldest)
                break; /* nothing goes before it */
            continue;
        }
        pick(channel, slot, due, timing);
        common->done = channel->list == CW_LIST_UNSENT && channel->cursor >= channel->slots.size &&
                       !channel->repair && channel->fragments == 0;
        return bits;
    }
    if (channel->fragments > 0) {
        const uint32_t bits = pick_large(channel, timing, bits_left);
        if (bits > 0)
            return bits;
    }
    if (common->selection_count == 0 && block_is_first(channel)) {
        const uint32_t bits = pick_fragment(channel, timing, bits_left);
        if (bits > 0)
            return bits;
    }
    return cw_reliable_repairs(channel) ? pick_repair(channel, bits_left) : 0;
}

CW_OUTLINE static bool write_fragment(struct cw_reliable_channel *channel, struct cw_stream *stream,
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

CW_OUTLINE static bool write_large(const struct cw_reliable_channel *channel,
                                   struct cw_stream *stream, uint32_t index)
{
    const struct cw_reliable_slot *slot =
        cw_reliable_slot_of(channel, channel->common.selection[0]);
    const struct cw_large_piece piece = {
        .first = slot->message->id, .index = slot->index, .total = slot->bits};
    return cw_large_write(stream, &channel->common, index, slot->message, &piece);
}

CW_INLINE bool write_messages(struct cw_reliable_channel *channel, struct cw_stream *stream,
                              uint32_t index, bool aligned)
{
    struct cw_channel_common *common = &channel->common;
    const uint32_t count = common->selection_count;
    if (!cw_channel_write_head(stream, common, index, common->selection[0], CW_MESSAGE_ID_BITS))
        return false;
    for (uint32_t i = 1; i < count; i++) {
        if (!cw_stream_relative_sequence(stream, common->selection[i - 1], &common->selection[i]))
            return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if ((aligned && !cw_stream_align(stream)) ||
            !cw_channel_write_message(stream, common,
                                      cw_reliable_slot_of(channel, common->selection[i])->message))
            return false;
    }
    return true;
}

CW_OUTLINE static bool write_with_repair(struct cw_reliable_channel *channel,
                                         struct cw_stream *stream, uint32_t index)
{
    const struct cw_channel_common *common = &channel->common;
    uint32_t head = index; /* no block, no messages and, where there may be one, no fragment */
    const uint32_t bits = common->index_bits + 2 + (common->large.most > 0);
    return (common->selection_count > 0 ? write_messages(channel, stream, index, true)
                                        : cw_stream_bits(stream, &head, bits)) &&
           cw_repair_write(channel->repair, stream,
                           cw_reliable_first_missing(channel, channel->next_taken));
}

bool cw_reliable_write(struct cw_reliable_channel *channel, struct cw_stream *stream,
                       uint32_t index)
{
    if (channel->picked_fragment)
        return write_fragment(channel, stream, index);
    if (!CW_LIKELY(!channel->common.has_fragment))
        return write_large(channel, stream, index);
    return cw_reliable_repairs(channel) ? write_with_repair(channel, stream, index)
                                        : write_messages(channel, stream, index, false);
}
