#include "message/schema_delta.h"

#include "message/compressed_float.h"
#include "message/schema_plain.h"

static uint64_t load(const struct cw_schema_step *step, const uint8_t *value)
{
    uint32_t word;
    uint64_t wide;
    switch (step->code) {
    case CW_CODE_PLAIN_BOOL:
    case CW_CODE_BOOL:
        return *value != 0;
    case CW_CODE_RANGE_64:
        memcpy(&wide, value, sizeof wide);
        return wide;
    default:
        memcpy(&word, value, sizeof word);
        return word;
    }
}

static uint32_t float_step(const struct cw_field *field, const uint8_t *value)
{
    float number;
    memcpy(&number, value, sizeof number);
    const float min = field->float_min, max = field->float_max;
    return cw_compressed_float_step(number, min, max,
                                    cw_compressed_float_steps(min, max, field->resolution));
}

static bool same_struct(const struct cw_schema_steps *steps, const uint8_t *a, const uint8_t *b);

static bool same_value(const struct cw_schema_step *step, const uint8_t *a, const uint8_t *b)
{
    switch (step->code) {
    case CW_CODE_COMPRESSED_FLOAT:
        return memcmp(a, b, sizeof(float)) == 0 ||
               float_step(step->field, a) == float_step(step->field, b);
    case CW_CODE_BYTES: {
        const uint32_t size = (uint32_t)load(step, a);
        return size == load(step, b) && size <= step->range && memcmp(a + 4, b + 4, size) == 0;
    }
    case CW_CODE_STRING:
        return strncmp((const char *)a, (const char *)b, step->stride) == 0;
    case CW_CODE_STRUCT:
        return same_struct(&step->nested, a, b);
    default:
        return load(step, a) == load(step, b);
    }
}

static bool same_field(const struct cw_schema_step *step, const uint8_t *a, const uint8_t *b)
{
    const uint32_t count = cw_schema_value_count(step, a);
    if (count != cw_schema_value_count(step, b))
        return false;
    const uint32_t most = step->array > 0 ? step->array : 1;
    for (uint32_t i = 0; i < count && i < most; ++i) {
        const size_t at = step->value + (size_t)i * step->stride;
        if (!same_value(step, a + at, b + at))
            return false;
    }
    return true;
}

static bool same_struct(const struct cw_schema_steps *steps, const uint8_t *a, const uint8_t *b)
{
    for (uint32_t i = 0; i < steps->count; ++i)
        if (!same_field(&steps->at[i], a, b))
            return false;
    return true;
}

bool cw_schema_comparable(const struct cw_schema *schema, uint32_t type)
{
    return schema && type < schema->count && schema->types[type].comparable;
}

bool cw_schema_equal(const struct cw_schema *schema, uint32_t type, const void *a, const void *b)
{
    return cw_schema_comparable(schema, type) && a && b &&
           same_struct(&schema->types[type].steps, a, b);
}

uint32_t cw_schema_differing_field(const struct cw_schema *schema, uint32_t type, const void *a,
                                   const void *b)
{
    const struct cw_schema_steps *const steps = &schema->types[type].steps;
    for (uint32_t i = 0; i < steps->count; ++i)
        if (!same_field(&steps->at[i], a, b))
            return steps->at[i].index;
    return CW_FIELD_NONE;
}

static bool flag(struct cw_stream *stream, bool *value)
{
    uint32_t number = *value;
    if (!cw_stream_outlined_uint(stream, &number, 0, 1))
        return false;
    *value = number != 0;
    return true;
}

/* Serializes an integer of at most 32 bits, or a float as one, that has changed. */
static bool serialize_integer(struct cw_stream *stream, const struct cw_schema_step *step,
                              const uint8_t *old, uint8_t *value)
{
    unsigned bits;
    if (stream->mode == CW_STREAM_READ) {
        if (value != old)
            memcpy(value, old, sizeof(uint32_t));
        const bool done = cw_schema_read_integer(&stream->reader, step, value);
        cw_bit_reader_settle(&stream->reader);
        return done;
    }
    const uint32_t before = cw_schema_load_integer(step, old);
    const uint32_t offset = cw_schema_load_integer(step, value);
    if (stream->mode == CW_STREAM_WRITE)
        return cw_difference_write(&stream->writer, step->bits, before, offset);
    cw_difference_code(step->bits, before, offset, &bits);
    return cw_bit_measurer_bits(&stream->measurer, bits);
}

/* A struct of which the other end has an old version. For reading, it starts as that version. */
struct change {
    const struct cw_schema_steps *steps;
    const uint8_t *baseline;
    uint8_t *message;
};

static bool serialize_changes(struct cw_stream *stream, const struct change *change);

/* Serializes a value of which the other end has the old one. */
static bool serialize_value(struct cw_stream *stream, const struct cw_schema_step *step,
                            const uint8_t *old, uint8_t *value)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    bool changed = !reading && !same_value(step, old, value);
    if (!flag(stream, &changed))
        return false;
    if (reading && value != old)
        memcpy(value, old, step->stride);
    if (!changed)
        return true;
    if (step->code == CW_CODE_STRUCT)
        return serialize_changes(stream, &(struct change){&step->nested, old, value});
    const bool integer = step->code == CW_CODE_RANGE && step->bits > 0;
    return integer ? serialize_integer(stream, step, old, value)
                   : cw_schema_serialize_value(stream, step, value);
}

/* Serializes the values of an option or an array: their number, then each against the old one of
   the same index, or whole when there is none. */
