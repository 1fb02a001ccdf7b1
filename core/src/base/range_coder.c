#include "base/range_coder.h"

#include "causeway/bits.h"

/* The range is never below this between calls, so that one byte ends the writing. */
#define LEAST ((uint32_t)1 << 24)

/* Bits without a model are coded in groups of at most this many, for the same reason. */
#define GROUP 8

/* The least chance, out of 65536: no bit is taken for more certain than this. */
#define LEAST_CHANCE 64

/* A reader has taken this many bytes more than a writer had written at the same point; the last of
   them are zeros that are not in the buffer. */
#define AHEAD 3

struct cw_range_coder cw_range_writer(uint8_t *out, size_t capacity)
{
    return (struct cw_range_coder){.out = out, .size = capacity, .range = UINT32_MAX};
}

static void load(struct cw_range_coder *coder)
{
    const uint8_t next = coder->position < coder->size ? coder->data[coder->position] : 0;
    coder->low = coder->low << 8 | next;
    if (++coder->position > coder->size + AHEAD)
        coder->failed = true;
}

struct cw_range_coder cw_range_reader(const uint8_t *data, size_t size)
{
    struct cw_range_coder coder = {.data = data, .size = size, .range = UINT32_MAX};
    for (int i = 0; i <= AHEAD; ++i)
        load(&coder);
    return coder;
}

bool cw_range_fail(struct cw_range_coder *coder)
{
    coder->failed = true;
    return false;
}

static void store(struct cw_range_coder *coder)
{
    if (coder->position == coder->size) {
        coder->failed = true;
        return;
    }
    coder->out[coder->position++] = (uint8_t)(coder->low >> 24);
    coder->low <<= 8;
}

/* Moves the low end up. A carry goes into the bytes already written. */
static void raise(struct cw_range_coder *coder, uint32_t by)
{
    coder->low += by;
    if (coder->low >= by)
        return;
    size_t at = coder->position;
    while (at > 0 && coder->out[at - 1] == UINT8_MAX)
        coder->out[--at] = 0;
    if (at > 0)
        ++coder->out[at - 1];
}

static bool narrow(struct cw_range_coder *coder, uint32_t low, uint32_t range)
{
    if (cw_range_is_reading(coder))
        coder->low -= low;
    else
        raise(coder, low);
    coder->range = range;
    while (coder->range < LEAST && !coder->failed) {
        if (cw_range_is_reading(coder))
            load(coder);
        else
            store(coder);
        coder->range <<= 8;
    }
    return !coder->failed;
}

static void learn(struct cw_range_model *model, bool bit)
{
    /* 65536 / (bits seen + 1.5): the chance is the mean of the bits seen, in the end of about the
       last 32 */
    static const uint16_t rates[] = {43690, 26214, 18724, 14563, 11915, 10082, 8738, 7710,
                                     6898,  6241,  5698,  5242,  4854,  4519,  4228, 3971,
                                     3744,  3542,  3360,  3196,  3048,  2912,  2788, 2674,
                                     2570,  2473,  2383,  2299,  2221,  2148,  2080};
    const uint32_t last = sizeof rates / sizeof rates[0] - 1;
    const uint32_t rate = rates[model->seen < last ? model->seen : last];
    uint32_t chance = model->chance;
    if (bit)
        chance += (65536 - chance) * rate >> 16;
    else
        chance -= chance * rate >> 16;
    chance = chance < LEAST_CHANCE ? LEAST_CHANCE : chance;
    model->chance = (uint16_t)(chance > 65536 - LEAST_CHANCE ? 65536 - LEAST_CHANCE : chance);
    if (model->seen < last)
        ++model->seen;
}

static bool code_bit(struct cw_range_coder *coder, uint32_t chance, bool *bit)
{
    if (coder->failed)
        return false;
    const uint32_t set = (coder->range >> 16) * (chance > 0 ? chance : 1);
    *bit = cw_range_is_reading(coder) ? coder->low < set : *bit;
    return *bit ? narrow(coder, 0, set) : narrow(coder, set, coder->range - set);
}

bool cw_range_bit(struct cw_range_coder *coder, struct cw_range_model *model, bool *bit)
{
    const bool done = code_bit(coder, model->chance, bit);
    learn(model, *bit);
    return done;
}

/* Codes a group of at most GROUP bits. */
static bool code_group(struct cw_range_coder *coder, uint32_t *value, unsigned bits)
{
    const uint32_t part = coder->range >> bits;
    if (cw_range_is_reading(coder))
        *value = coder->low / part;
    return *value >> bits == 0 ? narrow(coder, *value * part, part) : cw_range_fail(coder);
}

bool cw_range_bits(struct cw_range_coder *coder, uint32_t *value, unsigned bits)
{
    uint32_t sum = 0;
    if (coder->failed)
        return false;
    while (bits > 0) {
        const unsigned group = bits < GROUP ? bits : GROUP;
        bits -= group;
        uint32_t digits = cw_range_is_reading(coder) ? 0 : *value >> bits & ((1u << group) - 1);
        if (!code_group(coder, &digits, group))
            return false;
        sum = sum << group | digits;
    }
    *value = sum;
    return true;
}

bool cw_range_tree(struct cw_range_coder *coder, struct cw_range_model *models, unsigned bits,
                   uint32_t *value)
{
    uint32_t node = 1;
    for (unsigned i = bits; i > 0; --i) {
        bool bit = !cw_range_is_reading(coder) && (*value >> (i - 1) & 1) != 0;
        if (!cw_range_bit(coder, &models[node], &bit))
            return false;
        node = node << 1 | bit;
    }
    *value = node - (1u << bits);
    return true;
}

bool cw_range_number(struct cw_range_coder *coder, struct cw_range_model *models,
                     struct cw_range_model *others, uint32_t count, uint32_t *value)
{
    const unsigned most = 32;
    const unsigned wanted = cw_range_is_reading(coder) ? 0 : cw_bits_required(*value);
    unsigned bits = 0;
    for (bool more = true; bits < most; ++bits) {
        const uint32_t place = bits < count ? bits : count - 1;
        more = bits < wanted;
        if (!code_bit(coder, (uint32_t)(models[place].chance + others[place].chance) / 2, &more))
            return false;
        learn(&models[place], more);
        learn(&others[place], more);
        if (!more)
            break;
    }
    if (bits < 2) {
        *value = bits;
        return true;
    }
    const uint32_t top = (uint32_t)1 << (bits - 1);
    uint32_t rest = cw_range_is_reading(coder) ? 0 : *value - top;
    if (!cw_range_bits(coder, &rest, bits - 1))
        return false;
    *value = top | rest;
    return true;
}

/* Writes a number from low to below low + range that has zeros in all bytes but one. The zeros need
   not be written, as a reader takes them for granted. */
size_t cw_range_finish(struct cw_range_coder *coder)
{
    if (!coder->failed) {
        raise(coder, LEAST - 1);
        store(coder);
    }
    return coder->failed ? 0 : coder->position;
}

bool cw_range_ended(const struct cw_range_coder *coder)
{
    return !coder->failed && coder->position == coder->size + AHEAD;
}
