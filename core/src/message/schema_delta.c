#include "message/schema_delta.h"

#include "message/compressed_float.h"
#include "message/schema_internal.h"

/* An integer with at most so many bits goes as it is when it has changed. */
#define WHOLE_BITS 4

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

static bool same_value(const struct cw_schema_step *step, const struct cw_field *field,
                       const uint8_t *a, const uint8_t *b)
{
    switch (step->code) {
    case CW_CODE_COMPRESSED_FLOAT:
        return memcmp(a, b, sizeof(float)) == 0 || float_step(field, a) == float_step(field, b);
    case CW_CODE_BYTES: {
        const uint32_t size = (uint32_t)load(step, a);
        return size == load(step, b) && size <= step->range && memcmp(a + 4, b + 4, size) == 0;
    }
    case CW_CODE_STRING:
        return strncmp((const char *)a, (const char *)b, step->stride) == 0;
    default:
        return load(step, a) == load(step, b);
    }
}

/* How many values a field has. */
static uint32_t count_of(const struct cw_schema_step *step, const uint8_t *message)
{
    uint32_t count = 1;
    if (step->optional)
        count = message[step->offset] != 0;
    else if (step->array > 0)
        memcpy(&count, message + step->offset, sizeof count);
    return count;
}

static bool same_field(const struct cw_schema_step *step, const struct cw_field *field,
                       const uint8_t *a, const uint8_t *b)
{
    const uint32_t count = count_of(step, a);
    if (count != count_of(step, b))
        return false;
    const uint32_t most = step->array > 0 ? step->array : 1;
    for (uint32_t i = 0; i < count && i < most; ++i) {
        const size_t at = step->value + (size_t)i * step->stride;
        if (!same_value(step, field, a + at, b + at))
            return false;
    }
    return true;
}

static bool same_struct(const struct cw_schema_type *type, const uint8_t *a, const uint8_t *b)
{
    for (uint32_t i = 0; i < type->public.field_count; ++i)
        if (!same_field(&type->steps[i], &type->fields[i], a, b))
            return false;
    return true;
}

static bool has_table(const struct cw_schema *schema, uint32_t type)
{
    return schema && type < schema->count && !schema->types[type].public.serialize;
}

bool cw_schema_equal(const struct cw_schema *schema, uint32_t type, const void *a, const void *b)
{
    return has_table(schema, type) && a && b && same_struct(&schema->types[type], a, b);
}

static bool flag(struct cw_stream *stream, bool *value)
{
    uint32_t number = *value;
    if (!cw_stream_far_uint(stream, &number, 0, 1))
        return false;
    *value = number != 0;
    return true;
}

/* An integer that has changed, as an offset from its minimum: how far up or down from the old
   offset, in a short or a longer form, or itself when it is far away. */
static bool serialize_offset(struct cw_stream *stream, uint64_t range, uint64_t old,
                             uint64_t *offset)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    const unsigned bits = cw_bits_required_64(range);
    if (bits <= WHOLE_BITS)
        return cw_stream_far_uint_64(stream, offset, 0, range);
    /* zigzag: 0 is one up, 1 is one down, 2 is two up */
    bool down = !reading && *offset < old;
    const uint64_t distance = down ? old - *offset : *offset - old;
    const uint64_t short_end = (uint64_t)1 << (bits / 4 + 1);
    const uint64_t long_end = short_end + ((uint64_t)1 << (bits / 2 + 1));
    uint64_t zigzag = 0;
    if (!reading)
        zigzag = distance > long_end ? long_end : 2 * (distance - 1) + down;
    bool is_short = zigzag < short_end, is_long = zigzag < long_end;
    if (!flag(stream, &is_short))
        return false;
    if (!is_short && !flag(stream, &is_long))
        return false;
    if (!is_short && !is_long)
        return cw_stream_far_uint_64(stream, offset, 0, range);
    const uint64_t low = is_short ? 0 : short_end;
    const uint64_t high = is_short ? short_end - 1 : long_end - 1;
    if (!cw_stream_far_uint_64(stream, &zigzag, low, high))
        return false;
    if (!reading)
        return true;
    down = zigzag % 2 == 1;
    const uint64_t steps = zigzag / 2 + 1;
    if (steps > (down ? old : range - old))
        return cw_stream_fail(stream);
    *offset = down ? old - steps : old + steps;
    return true;
}

