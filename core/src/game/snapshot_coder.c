#include "game/snapshot_coder.h"

#include "causeway/bits.h"

#define UNKNOWN 32768

static void reset(struct cw_range_model *models, size_t count, uint16_t chance, uint8_t seen)
{
    for (size_t i = 0; i < count; ++i)
        models[i] = cw_range_model_begin(chance, seen);
}

void cw_snapshot_coder_start(struct cw_snapshot_coder *coder, struct cw_range_coder range)
{
    coder->range = range;
    coder->last_changed = false;
    /* the first chances: an entity at rest mostly stays at rest, and a moving one goes on */
    reset(coder->changed[0], 2, 600, 4);
    reset(coder->changed[1], 2, 60000, 4);
    coder->plain = cw_range_model_begin(60000, 4);
    reset(coder->kept, CW_SCHEMA_GROUP, 58000, 2);
    reset(coder->small[0], sizeof coder->small / sizeof coder->small[0][0], UNKNOWN, 0);
    reset(coder->field[0], sizeof coder->field / sizeof coder->field[0][0], UNKNOWN, 0);
    reset(coder->motion[0], sizeof coder->motion / sizeof coder->motion[0][0], UNKNOWN, 0);
}

bool cw_snapshot_code_changed(struct cw_snapshot_coder *coder, bool did_before, bool *changed)
{
    if (!cw_range_bit(&coder->range, &coder->changed[did_before][coder->last_changed], changed))
        return false;
    coder->last_changed = *changed;
    return true;
}

bool cw_snapshot_code_is_plain(struct cw_snapshot_coder *coder, bool *plain)
{
    return cw_range_bit(&coder->range, &coder->plain, plain);
}

/* Codes a bool or a number of few bits, which mostly stays as it was. */
static bool code_small(struct cw_snapshot_coder *coder, uint32_t slot, unsigned bits, uint32_t old,
                       uint32_t *number)
{
    bool kept = *number == old;
    if (!cw_range_bit(&coder->range, &coder->kept[slot], &kept))
        return false;
    if (kept)
        *number = old;
    else if (bits == 1)
        *number = !old;
    else
        return cw_range_tree(&coder->range, coder->small[slot], bits, number);
    return true;
}

/* Codes any other number by its difference from the expected one. */
static bool code_number(struct cw_snapshot_coder *coder, uint32_t slot, uint32_t moves,
                        uint32_t expected, uint32_t *number)
{
    unsigned motion = cw_bits_required(moves);
    if (motion >= CW_SNAPSHOT_CODER_MOTIONS)
        motion = CW_SNAPSHOT_CODER_MOTIONS - 1;
    const uint32_t difference = *number - expected;
    uint32_t code = difference << 1 ^ (0 - (difference >> 31));
    if (!cw_range_number(&coder->range, coder->field[slot], coder->motion[motion],
                         CW_SNAPSHOT_CODER_PLACES, &code))
        return false;
    *number = expected + (code >> 1 ^ (0 - (code & 1)));
    return true;
}

bool cw_snapshot_code_fields(struct cw_snapshot_coder *coder, const struct cw_schema_steps *steps,
                             const struct cw_snapshot_motion *motion, const uint8_t *baseline,
                             uint8_t *state)
{
    const bool reading = cw_range_is_reading(&coder->range);
    uint32_t expected[CW_SCHEMA_GROUP];
    cw_snapshot_expect(steps, motion, baseline, expected);
    for (uint32_t i = 0; i < steps->count; ++i) {
        const struct cw_schema_step *const step = &steps->at[i];
        const unsigned bits = cw_snapshot_field_bits(step);
        const uint32_t old = cw_snapshot_load(step, baseline);
        uint32_t number = reading ? 0 : cw_snapshot_load(step, state);
        const uint32_t moves = expected[i] < old ? old - expected[i] : expected[i] - old;
        const bool done = bits <= CW_SNAPSHOT_STILL_BITS
                              ? code_small(coder, i, bits, old, &number)
                              : code_number(coder, i, moves, expected[i], &number);
        if (!done || number > (uint32_t)step->range)
            return cw_range_fail(&coder->range);
        if (reading)
            cw_snapshot_store(step, number, state);
    }
    return true;
}
