#include "message/repair_receiver.h"

#include "base/sequence.h"

#include <string.h>

#define BYTES CW_REPAIR_WINDOW /* the place of the bytes in a row */

/* The work for single steps, in units of CW_REPAIR_WORK. */
#define WORK_MESSAGE     6  /* for adding a message that has arrived, without its sums */
#define WORK_COMBINATION 25 /* for adding a combination, without its sums */
#define WORK_STRIP       5  /* for each sum, and one more for each of its rows */
#define WORK_TAKE        7  /* for taking a repaired message */
#define WORK_TAKE_STRIP  12 /* and for each of its strips, with a schema that reads byte by byte */

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
    memset(receiver->longer, 0, sizeof receiver->longer);
}

/* Returns the slots of count ids from first on. */
static uint64_t slots_of(uint16_t first, uint32_t count)
{
    const uint64_t ones = count < 64 ? bit_of(count) - 1 : UINT64_MAX;
    const uint32_t shift = cw_repair_slot(first);
    return shift > 0 ? ones << shift | ones >> (64 - shift) : ones;
}

/* Moves the window up to end, if that is newer. The only equation of a message that leaves the
   window is the one in its place: it is the oldest of all messages that have a factor there. */
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

/* Returns the slot with the oldest id among these. */
static uint32_t oldest_of(const struct cw_repair_receiver *receiver, uint64_t slots)
{
    const uint32_t start = cw_repair_slot(receiver->end);
    const uint64_t from_start = slots >> start << start;
    return cw_lowest_bit(from_start > 0 ? from_start : slots);
}

/* Returns whether this work may still be done for the packet, and subtracts it then. */
static bool may_work(struct cw_repair_receiver *receiver, uint32_t work)
{
    if (*receiver->work < work) {
        *receiver->work = 0;
        return false;
    }
    *receiver->work -= work;
    return true;
}

static uint32_t count_bits(uint64_t bits)
{
    uint32_t count = 0;
    for (; bits > 0; bits &= bits - 1)
        count++;
    return count;
}

/* Returns the work of adding this many strips of each of these rows to one row, or of one row to
   each. */
static uint32_t work_of(uint64_t rows, uint32_t strips)
{
    return rows > 0 ? (count_bits(rows) + WORK_STRIP) * strips : 0;
}

static uint32_t strips_of(size_t size)
{
    return (uint32_t)(size + CW_GF256_STRIP - 1) / CW_GF256_STRIP;
}

/* Notes that these rows may have bytes in this many strips. */
static void lengthen(struct cw_repair_receiver *receiver, uint64_t slots, uint32_t strips)
{
    for (uint32_t i = 0; i < strips; i++)
        receiver->longer[i] |= slots;
}

/* Notes the length of a row that replaces another in its place. */
static void set_strips(struct cw_repair_receiver *receiver, uint32_t slot, uint32_t strips)
{
    for (uint32_t i = 0; i < CW_REPAIR_STRIPS; i++)
        receiver->longer[i] &= ~bit_of(slot);
    lengthen(receiver, bit_of(slot), strips);
}

static uint32_t strips_in(const struct cw_repair_receiver *receiver, uint32_t slot)
{
    uint32_t strips = 0;
    while (strips < CW_REPAIR_STRIPS && receiver->longer[strips] & bit_of(slot))
        strips++;
    return strips;
}

/* Returns the equations with this message. */
static uint64_t equations_with(const struct cw_repair_receiver *receiver, uint32_t slot)
{
    uint64_t found = 0;
    for (uint64_t left = receiver->equations; left > 0; left &= left - 1) {
        const uint32_t place = cw_lowest_bit(left);
        found |= (receiver->rows[place].columns >> slot & 1) << place;
    }
    return found;
}

/* Takes the equations with a single message left: each of them is that message. */
static void take_solved(struct cw_repair_receiver *receiver, uint64_t equations)
{
    for (; equations > 0; equations &= equations - 1) {
        const uint32_t slot = cw_lowest_bit(equations);
        if (receiver->rows[slot].columns != bit_of(slot))
            continue;
        receiver->equations &= ~bit_of(slot);
        receiver->known |= bit_of(slot);
        receiver->solved |= bit_of(slot);
    }
}

/* Adds the equation that was made. All of its messages are missing, and none is the oldest of
   another equation. */
static void add_equation(struct cw_repair_receiver *receiver, uint32_t strips)
{
    struct cw_repair_row *made = &receiver->made;
    made->columns = cw_gf256_non_zero(made->data);
    if (made->columns == 0)
        return; /* the equation says nothing new */
    const uint32_t place = oldest_of(receiver, made->columns);
    const uint64_t others = equations_with(receiver, place);
    /* The factors are a strip too, and those of the other rows are also searched for columns. */
    if (!may_work(receiver, work_of(1, strips + 1) + work_of(others, strips + 2)))
        return;
    const uint8_t factor = cw_gf256_inverse(made->data[place]) ^ 1; /* its own 1 is there already */
    cw_gf256_scatter(made->data, &factor, 0, 1, made->data, strips + 1);
    cw_gf256_scatter(receiver->rows->data, &receiver->rows->data[place], sizeof *made, others,
                     made->data, strips + 1);
    lengthen(receiver, others, strips);
    for (uint64_t left = others; left > 0; left &= left - 1) {
        struct cw_repair_row *row = &receiver->rows[cw_lowest_bit(left)];
        row->columns = cw_gf256_non_zero(row->data);
    }
    receiver->rows[place] = *made;
    set_strips(receiver, place, strips);
    receiver->equations |= bit_of(place);
    take_solved(receiver, others | bit_of(place));
}