/* A value of which the other end has the old one, and that has changed. */
static bool serialize_change(struct cw_stream *stream, const struct cw_schema_step *step,
                             const struct cw_field *field, const uint8_t *old, uint8_t *value)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    if (step->code == CW_CODE_PLAIN_BOOL || step->code == CW_CODE_BOOL) {
        if (reading)
            *value = *old == 0;
        return true;
    }
    const bool integer = step->code == CW_CODE_PLAIN_RANGE || step->code == CW_CODE_PLAIN_32 ||
                         step->code == CW_CODE_RANGE || step->code == CW_CODE_RANGE_64;
    if (!integer || field->kind == CW_KIND_FLOAT || field->kind == CW_KIND_DOUBLE)
        return cw_schema_serialize_value(stream, step, field, value);
    const bool wide = step->code == CW_CODE_RANGE_64;
    const uint64_t min = wide ? step->min : (uint32_t)step->min;
    const uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;
    const uint64_t before = (load(step, old) - min) & mask;
    uint64_t offset = reading ? 0 : (load(step, value) - min) & mask;
    if (before > step->range || offset > step->range)
        return cw_stream_fail(stream);
    if (!serialize_offset(stream, step->range, before, &offset))
        return false;
    offset += min;
    const uint32_t low = (uint32_t)offset;
    if (reading && wide)
        memcpy(value, &offset, sizeof offset);
    else if (reading)
        memcpy(value, &low, sizeof low);
    return true;
}

/* A value of which the other end has the old one. */
static bool serialize_value(struct cw_stream *stream, const struct cw_schema_step *step,
                            const struct cw_field *field, const uint8_t *old, uint8_t *value)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    bool changed = !reading && !same_value(step, field, old, value);
    if (!flag(stream, &changed))
        return false;
    if (changed)
        return serialize_change(stream, step, field, old, value);
    if (reading && value != old)
        memcpy(value, old, step->stride);
    return true;
}

/* The values of an option or an array: how many, then each against the old one of the same index,
   or whole when there is none. */
static bool serialize_values(struct cw_stream *stream, const struct cw_schema_step *step,
                             const struct cw_field *field, const uint8_t *baseline,
                             uint8_t *message)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    const uint32_t most = step->optional ? 1 : step->array;
    const uint32_t old_count = count_of(step, baseline);
    uint32_t count = reading ? 0 : count_of(step, message);
    if (!cw_stream_far_uint(stream, &count, 0, most))
        return false;
    if (reading && step->optional)
        message[step->offset] = (uint8_t)count;
    else if (reading)
        memcpy(message + step->offset, &count, sizeof count);
    for (uint32_t i = 0; i < count; ++i) {
        const size_t at = step->value + (size_t)i * step->stride;
        const bool done = i < old_count
                              ? serialize_value(stream, step, field, baseline + at, message + at)
                              : cw_schema_serialize_value(stream, step, field, message + at);
        if (!done)
            return false;
    }
    return true;
}

static bool serialize_field(struct cw_stream *stream, const struct cw_schema_step *step,
                            const struct cw_field *field, const uint8_t *baseline, uint8_t *message)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    if (!step->optional && step->array == 0)
        return serialize_value(stream, step, field, baseline + step->value, message + step->value);
    bool changed = !reading && !same_field(step, field, baseline, message);
    if (!flag(stream, &changed))
        return false;
    if (changed)
        return serialize_values(stream, step, field, baseline, message);
    if (reading && message != baseline) {
        const uint32_t items = step->array > 0 ? step->array : 1;
        memcpy(message + step->offset, baseline + step->offset,
               step->value - step->offset + (size_t)items * step->stride);
    }
    return true;
}

bool cw_schema_changes(const struct cw_schema *schema, uint32_t type, struct cw_stream *stream,
                       const void *baseline, void *message)
{
    if (!stream)
        return false;
    if (!has_table(schema, type) || !baseline || !message)
        return cw_stream_fail(stream);
    const struct cw_schema_type *const of = &schema->types[type];
    for (uint32_t i = 0; i < of->public.field_count; ++i)
        if (!serialize_field(stream, &of->steps[i], &of->fields[i], baseline, message))
            return false;
    return true;
}

bool cw_schema_delta(const struct cw_schema *schema, uint32_t type, struct cw_stream *stream,
                     const void *baseline, void *message)
{
    if (!stream)
        return false;
    if (!has_table(schema, type) || !baseline || !message)
        return cw_stream_fail(stream);
    const struct cw_schema_type *const of = &schema->types[type];
    const bool reading = stream->mode == CW_STREAM_READ;
    bool changed = !reading && !same_struct(of, baseline, message);
    if (!flag(stream, &changed))
        return false;
    if (changed)
        return cw_schema_changes(schema, type, stream, baseline, message);
    if (reading && message != baseline && of->public.size > 0)
        memcpy(message, baseline, of->public.size);
    return true;
}
