#include "message/block_sender.h"

/* When no more than a sixteenth of a block is missing, each fragment that is sent again gets a
   copy. At 20 % loss an eighth would be faster, but would send over 36 % of all fragments again. */
#define LAST_PART 16

void cw_block_sender_start(struct cw_block_sender *sender, uint16_t id, const uint8_t *block,
                           uint32_t size)
{
    sender->active = true;
    sender->id = id;
    sender->block = block;
    sender->size = size;
    sender->count = (size - 1) / sender->fragment_size + 1;
    sender->acked = 0;
    sender->oldest_unacked = 0;
    sender->next_unsent = 0;
}

uint32_t cw_block_sender_due(const struct cw_block_sender *sender, const struct cw_timing *timing,
                             bool others, enum cw_due *due)
{
    const bool waits = others || sender->next_unsent < sender->count;
    const struct cw_timing later = waits ? cw_patient_timing(timing) : cw_bulk_timing(timing);
    for (uint32_t i = sender->oldest_unacked; i < sender->next_unsent; i++) {
        const struct cw_block_fragment *fragment = &sender->fragments[i];
        if (fragment->acked)
            continue;
        *due = cw_transmission_due(&fragment->transmission, &later);
        if (*due != CW_NOT_DUE)
            return i;
    }
    *due = sender->next_unsent < sender->count ? CW_DUE_FIRST : CW_NOT_DUE;
    return sender->next_unsent;
}

bool cw_block_sender_stalls(const struct cw_block_sender *sender, const struct cw_timing *timing)
{
    const struct cw_timing later = cw_patient_timing(timing);
    return sender->oldest_unacked < sender->next_unsent &&
           cw_transmission_stalls(&sender->fragments[sender->oldest_unacked].transmission, &later);
}

void cw_block_sender_send(struct cw_block_sender *sender, uint32_t fragment, enum cw_due due,
                          const struct cw_timing *timing)
{
    struct cw_block_fragment *sent = &sender->fragments[fragment];
    if (due == CW_DUE_FIRST) {
        *sent = (struct cw_block_fragment){0};
        sender->next_unsent++;
    }
    cw_transmission_send(&sent->transmission, due, 0, timing);
    if (due != CW_DUE_AGAIN || (sender->count - sender->acked) * LAST_PART > sender->count)
        sent->transmission.copies = 0;
}

uint32_t cw_block_sender_fragment_size(const struct cw_block_sender *sender, uint32_t fragment)
{
    const uint32_t left = sender->size - fragment * sender->fragment_size;
    return left < sender->fragment_size ? left : sender->fragment_size;
}

static struct cw_block_fragment *find(struct cw_block_sender *sender, uint16_t id,
                                      uint32_t fragment)
{
    if (!sender->active || sender->id != id || fragment >= sender->next_unsent ||
        sender->fragments[fragment].acked)
        return NULL;
    return &sender->fragments[fragment];
}

/* Returns whether that packet carried the fragment last. */
static bool is_latest(const struct cw_block_fragment *fragment, uint16_t packet)
{
    return fragment->transmission.packet == packet && !fragment->transmission.lost;
}

void cw_block_sender_doubt(struct cw_block_sender *sender, uint16_t newest_reported)
{
    for (uint32_t i = 0; i < sender->next_unsent; i++) {
        struct cw_block_fragment *fragment = &sender->fragments[i];
        if (!cw_sequence_newer(fragment->transmission.packet, newest_reported))
            fragment->doubted = fragment->transmission.lost = true;
    }
}

bool cw_block_sender_acked(struct cw_block_sender *sender, uint16_t id, uint32_t fragment,
                           uint16_t packet)
{
    struct cw_block_fragment *acked = find(sender, id, fragment);
    if (!acked || (acked->doubted && !is_latest(acked, packet)))
        return false;
    acked->acked = true;
    sender->acked++;
    while (sender->oldest_unacked < sender->next_unsent &&
           sender->fragments[sender->oldest_unacked].acked)
        sender->oldest_unacked++;
    if (sender->acked < sender->count)
        return false;
    sender->active = false;
    return true;
}

void cw_block_sender_lost(struct cw_block_sender *sender, uint16_t id, uint32_t fragment,
                          uint16_t packet)
{
    struct cw_block_fragment *lost = find(sender, id, fragment);
    if (lost && lost->transmission.packet == packet)
        lost->transmission.lost = true;
}
