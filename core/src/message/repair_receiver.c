#include "message/repair_receiver.h"

#include "base/gf256.h"

#include "causeway/sequence.h"

#include <string.h>

static uint64_t bit_of(uint32_t slot)
{
    return (uint64_t)1 << slot;
}

static uint16_t window_start(const struct cw_repair_receiver *receiver)
{
    return (uint16_t)(receiver->end - CW_REPAIR_WINDOW);
}

void cw_repair_receiver_reset(struct cw_repair_receiver *receiver)
{
    receiver->end = 0;
    receiver->known = receiver->solved = receiver->equations = 0;
}

/* The slots of the ids from first on. */
static uint64_t slots_of(uint16_t first, uint32_t count)
{
    const uint64_t ones = count < 64 ? bit_of(count) - 1 : UINT64_MAX;
    const uint32_t shift = cw_repair_slot(first);
    return shift > 0 ? ones << shift | ones >> (64 - shift) : ones;
}

/* Moves the window up to end, if that is newer. The equations of a message that leaves it are those
   in its place: it is the oldest of all that has a factor in them. */
static void advance(struct cw_repair_receiver *receiver, uint16_t end)
{
    if (!cw_sequence_newer(end, receiver->end))
        return;
    const uint16_t steps = (uint16_t)(end - receiver->end);
    const uint64_t stay =
        ~slots_of(receiver->end, steps < CW_REPAIR_WINDOW ? steps : CW_REPAIR_WINDOW);
    receiver->known &= stay;
    receiver->solved &= stay;
    receiver->equations &= stay;
    receiver->end = end;
}

/* Adds factor times a row, whose factors outside of its columns are 0. */
static void add_row(struct cw_repair_row *sum, const struct cw_repair_row *row, uint8_t factor)
{
    cw_gf256_add(sum->bytes, row->bytes, factor, row->size);
    if (sum->size < row->size)
        sum->size = row->size;
    for (uint64_t left = row->columns; left > 0; left &= left - 1) {
        const uint32_t slot = cw_lowest_bit(left);
        sum->factors[slot] ^= cw_gf256_multiply(row->factors[slot], factor);
        if (sum->factors[slot] == 0)
            sum->columns &= ~bit_of(slot);
        else
            sum->columns |= bit_of(slot);
    }
}

/* Equations with a single message left are that message. */
static void take_solved(struct cw_repair_receiver *receiver)
{
    for (uint64_t left = receiver->equations; left > 0; left &= left - 1) {
        const uint64_t bit = left & (~left + 1);
        if (receiver->rows[cw_lowest_bit(left)].columns != bit)
            continue;
        receiver->equations &= ~bit;
        receiver->known |= bit;
        receiver->solved |= bit;
    }
}

/* Which of these slots has the oldest id. */
static uint32_t oldest_of(const struct cw_repair_receiver *receiver, uint64_t slots)
{
    const uint32_t start = cw_repair_slot(receiver->end);
    const uint64_t from_start = slots >> start << start;
    return cw_lowest_bit(from_start > 0 ? from_start : slots);
}

/* Adds the equation in work, whose messages are all missing. */
static void add_equation(struct cw_repair_receiver *receiver)
{
    struct cw_repair_row *work = &receiver->work;
    for (uint64_t left = work->columns & receiver->equations; left > 0; left &= left - 1) {
        const uint32_t slot = cw_lowest_bit(left);
        add_row(work, &receiver->rows[slot], work->factors[slot]);
    }
    if (work->columns == 0)
        return; /* it says nothing new */
    const uint32_t place = oldest_of(receiver, work->columns);
    add_row(work, work, cw_gf256_inverse(work->factors[place]) ^ 1);
    for (uint64_t left = receiver->equations; left > 0; left &= left - 1) {
        struct cw_repair_row *row = &receiver->rows[cw_lowest_bit(left)];
        if (row->columns & bit_of(place))
            add_row(row, work, row->factors[place]);
    }
    receiver->rows[place] = *work;
    receiver->equations |= bit_of(place);
    take_solved(receiver);
}

/* Takes a message that is known now out of the equations. */
static void take_out(struct cw_repair_receiver *receiver, uint32_t slot)
{
    const struct cw_repair_row *message = &receiver->rows[slot];
    for (uint64_t left = receiver->equations; left > 0; left &= left - 1) {
        struct cw_repair_row *row = &receiver->rows[cw_lowest_bit(left)];
        if (!(row->columns & bit_of(slot)))
            continue;
        cw_gf256_add(row->bytes, message->bytes, row->factors[slot], message->size);
        if (row->size < message->size)
            row->size = message->size;
        row->factors[slot] = 0;
        row->columns &= ~bit_of(slot);
    }
    take_solved(receiver);
}

