/* The messages that a reliable channel has to send: how they come into its queue, and how acks and
   losses change it. */
#include "message/reliable_channel_internal.h"

#include "base/sequence.h"

#define LATENCY_WEIGHT (1.0 / 16.0) /* weight of a new sample in delivery_latency_seconds */

/* Returns the number of fragments of the message that are not acked, this one included, and counts
   one less from now on. */
static uint16_t count_down(struct cw_reliable_channel *channel,
                           const struct cw_reliable_slot *fragment)
{
    const uint16_t last = (uint16_t)(fragment->message->id + fragment->count - 1);
    channel->fragments--;
    return cw_reliable_slot_of(channel, last)->left--;
}

void cw_reliable_reset(struct cw_reliable_channel *channel)
{
    const struct cw_channel_config *config = &channel->common.config;
    for (uint16_t id = channel->oldest_unacked; id != channel->next_id; id++) {
        struct cw_reliable_slot *slot = cw_reliable_slot_of(channel, id);
        if (slot->message && (slot->count == 0 || count_down(channel, slot) == 1))
            cw_message_drop(slot->message);
        slot->message = NULL;
    }
    cw_reliable_reset_received(channel);
    cw_reliable_slots_reset(&channel->slots);
    channel->oldest_unacked = channel->next_id = 0;
    channel->block_sender.active = channel->next_block.active = false;
    if (config->blocks)
        cw_block_receiver_reset(&channel->block_receiver);
    if (channel->repair)
        cw_repair_reset(channel->repair);
    channel->recovery = (struct cw_recovery){0};
    channel->common.extra = false;
    channel->common.unsent_fragments = 0;
    channel->common.stats = (struct cw_channel_stats){0};
}

/* Queues the fragments of a large message; each has an id and a slot. */
static enum cw_error append_large(struct cw_reliable_channel *channel, struct cw_message *message,
                                  double now)
{
    const uint32_t total = cw_large_prepare(&channel->common, message, channel->next_id);
    if (total == 0)
        return CW_ERROR_MESSAGE_VALUE;
    const uint32_t count = cw_large_count(&channel->common.large, total);
    if (cw_reliable_count(channel) + count > channel->slots.size)
        return CW_ERROR_QUEUE_FULL;
    message->id = channel->next_id;
    struct cw_reliable_slot slot = {.message = message,
                                    .queued = now,
                                    .bits = total,
                                    .count = (uint16_t)count,
                                    .left = (uint16_t)count};
    for (; slot.index < count; slot.index++) {
        const uint16_t number = cw_reliable_slot_number(channel, channel->next_id++);
        channel->slots.items[number] = slot;
        cw_reliable_slots_append(&channel->slots, number, CW_LIST_UNSENT_FRAGMENTS);
    }
    channel->fragments += count;
    channel->common.unsent_fragments += count;
    return CW_OK;
}

enum cw_error cw_reliable_send(struct cw_reliable_channel *channel, struct cw_message *message,
                               uint32_t bits, double now)
{
    if (cw_reliable_count(channel) >= channel->common.most_queued)
        return CW_ERROR_QUEUE_FULL;
    const struct cw_channel_common *common = &channel->common;
    if (cw_large_takes(&common->large, message, bits, common->whole_bits)) {
        const enum cw_error error = append_large(channel, message, now);
        if (error != CW_OK)
            return error;
    } else {
        message->id = channel->next_id++;
        *cw_reliable_slot_of(channel, message->id) =
            (struct cw_reliable_slot){.message = message, .queued = now, .bits = bits};
        cw_reliable_slots_append(&channel->slots, cw_reliable_slot_number(channel, message->id),
                                 CW_LIST_UNSENT);
    }
    message->owned = true;
    cw_receipts_promise(channel->common.receipts, message->receipt);
    channel->common.stats.sent++;
    channel->common.stats.queued++;
    return CW_OK;
}

/* Acks and losses */