static bool serialize_values(struct cw_stream *stream, const struct cw_schema_step *step,
                             const uint8_t *baseline, uint8_t *message)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    const uint32_t most = step->optional ? 1 : step->array;
    const uint32_t old_count = cw_schema_value_count(step, baseline);
    uint32_t count = reading ? 0 : cw_schema_value_count(step, message);
    if (!cw_stream_outlined_uint(stream, &count, 0, most))
        return false;
    if (reading && step->optional)
        message[step->offset] = (uint8_t)count;
    else if (reading)
        memcpy(message + step->offset, &count, sizeof count);
    for (uint32_t i = 0; i < count; ++i) {
        const size_t at = step->value + (size_t)i * step->stride;
        const bool done = i < old_count ? serialize_value(stream, step, baseline + at, message + at)
                                        : cw_schema_serialize_value(stream, step, message + at);
        if (!done)
            return false;
    }
    return true;
}

static bool is_same(const struct change *change, uint32_t index)
{
    const struct cw_schema_step *const step = &change->steps->at[index];
    uint32_t old, value;
    if (step->code == CW_CODE_PLAIN_BOOL)
        return (change->baseline[step->value] != 0) == (change->message[step->value] != 0);
    if (!cw_schema_is_plain_integer(step))
        return same_field(step, change->baseline, change->message);
    memcpy(&old, change->baseline + step->value, sizeof old);
    memcpy(&value, change->message + step->value, sizeof value);
    return old == value;
}

/* Serializes a field that has changed. */
static bool serialize_field(struct cw_stream *stream, const struct cw_schema_step *step,
                            const struct change *change)
{
    const uint8_t *const old = change->baseline + step->value;
    uint8_t *const value = change->message + step->value;
    if (step->optional || step->array > 0)
        return serialize_values(stream, step, change->baseline, change->message);
    if (cw_schema_is_plain_integer(step))
        return serialize_integer(stream, step, old, value);
    if (step->code != CW_CODE_PLAIN_BOOL)
        return cw_schema_serialize_value(stream, step, value);
    if (stream->mode == CW_STREAM_READ)
        *value = *old == 0;
    return true;
}

/* Writes the fields in the mask, from the lowest on, as far as they are plain integers, with the
   writer in registers. Returns the rest of the mask. */
static uint32_t write_plain(struct cw_bit_writer *out, const struct cw_schema_step *steps,
                            const struct change *change, uint32_t mask)
{
    struct cw_bit_writer writer = *out;
    for (; mask > 0; mask &= mask - 1) {
        const struct cw_schema_step *const step = &steps[cw_lowest_bit(mask)];
        if (!cw_schema_is_plain_integer(step) ||
            !cw_difference_write(&writer, step->bits,
                                 cw_schema_load_integer(step, change->baseline + step->value),
                                 cw_schema_load_integer(step, change->message + step->value)))
            break;
    }
    *out = writer;
    return mask;
}

/* Serializes a bit for each field of a group that says whether it has changed, and then the fields
   that have. */
static bool serialize_group(struct cw_stream *stream, const struct change *change, uint32_t first,
                            uint32_t count)
{
    const struct cw_schema_step *const steps = change->steps->at + first;
    uint32_t mask = 0;
    for (uint32_t i = 0; i < count && stream->mode != CW_STREAM_READ; ++i)
        mask |= (uint32_t)!is_same(change, first + i) << i;
    if (!cw_stream_bits(stream, &mask, count))
        return false;
    for (; mask > 0; mask &= mask - 1) {
        if (stream->mode == CW_STREAM_WRITE)
            mask = write_plain(&stream->writer, steps, change, mask);
        if (mask == 0)
            break;
        if (cw_stream_failed(stream) ||
            !serialize_field(stream, &steps[cw_lowest_bit(mask)], change))
            return false;
    }
    return true;
}

static bool serialize_changes(struct cw_stream *stream, const struct change *change)
{
    const uint32_t fields = change->steps->count;
    for (uint32_t first = 0; first < fields; first += CW_SCHEMA_GROUP) {
        const uint32_t left = fields - first;
        if (!serialize_group(stream, change, first,
                             left < CW_SCHEMA_GROUP ? left : CW_SCHEMA_GROUP))
            return false;
    }
    return true;
}

bool cw_schema_changes(const struct cw_schema *schema, uint32_t type, struct cw_stream *stream,
                       const void *baseline, void *message)
{
    if (!stream)
        return false;
    if (!cw_schema_comparable(schema, type) || !baseline || !message)
        return cw_stream_fail(stream);
    struct change change = {&schema->types[type].steps, baseline, message};
    if (stream->mode == CW_STREAM_READ && message != baseline)
        memcpy(message, baseline, schema->types[type].public.size);
    return serialize_changes(stream, &change);
}

bool cw_schema_delta(const struct cw_schema *schema, uint32_t type, struct cw_stream *stream,
                     const void *baseline, void *message)
{
    if (!stream)
        return false;
    if (!cw_schema_comparable(schema, type) || !baseline || !message)
        return cw_stream_fail(stream);
    const bool reading = stream->mode == CW_STREAM_READ;
    bool changed = !reading && !same_struct(&schema->types[type].steps, baseline, message);
    if (!reading && cw_schema_check(schema, type, message) != CW_FIELD_NONE)
        return cw_stream_fail(stream);
    if (!flag(stream, &changed))
        return false;
    if (changed)
        return cw_schema_changes(schema, type, stream, baseline, message);
    if (reading && message != baseline)
        memcpy(message, baseline, schema->types[type].public.size);
    return true;
}