static void set_message(struct cw_repair_row *row, const uint8_t *bytes, size_t bits)
{
    const size_t size = (bits + 7) / 8;
    memset(row->data, 0, sizeof row->data);
    memcpy(row->data + BYTES, bytes, size);
    if (bits % 8 > 0)
        row->data[BYTES + size - 1] &= (uint8_t)((1u << bits % 8) - 1);
}

/* Takes a message that is known now out of the equations. The equation in its place, if there is
   one, is added again. */
void cw_repair_receiver_add(struct cw_repair_receiver *receiver, uint16_t id, const uint8_t *bytes,
                            size_t bits)
{
    const uint32_t slot = cw_repair_slot(id), strips = strips_of((bits + 7) / 8);
    if (bits == 0 || bits > CW_REPAIR_BYTES * 8)
        return;
    advance(receiver, (uint16_t)(id + 1));
    if (!cw_sequence_newer(id, (uint16_t)(window_start(receiver) - 1)) ||
        receiver->known & bit_of(slot) || !may_work(receiver, WORK_MESSAGE))
        return;
    const uint64_t equations = equations_with(receiver, slot);
    if (!may_work(receiver, work_of(equations, strips)))
        return;
    struct cw_repair_row message;
    set_message(&message, bytes, bits);
    cw_gf256_scatter(receiver->rows->data + BYTES, &receiver->rows->data[slot], sizeof message,
                     equations, message.data + BYTES, strips);
    lengthen(receiver, equations, strips);
    for (uint64_t left = equations; left > 0; left &= left - 1) {
        struct cw_repair_row *equation = &receiver->rows[cw_lowest_bit(left)];
        equation->data[slot] = 0;
        equation->columns &= ~bit_of(slot);
    }
    const uint32_t made_strips = strips_in(receiver, slot);
    receiver->made = receiver->rows[slot];
    receiver->rows[slot] = message;
    set_strips(receiver, slot, strips);
    receiver->known |= bit_of(slot);
    receiver->equations &= ~bit_of(slot);
    take_solved(receiver, equations & receiver->equations);
    if (equations & bit_of(slot))
        add_equation(receiver, made_strips);
}

/* Makes an equation of the combination whose bytes have been copied, by adding the rows of its
   range. */
static void add_rows(struct cw_repair_receiver *receiver, const struct cw_repair_range *range,
                     uint32_t index, uint64_t slots, uint32_t strips)
{
    struct cw_repair_row *made = &receiver->made;
    uint8_t factors[CW_REPAIR_WINDOW];
    cw_repair_factors(range, index, factors);
    memcpy(made->data, factors, sizeof factors);
    for (uint64_t left = receiver->known & slots; left > 0; left &= left - 1)
        made->data[cw_lowest_bit(left)] = 0;
    const struct cw_gf256_bits bits = cw_gf256_split(factors);
    cw_gf256_gather(made->data, receiver->rows->data, sizeof *made, receiver->equations, &bits);
    for (uint32_t i = 0; i < strips; i++)
        cw_gf256_gather(made->data + BYTES + i * CW_GF256_STRIP,
                        receiver->rows->data + BYTES + i * CW_GF256_STRIP, sizeof *made,
                        (receiver->known | receiver->equations) & receiver->longer[i], &bits);
}

/* Adds a combination. One whose range begins before the window is of no use any more. */
static void add_combination(struct cw_repair_receiver *receiver,
                            const struct cw_repair_range *range, uint32_t index,
                            const uint8_t *bytes)
{
    const uint16_t start = (uint16_t)(range->end - range->count);
    advance(receiver, range->end);
    const uint64_t slots = slots_of(start, range->count);
    if ((uint16_t)(receiver->end - start) > CW_REPAIR_WINDOW || (slots & ~receiver->known) == 0 ||
        !may_work(receiver, WORK_COMBINATION))
        return;
    const uint64_t rows = slots & (receiver->known | receiver->equations);
    uint32_t strips = strips_of(range->size);
    uint32_t work = work_of(rows & receiver->equations, 1);
    for (uint32_t i = 0; i < CW_REPAIR_STRIPS; i++) {
        work += work_of(rows & receiver->longer[i], 1);
        if (rows & receiver->longer[i] && strips <= i)
            strips = i + 1;
    }
    if (!may_work(receiver, work))
        return;
    memset(&receiver->made, 0, sizeof receiver->made);
    memcpy(receiver->made.data + BYTES, bytes, range->size);
    add_rows(receiver, range, index, slots, strips);
    add_equation(receiver, strips);
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
    const uint8_t *bytes = receiver->rows[slot].data + BYTES;
    const uint32_t strips = strips_in(receiver, slot);
    if (!may_work(receiver, WORK_TAKE + strips * WORK_TAKE_STRIP))
        return false;
    receiver->solved &= ~bit_of(slot);
    *id = (uint16_t)(start + ((slot - start) & (CW_REPAIR_WINDOW - 1)));
    *stream = cw_stream_reader(bytes, strips * CW_GF256_STRIP);
    return true;
}