static void set_message(struct cw_repair_row *row, const uint8_t *bytes, size_t bits)
{
    const size_t size = (bits + 7) / 8;
    row->columns = 0;
    row->size = cw_repair_words((uint32_t)size);
    memset(row->bytes, 0, sizeof row->bytes);
    memcpy(row->bytes, bytes, size);
    if (bits % 8 > 0)
        row->bytes[size - 1] &= (uint8_t)((1u << bits % 8) - 1);
}

void cw_repair_receiver_add(struct cw_repair_receiver *receiver, uint16_t id, const uint8_t *bytes,
                            size_t bits)
{
    const uint32_t slot = cw_repair_slot(id);
    if (bits == 0 || bits > CW_REPAIR_BYTES * 8)
        return;
    advance(receiver, (uint16_t)(id + 1));
    if (!cw_sequence_newer(id, (uint16_t)(window_start(receiver) - 1)) ||
        receiver->known & bit_of(slot))
        return;
    const bool was_oldest = receiver->equations & bit_of(slot);
    if (was_oldest)
        receiver->work = receiver->rows[slot];
    set_message(&receiver->rows[slot], bytes, bits);
    receiver->known |= bit_of(slot);
    if (!was_oldest) {
        take_out(receiver, slot);
        return;
    }
    struct cw_repair_row *work = &receiver->work;
    receiver->equations &= ~bit_of(slot);
    cw_gf256_add(work->bytes, receiver->rows[slot].bytes, 1, receiver->rows[slot].size);
    if (work->size < receiver->rows[slot].size)
        work->size = receiver->rows[slot].size;
    work->factors[slot] = 0;
    work->columns &= ~bit_of(slot);
    add_equation(receiver);
}

/* A combination whose range begins before the window says nothing that could still be used. */
static void add_combination(struct cw_repair_receiver *receiver,
                            const struct cw_repair_range *range, uint32_t index,
                            const uint8_t *bytes)
{
    const uint16_t start = (uint16_t)(range->end - range->count);
    advance(receiver, range->end);
    if ((uint16_t)(receiver->end - start) > CW_REPAIR_WINDOW ||
        (slots_of(start, range->count) & ~receiver->known) == 0)
        return;
    struct cw_repair_row *work = &receiver->work;
    memset(work, 0, sizeof *work);
    memcpy(work->bytes, bytes, range->size);
    work->size = cw_repair_words(range->size);
    for (uint16_t id = start; id != range->end; id++) {
        const uint32_t slot = cw_repair_slot(id);
        const uint8_t factor = cw_repair_factor(range, index, id);
        const struct cw_repair_row *row = &receiver->rows[slot];
        if (!(receiver->known & bit_of(slot))) {
            work->factors[slot] = factor;
            work->columns |= bit_of(slot);
            continue;
        }
        cw_gf256_add(work->bytes, row->bytes, factor, row->size);
        if (work->size < row->size)
            work->size = row->size;
    }
    add_equation(receiver);
}

static bool read_range(struct cw_stream *stream, const uint16_t *newest,
                       struct cw_repair_range *range)
{
    uint32_t size = 0, count = 0, end = newest ? *newest : 0, seed = 0;
    bool apart = false;
    if (!cw_stream_bits(stream, &size, CW_REPAIR_SIZE_BITS) ||
        !cw_stream_bits(stream, &count, CW_REPAIR_COUNT_BITS) || !cw_stream_bool(stream, &apart) ||
        (!apart && !newest) ||
        (apart && (!cw_stream_bits(stream, &end, 16) ||
                   !cw_stream_bits(stream, &seed, CW_REPAIR_SEED_BITS))))
        return false;
    *range = (struct cw_repair_range){
        .end = (uint16_t)end,
        .count = (uint16_t)(count + 1),
        .size = (uint16_t)(size + 1),
        .seed = (uint8_t)seed,
    };
    return true;
}

bool cw_repair_receiver_read(struct cw_repair_receiver *receiver, struct cw_stream *stream,
                             const uint16_t *newest, uint16_t limit)
{
    uint32_t count = 0;
    if (!cw_stream_bits(stream, &count, CW_REPAIR_MOST_BITS))
        return false;
    struct cw_repair_range range;
    if (count > 0 && !read_range(stream, newest, &range))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *bytes;
        if (!cw_bit_reader_borrow(&stream->reader, range.size, &bytes))
            return false;
        if (!cw_sequence_newer(range.end, limit))
            add_combination(receiver, &range, i, bytes);
    }
    return true;
}

bool cw_repair_receiver_next(struct cw_repair_receiver *receiver, uint16_t *id,
                             struct cw_stream *stream)
{
    if (receiver->solved == 0)
        return false;
    const uint32_t slot = oldest_of(receiver, receiver->solved);
    const uint16_t start = window_start(receiver);
    const struct cw_repair_row *row = &receiver->rows[slot];
    receiver->solved &= ~bit_of(slot);
    *id = (uint16_t)(start + ((slot - start) & (CW_REPAIR_WINDOW - 1)));
    *stream = cw_stream_reader(row->bytes, row->size);
    return true;
}
