#include "message/repair_sender.h"

#include "base/gf256.h"

#include <string.h>

#define MOST_A_ROUND 4.0 /* the most combinations that may be due */

void cw_repair_sender_reset(struct cw_repair_sender *sender)
{
    memset(sender, 0, sizeof *sender);
    sender->seed = 1;
}

void cw_repair_sender_begin(struct cw_repair_sender *sender, bool first)
{
    sender->combinations = 0;
    if (!first)
        return;
    sender->due += sender->earned;
    sender->earned = 0;
    if (sender->due > MOST_A_ROUND)
        sender->due = MOST_A_ROUND;
}

struct cw_repair_symbol *cw_repair_sender_add(struct cw_repair_sender *sender, uint16_t id,
                                              bool is_long)
{
    sender->earned += is_long ? 0 : sender->share;
    struct cw_repair_symbol *symbol = &sender->symbols[cw_repair_slot(id)];
    memset(symbol, 0, sizeof *symbol);
    symbol->id = id;
    return symbol;
}

/* Finds the newest messages before end whose bytes are here. */
static struct cw_repair_range find_range(const struct cw_repair_sender *sender, uint16_t oldest,
                                         uint16_t end)
{
    struct cw_repair_range range = {
        .end = end, .seed = sender->apart ? sender->seed : 0, /* 0 is for packets with messages */
    };
    for (uint16_t id = end; id != oldest && range.count < CW_REPAIR_WINDOW; range.count++) {
        const struct cw_repair_symbol *symbol = &sender->symbols[cw_repair_slot(--id)];
        if (symbol->id != id || symbol->size == 0)
            break;
        if (symbol->size > range.size)
            range.size = symbol->size;
    }
    return range;
}

/* The newest message of the packet arrives with the combinations and needs none. Whole packets are
   lost, so a packet with messages carries one combination, and further ones go in their own. */
uint32_t cw_repair_sender_pick(struct cw_repair_sender *sender, uint16_t oldest, uint16_t end,
                               const uint16_t *ids, uint32_t count, uint32_t bits_left)
{
    if (sender->due < 1)
        return 0;
    sender->apart = count == 0 || (uint16_t)(ids[count - 1] + 1) != end;
    sender->range = find_range(sender, oldest, sender->apart ? end : ids[count - 1]);
    if (sender->range.count + (sender->apart ? 0u : 1u) <=
        count) { /* no other message is unacked */
        sender->due = 0;
        return 0;
    }
    const uint32_t bits = sender->range.size * 8u;
    uint32_t most = count > 0 ? 1 : CW_REPAIR_MOST;
    if (most > bits_left / bits)
        most = bits_left / bits;
    sender->combinations = sender->due < most ? (uint32_t)sender->due : most;
    sender->due -= sender->combinations;
    return sender->combinations * bits;
}

static bool write_combination(const struct cw_repair_sender *sender, struct cw_stream *stream,
                              uint32_t index)
{
    const struct cw_repair_range *range = &sender->range;
    uint8_t sum[CW_REPAIR_BYTES] = {0}, factors[CW_REPAIR_WINDOW];
    cw_repair_factors(range, index, factors);
    const struct cw_gf256_bits bits = cw_gf256_split(factors);
    for (uint32_t i = 0; i < range->size; i += CW_GF256_STRIP)
        cw_gf256_gather(sum + i, sender->symbols->bytes + i, sizeof *sender->symbols, UINT64_MAX,
                        &bits);
    return cw_stream_bytes(stream, sum, range->size);
}

bool cw_repair_sender_write(struct cw_repair_sender *sender, struct cw_stream *stream)
{
    const struct cw_repair_range *range = &sender->range;
    uint32_t combinations = sender->combinations, size = range->size - 1u,
             count = range->count - 1u;
    uint32_t end = range->end, seed = range->seed;
    if (!cw_stream_bits(stream, &combinations, CW_REPAIR_MOST_BITS))
        return false;
    if (combinations == 0)
        return true;
    if (!cw_stream_bits(stream, &size, CW_REPAIR_SIZE_BITS) ||
        !cw_stream_bits(stream, &count, CW_REPAIR_COUNT_BITS) ||
        !cw_stream_bool(stream, &sender->apart) ||
        (sender->apart && (!cw_stream_bits(stream, &end, 16) ||
                           !cw_stream_bits(stream, &seed, CW_REPAIR_SEED_BITS))))
        return false;
    if (sender->apart)
        sender->seed = (uint8_t)(sender->seed % UINT8_MAX + 1);
    for (uint32_t i = 0; i < combinations; i++) {
        if (!write_combination(sender, stream, i))
            return false;
    }
    return true;
}
