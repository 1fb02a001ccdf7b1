#include "base/outline.h"
#include "message/schema_internal.h"
#include "message/schema_unchecked.h"

/* Steps, and the structs to which they belong, one after another. */
struct body {
    const struct cw_schema_steps *steps;
    uint8_t *message;
    uint32_t count, stride;
};

static bool serialize_steps(struct cw_stream *stream, void *body);
static bool serialize_value(struct cw_stream *stream, const struct cw_schema_step *step,
                            uint8_t *value, const uint8_t *message);

/* Works out an expression of the step's field, which is in the struct at message; NULL is 0. */
static int64_t evaluate(const char *expression, const struct cw_schema_step *step,
                        const uint8_t *message)
{
    int64_t value = 0;
    if (!expression)
        return 0;
    const uint8_t *const structure = message + step->offset - step->field->offset;
    if (expression[0] == CW_OPERATION_FIELD && expression[2] == CW_OPERATION_END)
        cw_expression_load(step->field - (uint8_t)expression[1], structure, &value);
    else
        cw_expression_value(expression, step->field, UINT32_MAX, structure, &value);
    return value;
}

/* Serializes a number of items or bytes, at most so many. An expression of this value, unless it is
   NULL, says how many there are, which is then not on the wire, or the least of them. */
static bool serialize_count(struct cw_stream *stream, const char *expression, int64_t value,
                            uint32_t *count, uint32_t most)
{
    if (value < 0 || value > most)
        return cw_stream_fail(stream);
    if (!expression || (uint8_t)*expression == CW_EXPRESSION_LEAST)
        return cw_stream_outlined_uint(stream, count, (uint32_t)value, most);
    if (stream->mode != CW_STREAM_READ && *count != value)
        return cw_stream_fail(stream);
    *count = (uint32_t)value;
    return !cw_stream_failed(stream);
}

/* Returns the number before a relative one: an expression says that of the first. */
static int64_t before(const struct cw_schema_step *step, const uint8_t *value,
                      const uint8_t *message)
{
    uint32_t number;
    if (value == message + step->value)
        return evaluate(step->field->operand, step, message);
    memcpy(&number, value - step->stride, sizeof number);
    return number;
}

/* Serializes a number that is greater than the one before it. A number of 16 bits wraps. */
static bool serialize_relative(struct cw_stream *stream, uint32_t *number, uint32_t most,
                               int64_t before)
{
    if (before < 0 || before > most || *number > most)
        return cw_stream_fail(stream);
    if (*number < before)
        *number += most + 1;
    if (!cw_stream_outlined_relative(stream, (uint32_t)before, number))
        return false;
    /* no writer sends a number a whole lap or more ahead */
    if (*number - (uint32_t)before > most)
        return cw_stream_fail(stream);
    *number &= most;
    return true;
}

/* Serializes bytes, which stand behind their number. */
static bool serialize_bytes(struct cw_stream *stream, const struct cw_schema_step *step,
                            uint8_t *value, const uint8_t *message)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    uint32_t size = 0;
    if (!reading)
        memcpy(&size, value, sizeof size);
    const char *const operand = step->field->operand;
    if (!serialize_count(stream, operand, evaluate(operand, step, message), &size,
                         (uint32_t)step->range) ||
        !cw_stream_outlined_bytes(stream, value + sizeof size, size))
        return false;
    if (reading)
        memcpy(value, &size, sizeof size);
    return true;
}

bool cw_schema_serialize_value(struct cw_stream *stream, const struct cw_schema_step *step,
                               uint8_t *value)
{
    return step->code == CW_CODE_STRUCT
               ? serialize_steps(stream, &(struct body){&step->nested, value, 1, 0})
               : serialize_value(stream, step, value, NULL);
}

/* Serializes an integer of up to 32 bits. */
static bool serialize_range(struct cw_stream *stream, const struct cw_schema_step *step,
                            uint8_t *value, const uint8_t *message)
{
    const uint32_t min = (uint32_t)step->min, range = (uint32_t)step->range;
    const bool reading = stream->mode == CW_STREAM_READ;
    uint32_t number = 0;
    bool done;
    if (!reading)
        memcpy(&number, value, sizeof number);
    number -= min;
    if (step->code == CW_CODE_RELATIVE)
        done = serialize_relative(stream, &number, range, before(step, value, message));
    else
        done = cw_stream_outlined_uint(stream, &number, 0, range);
    number += min;
    if (done && reading)
        memcpy(value, &number, sizeof number);
    return done;
}