/* Counts a message that has arrived. */
static void count_delivery(struct cw_reliable_channel *channel, double latency)
{
    struct cw_channel_stats *stats = &channel->common.stats;
    stats->delivery_latency_seconds =
        stats->delivered == 0 ? latency
                              : stats->delivery_latency_seconds +
                                    (latency - stats->delivery_latency_seconds) * LATENCY_WEIGHT;
    stats->delivered++;
    stats->in_flight--;
}

CW_INLINE void settle(struct cw_reliable_channel *channel, uint16_t id, double now)
{
    struct cw_reliable_slot *slot = cw_reliable_slot_of(channel, id);
    const uint32_t receipt = slot->message->receipt;
    if (!CW_LIKELY(slot->transmission.copies == 0) && !slot->transmission.again)
        cw_recovery_earn(&channel->recovery, (double)slot->bits * slot->transmission.copies);
    const bool last = CW_LIKELY(slot->count == 0) || count_down(channel, slot) == 1;
    if (last) {
        count_delivery(channel, now - slot->queued);
        if (receipt)
            cw_receipts_settle(channel->common.receipts, receipt, true);
        cw_message_drop(slot->message);
    }
    slot->message = NULL;
    cw_reliable_slots_unlink(&channel->slots, cw_reliable_slot_number(channel, id));
    while (channel->oldest_unacked != channel->next_id &&
           !cw_reliable_slot_of(channel, channel->oldest_unacked)->message)
        channel->oldest_unacked++;
}

/* Returns the slot of a message that was sent and is not acked, otherwise NULL. */
static struct cw_reliable_slot *find_sent(const struct cw_reliable_channel *channel, uint16_t id)
{
    if ((uint16_t)(id - channel->oldest_unacked) >= cw_reliable_count(channel))
        return NULL;
    struct cw_reliable_slot *slot = cw_reliable_slot_of(channel, id);
    return slot->message ? slot : NULL;
}

void cw_reliable_acked(struct cw_reliable_channel *channel, const uint16_t *ids, uint32_t count,
                       bool is_fragment, uint16_t packet, double now)
{
    if (is_fragment) {
        if (cw_block_sender_acked(&channel->block_sender, ids[0], ids[1], packet))
            settle(channel, ids[0], now);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (find_sent(channel, ids[i]))
            settle(channel, ids[i], now);
    }
}

void cw_reliable_acked_before(struct cw_reliable_channel *channel, uint16_t first_missing,
                              double now)
{
    if ((uint16_t)(first_missing - channel->oldest_unacked) > cw_reliable_count(channel))
        return;
    for (uint16_t id = channel->oldest_unacked; id != first_missing; id++) {
        const struct cw_reliable_slot *slot = find_sent(channel, id);
        if (slot && !slot->transmission.sent)
            return; /* a block is not here either: its fragments are acked */
        if (slot)
            settle(channel, id, now);
    }
}

void cw_reliable_lost(struct cw_reliable_channel *channel, const uint16_t *ids, uint32_t count,
                      bool is_fragment, uint16_t packet)
{
    if (is_fragment) {
        cw_block_sender_lost(&channel->block_sender, ids[0], ids[1], packet);
        return;
    }
    const bool repaired = cw_repair_is_active(channel->repair);
    for (uint32_t i = count; i-- > 0;) {
        struct cw_reliable_slot *slot = find_sent(channel, ids[i]);
        if (!slot || slot->transmission.packet != packet || slot->transmission.lost ||
            (repaired && slot->count == 0))
            continue;
        slot->transmission.lost = true;
        cw_reliable_slots_unlink(&channel->slots, cw_reliable_slot_number(channel, ids[i]));
        cw_reliable_slots_prepend(&channel->slots, cw_reliable_slot_number(channel, ids[i]),
                                  slot->count > 0 ? CW_LIST_FRAGMENTS : CW_LIST_SENT);
    }
}
