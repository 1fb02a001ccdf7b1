#include "message/reliable_channel_internal.h"

#include "base/outline.h"
#include "base/sequence.h"

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

/* Returns how many extra messages are worth their bytes for each new one. */
static double wanted(const struct cw_reliable_channel *channel, const struct cw_timing *timing)
{
    const struct cw_channel_config *config = &channel->common.config;
    const bool waits = config->kind == CW_CHANNEL_RELIABLE_ORDERED;
    const struct cw_recovery_path path = {
        .loss = timing->known_loss,
        .next = timing->paired_loss > timing->known_loss ? timing->paired_loss : timing->known_loss,
        .wait = timing->answer,
        .others = waits ? channel->common.stats.in_flight : 0,
    };
    return cw_recovery_wanted(&path, config->extra_bytes / 100.0);
}

void cw_reliable_begin(struct cw_reliable_channel *channel, const struct cw_timing *timing,
                       bool first)
{
    look_at(channel, CW_LIST_SENT);
    channel->common.selection_count = 0;
    channel->common.done = channel->common.more_due = channel->common.fragment_due = false;
    channel->common.has_fragment = false;
    channel->picked_fragment = NULL;
    channel->may_copy = first;
    if (first && channel->common.config.recovery != CW_RECOVERY_RESEND)
        channel->recovery.wanted = wanted(channel, timing);
    if (cw_reliable_repairs(channel)) {
        cw_repair_begin(channel->repair, first);
        channel->common.extra = false;
    }
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

/* Returns whether combinations hold the message. */
static bool combines(const struct cw_reliable_channel *channel, const struct cw_reliable_slot *slot)
{
    return cw_reliable_repairs(channel) && slot->bits <= CW_REPAIR_BYTES * 8;
}

/* Returns the timing of a message. One that combinations do not hold has nothing to wait for. */
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
        timing = cw_repair_timing(channel->repair, timing, channel->recovery.wanted);
    return cw_transmission_stalls(&oldest->transmission, timing_of(channel, oldest, timing));
}

/* Keeps the bytes of a message for combinations. */
CW_OUTLINE static void add_symbol(struct cw_reliable_channel *channel,
                                  const struct cw_reliable_slot *slot)
{
    const bool is_long = !combines(channel, slot);
    struct cw_repair_symbol *symbol =
        cw_repair_sender_add(&channel->repair->sender, slot->message->id, is_long);
    if (is_long)
        return;
    struct cw_stream stream = cw_stream_writer(symbol->bytes, sizeof symbol->bytes);
    if (cw_channel_write_message(&stream, &channel->common, slot->message))
        symbol->size = (uint16_t)cw_stream_flush(&stream);
}

/* Adds what a new message earns to the budget, and pays for the copies that are to follow it.
   Returns how many these are. */
CW_OUTLINE static uint8_t pay_for_copies(struct cw_reliable_channel *channel,
                                         const struct cw_reliable_slot *slot,
                                         const struct cw_timing *timing)
{
    struct cw_recovery *recovery = &channel->recovery;
    cw_recovery_earn(recovery, slot->bits * (channel->common.config.extra_bytes / 100.0));
    return combines(channel, slot)
               ? 0
               : cw_recovery_pay(recovery, cw_timing_whole(timing, recovery->wanted), slot->bits);
}

/* Notes that a message goes into the packet being made, whose ids ascend. */
static void pick(struct cw_reliable_channel *channel, struct cw_reliable_slot *slot,
                 enum cw_due due, const struct cw_timing *timing)
{
    struct cw_channel_common *common = &channel->common;
    const uint16_t id = slot->message->id, number = cw_reliable_slot_number(channel, id);
    uint32_t at = common->selection_count++;
    uint8_t copies = 0;
    for (; at > 0 && cw_sequence_newer(common->selection[at - 1], id); at--)
        common->selection[at] = common->selection[at - 1];
    common->selection[at] = id;
    if (due == CW_DUE_FIRST) {
        cw_reliable_leave_queue(channel);
        if (common->config.recovery != CW_RECOVERY_RESEND)
            copies = pay_for_copies(channel, slot, timing);
        if (cw_reliable_repairs(channel))
            add_symbol(channel, slot);
    }
    cw_reliable_count_send(channel, due);
    cw_transmission_send(&slot->transmission, due, copies, timing_of(channel, slot, timing));
    if (due == CW_DUE_REDUNDANT_COPY && timing->bursts && slot->transmission.copies == 0)
        slot->transmission.copies = cw_recovery_pay(&channel->recovery, 1, slot->bits);
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
        common->more_due |= cw_repair_waits(repair, channel->recovery.budget);
        return 0;
    }
    const uint32_t room = bits_left - head;
    const uint32_t most =
        channel->recovery.budget < room ? (uint32_t)channel->recovery.budget : room;
    const uint32_t bits = cw_repair_pick(repair, channel->oldest_unacked, end, common->selection,
                                         common->selection_count, most);
    channel->recovery.budget -= bits;
    common->extra = bits > 0 || repair->reports;
    common->more_due |= cw_repair_waits(repair, channel->recovery.budget) || common->fragment_due;
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
        cw_reliable_leave_queue(channel);
    common->unsent_fragments -= due == CW_DUE_FIRST;
    cw_reliable_count_send(channel, due);
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
        timing = cw_repair_timing(channel->repair, timing, channel->recovery.wanted);
    enum cw_due due;
    struct cw_reliable_slot *slot;
    while ((slot = next_to_pick(channel, timing, &due)) != NULL) {
        const uint32_t bits = slot->bits + id_bits(channel, slot->message->id);
        if (due == CW_DUE_REDUNDANT_COPY) {
            if (!channel->may_copy || bits > bits_left)
                continue;
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
        const uint32_t bits = cw_reliable_pick_fragment(channel, timing, bits_left);
        if (bits > 0)
            return bits;
    }
    return cw_reliable_repairs(channel) ? pick_repair(channel, bits_left) : 0;
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
        return cw_reliable_write_fragment(channel, stream, index);
    if (!CW_LIKELY(!channel->common.has_fragment))
        return write_large(channel, stream, index);
    return cw_reliable_repairs(channel) ? write_with_repair(channel, stream, index)
                                        : write_messages(channel, stream, index, false);
}