/* Inlined, it would cost the frequent kinds registers. */
static CW_OUTLINE bool serialize_constant(struct cw_stream *stream,
                                          const struct cw_schema_step *step)
{
    uint64_t number = step->min;
    return cw_stream_outlined_uint_64(stream, &number, 0, step->range) &&
           (number == step->min || cw_stream_fail(stream));
}

/* Serializes a value that is no struct. Its bytes are copied, because the type of the memory is the
   caller's choice. message is the struct of the step. */
static bool serialize_value(struct cw_stream *stream, const struct cw_schema_step *step,
                            uint8_t *value, const uint8_t *message)
{
    const struct cw_field *const field = step->field;
    const bool reading = stream->mode == CW_STREAM_READ;
    bool done = false;
    switch (step->code) {
    case CW_CODE_PLAIN_BOOL:
    case CW_CODE_BOOL: {
        uint32_t set = !reading && *value != 0;
        done = cw_stream_outlined_uint(stream, &set, 0, 1);
        if (done && reading)
            *value = (uint8_t)set;
        return done;
    }
    case CW_CODE_PLAIN_32:
    case CW_CODE_PLAIN_RANGE:
    case CW_CODE_RANGE:
    case CW_CODE_RELATIVE:
        return serialize_range(stream, step, value, message);
    case CW_CODE_RANGE_64: {
        uint64_t number = 0;
        if (!reading)
            memcpy(&number, value, sizeof number);
        number -= step->min;
        done = cw_stream_outlined_uint_64(stream, &number, 0, step->range);
        number += step->min;
        if (done && reading)
            memcpy(value, &number, sizeof number);
        return done;
    }
    case CW_CODE_COMPRESSED_FLOAT: {
        float number = 0;
        if (!reading)
            memcpy(&number, value, sizeof number);
        done = cw_stream_outlined_compressed_float(stream, &number, field->float_min,
                                                   field->float_max, field->resolution);
        if (done && reading)
            memcpy(value, &number, sizeof number);
        return done;
    }
    case CW_CODE_CONSTANT:
        return serialize_constant(stream, step);
    case CW_CODE_BYTES:
        return serialize_bytes(stream, step, value, message);
    case CW_CODE_ALIGN:
        return cw_stream_outlined_bytes(stream, value, 0);
    default:
        return cw_stream_outlined_string(stream, (char *)value, step->stride);
    }
}

/* Serializes a field of any kind, optional or an array. Its member is part of the struct at
   message. */
static bool serialize_field(struct cw_stream *stream, const struct cw_schema_step *step,
                            uint8_t *message)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    uint8_t *const member = message + step->offset;
    uint8_t *value = message + step->value;
    uint32_t count = 1;
    if (step->optional || step->array > 0) {
        const uint32_t most = step->optional ? 1 : step->array;
        if (!reading)
            count = cw_schema_value_count(step, message);
        const char *const expression = step->field->count;
        const int64_t wanted = evaluate(expression, step, message);
        if (!serialize_count(stream, expression, step->optional ? wanted != 0 : wanted, &count,
                             most))
            return false;
        if (reading && step->optional)
            *member = (uint8_t)count;
        else if (reading)
            memcpy(member, &count, sizeof count);
    }
    if (count > 0 && step->code == CW_CODE_STRUCT)
        return serialize_steps(stream, &(struct body){&step->nested, value, count, step->stride});
    for (; count > 0; --count, value += step->stride)
        if (!serialize_value(stream, step, value, message))
            return false;
    return true;
}

/* Returns whether the field is an option that an expression leaves out, and there is nothing to do.
 */
static bool is_left_out(const struct cw_schema_step *step, const uint8_t *message)
{
    const char *const condition = step->field->count;
    return step->optional && condition && message[step->offset] == 0 &&
           evaluate(condition, step, message) == 0;
}

/* Serializes the quick codes inline, with the stream in registers, and the others out of line, with
   a copy of it. */
