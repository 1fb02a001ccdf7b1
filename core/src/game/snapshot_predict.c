#include "game/snapshot_predict.h"

/* Returns whether the struct goes on moving as it did before. */
static bool goes_on(const struct cw_schema_steps *steps, const struct cw_snapshot_motion *motion,
                    const uint8_t *baseline)
{
    if (!motion->before)
        return false;
    for (uint32_t i = 0; i < steps->count; ++i) {
        const struct cw_schema_step *const step = &steps->at[i];
        if (cw_snapshot_field_bits(step) <= CW_SNAPSHOT_STILL_BITS &&
            cw_snapshot_load(step, baseline) != cw_snapshot_load(step, motion->before))
            return false;
    }
    return true;
}

/* Returns the value that a field reaches that moved from before to baseline, at most its limit. */
static uint32_t move_on(const struct cw_schema_step *step, const struct cw_snapshot_motion *motion,
                        uint32_t before, uint32_t baseline)
{
    const bool up = baseline >= before;
    const uint64_t moved = up ? baseline - before : before - baseline;
    /* rounded to the nearest */
    const uint64_t on = (2 * moved * motion->ahead + motion->took) / (2 * motion->took);
    const uint64_t room = up ? step->range - baseline : baseline;
    const uint32_t by = (uint32_t)(on < room ? on : room);
    return up ? baseline + by : baseline - by;
}

void cw_snapshot_expect(const struct cw_schema_steps *steps,
                        const struct cw_snapshot_motion *motion, const uint8_t *baseline,
                        uint32_t *expected)
{
    const bool moves = goes_on(steps, motion, baseline);
    for (uint32_t i = 0; i < steps->count; ++i) {
        const struct cw_schema_step *const step = &steps->at[i];
        const uint32_t old = cw_snapshot_load(step, baseline);
        /* a number with all 32 bits is more often a float or a hash than a position */
        const bool is_place =
            step->code == CW_CODE_PLAIN_RANGE && step->bits > CW_SNAPSHOT_STILL_BITS;
        const uint32_t before = moves && is_place ? cw_snapshot_load(step, motion->before) : old;
        expected[i] = before == old ? old : move_on(step, motion, before, old);
    }
}

/* Returns k, a quarter of the integer's bits. The code of a difference in the order of 2^(k + z) is
   z zeros, a 1, and k + z bits. No such code is longer than the integer: the next one is that many
   zeros and the integer itself. Differences wrap, and are numbered from the small ones up: -1, 1,
   -2, 2. */
static unsigned least_bits(unsigned bits)
{
    return bits / 4;
}

static unsigned most_zeros(unsigned bits)
{
    return (bits - least_bits(bits) + 1) / 2;
}

static bool read_difference(struct cw_bit_reader *reader, unsigned bits, uint32_t expected,
                            uint32_t *number)
{
    const unsigned least = least_bits(bits), most = most_zeros(bits);
    cw_bit_reader_fill(reader);
    const uint64_t ahead = reader->scratch;
    const unsigned zeros = cw_lowest_bit(ahead | (uint64_t)1 << most);
    if (zeros < most) {
        const uint32_t one = (uint32_t)1 << (least + zeros);
        const uint32_t rest = (uint32_t)(ahead >> zeros >> 1) & (one - 1);
        const uint32_t code = (one | rest) - ((1u << least) - 1);
        *number = expected + (code >> 1 ^ (0 - (code & 1)));
        cw_bit_reader_skip(reader, 2 * zeros + 1 + least);
    } else if (cw_bit_reader_skip(reader, most)) {
        cw_bit_reader_fill(reader);
        *number = cw_difference_low(reader->scratch, bits);
        cw_bit_reader_skip(reader, bits);
    }
    cw_bit_reader_settle(reader);
    return !reader->failed;
}

static bool serialize_difference(struct cw_stream *stream, unsigned bits, uint32_t expected,
                                 uint32_t *number)
{
    if (stream->mode == CW_STREAM_READ)
        return read_difference(&stream->reader, bits, expected, number);
    const unsigned least = least_bits(bits), most = most_zeros(bits);
    const uint32_t difference = *number - expected;
    const uint64_t code = (uint64_t)(difference << 1 ^ (0 - (difference >> 31))) - 1;
    const uint64_t sum = code + ((uint64_t)1 << least);
    if (sum >> (least + most) > 0) {
        uint32_t none = 0;
        return cw_stream_bits(stream, &none, most) && cw_stream_bits(stream, number, bits);
    }
    const unsigned zeros = cw_bits_required((uint32_t)sum) - 1 - least;
    uint32_t word = (uint32_t)sum ^ (uint32_t)1 << (least + zeros);
    word = (word << 1 | 1) << zeros;
    return cw_stream_bits(stream, &word, 2 * zeros + 1 + least);
}

/* Serializes a field that differs from the expected value. */
static bool serialize_field(struct cw_stream *stream, const struct cw_schema_step *step,
                            uint32_t expected, uint32_t *number)
{
    if (step->code == CW_CODE_PLAIN_BOOL) {
        *number = !expected;
        return true;
    }
    const bool done = step->bits <= CW_SNAPSHOT_STILL_BITS
                          ? cw_stream_bits(stream, number, step->bits)
                          : serialize_difference(stream, step->bits, expected, number);
    return done && (*number <= (uint32_t)step->range || cw_stream_fail(stream));
}

bool cw_snapshot_serialize_moved(struct cw_stream *stream, const struct cw_schema_steps *steps,
                                 const struct cw_snapshot_motion *motion, const uint8_t *baseline,
                                 uint8_t *state)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    uint32_t expected[CW_SCHEMA_GROUP], moved = 0;
    cw_snapshot_expect(steps, motion, baseline, expected);
    for (uint32_t i = 0; i < steps->count && !reading; ++i)
        moved |= (uint32_t)(cw_snapshot_load(&steps->at[i], state) != expected[i]) << i;
    if (!cw_stream_bits(stream, &moved, steps->count))
        return false;
    for (uint32_t i = 0; i < steps->count; ++i) {
        const struct cw_schema_step *const step = &steps->at[i];
        uint32_t number = reading ? expected[i] : cw_snapshot_load(step, state);
        if ((moved >> i & 1) != 0 && !serialize_field(stream, step, expected[i], &number))
            return false;
        if (reading)
            cw_snapshot_store(step, number, state);
    }
    return true;
}