CW_SERIALIZE(serialize_steps, struct body, stream, body)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    if (body->steps->count == 0)
        return true;
    const struct cw_schema_step *const begin = body->steps->at, *const end =
                                                                    begin + body->steps->count;
    const uint32_t count = body->count, stride = body->stride;
    uint8_t *message = body->message;
    for (uint32_t i = 0; i < count; ++i, message += stride)
        for (const struct cw_schema_step *step = begin; step < end; ++step) {
            uint8_t *const value = message + step->value;
            uint32_t number = 0;
            switch (step->code) {
            case CW_CODE_PLAIN_BOOL:
                if (!reading)
                    number = *value != 0;
                if (!cw_stream_bits(stream, &number, 1))
                    return false;
                if (reading)
                    *value = (uint8_t)number;
                break;
            case CW_CODE_PLAIN_32:
                if (!reading)
                    memcpy(&number, value, sizeof number);
                if (!cw_stream_bits(stream, &number, 32))
                    return false;
                if (reading)
                    memcpy(value, &number, sizeof number);
                break;
            case CW_CODE_PLAIN_RANGE:
                if (!reading)
                    memcpy(&number, value, sizeof number);
                number -= (uint32_t)step->min;
                if (!cw_stream_bits(stream, &number, step->bits))
                    return false;
                if (number > (uint32_t)step->range)
                    return cw_stream_fail(stream);
                number += (uint32_t)step->min;
                if (reading)
                    memcpy(value, &number, sizeof number);
                break;
            default: {
                if (is_left_out(step, message))
                    break;
#if defined(__OPTIMIZE_SIZE__)
                /* the stream is in no registers that a copy would keep */
                const bool done = serialize_field(stream, step, message);
#else
                struct cw_stream copy = *stream;
                const bool done = serialize_field(&copy, step, message);
                *stream = copy;
#endif
                if (!done)
                    return false;
            }
            }
        }
    return true;
}

bool cw_schema_serialize_unchecked(const struct cw_schema *schema, uint32_t type,
                                   struct cw_stream *stream, void *message)
{
    const struct cw_compiled_type *const of = &schema->types[type];
    return of->public.serialize
               ? of->public.serialize(stream, message)
               : serialize_steps(stream, &(struct body){&of->steps, message, 1, 0});
}

bool cw_schema_serialize(const struct cw_schema *schema, uint32_t type, struct cw_stream *stream,
                         void *message)
{
    if (!stream)
        return false;
    if (!schema || type >= schema->count || (!message && schema->types[type].public.size > 0))
        return cw_stream_fail(stream);
    return cw_schema_serialize_unchecked(schema, type, stream, message);
}

/* Returns whether compressed floats are in range: a stream takes any value for one and sends the
   nearest that it can. */
static bool compressed_floats_fit(const struct cw_schema_step *step, const uint8_t *message)
{
    if (step->code != CW_CODE_COMPRESSED_FLOAT && step->code != CW_CODE_STRUCT)
        return true;
    const uint32_t count = cw_schema_value_count(step, message);
    for (uint32_t i = 0; i < count; ++i) {
        const uint8_t *const value = message + step->value + i * step->stride;
        if (step->code == CW_CODE_COMPRESSED_FLOAT) {
            float real;
            memcpy(&real, value, sizeof real);
            if (!(real >= step->field->float_min && real <= step->field->float_max))
                return false;
        }
        for (uint32_t j = 0; j < step->nested.count; ++j)
            if (!compressed_floats_fit(&step->nested.at[j], value))
                return false;
    }
    return true;
}

uint32_t cw_schema_check(const struct cw_schema *schema, uint32_t type, const void *message)
{
    if (!schema || type >= schema->count || (!message && schema->types[type].public.size > 0))
        return 0;
    const struct cw_compiled_type *const of = &schema->types[type];
    struct cw_stream stream = cw_stream_measurer();
    /* a measuring stream only looks */
    uint8_t *const bytes = (uint8_t *)(uintptr_t)message;
    if (of->public.serialize)
        return of->public.serialize(&stream, bytes) ? CW_FIELD_NONE : 0;
    for (uint32_t i = 0; i < of->steps.count; ++i) {
        const struct cw_schema_step *const step = &of->steps.at[i];
        if (!serialize_field(&stream, step, bytes) || !compressed_floats_fit(step, bytes))
            return step->index;
    }
    return CW_FIELD_NONE;
}
