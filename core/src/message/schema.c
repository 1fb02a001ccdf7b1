#include "causeway/schema.h"

#include "base/memory.h"
#include "message/schema_checked.h"
#include "message/schema_internal.h"

#include <math.h>

/* Asks the compiler instead of assuming, so that tables and structs agree under every ABI. */
struct aligned_4 {
    char first;
    uint32_t second;
};
struct aligned_8 {
    char first;
    uint64_t second;
};

static uint64_t round_up(uint64_t offset, uint64_t alignment)
{
    return (offset + alignment - 1) / alignment * alignment;
}

static bool valid_limits(const struct cw_field *field)
{
    const int64_t min = (int64_t)field->min, max = (int64_t)field->max;
    switch (field->kind) {
    case CW_KIND_INT:
        return min >= INT32_MIN && min <= max && max <= INT32_MAX;
    case CW_KIND_UINT:
        return field->min <= field->max && field->max <= UINT32_MAX;
    case CW_KIND_INT_64:
        return min <= max;
    case CW_KIND_UINT_64:
        return field->min <= field->max;
    case CW_KIND_COMPRESSED_FLOAT:
        return field->float_min < field->float_max && field->resolution > 0 &&
               isfinite(field->float_max - field->float_min) && isfinite(field->resolution);
    case CW_KIND_BYTES:
    case CW_KIND_STRING:
        return field->max >= 1 && field->max <= CW_MESSAGE_MAX_SIZE;
    case CW_KIND_BOOL:
    case CW_KIND_FLOAT:
    case CW_KIND_DOUBLE:
        return true;
    case CW_KIND_COUNT:
        break;
    }
    return false;
}

/* Fills in the step but for its offsets, and gives the alignment of the value. */
static uint64_t make_step(struct cw_schema_step *step, const struct cw_field *field)
{
    const bool plain = !field->optional && field->array == 0;
    *step = (struct cw_schema_step){.optional = field->optional,
                                    .array = field->array,
                                    .stride = 4,
                                    .min = field->min,
                                    .range = field->max - field->min};
    switch (field->kind) {
    case CW_KIND_BOOL:
        step->code = plain ? CW_CODE_PLAIN_BOOL : CW_CODE_BOOL;
        step->stride = sizeof(bool);
        return 1;
    case CW_KIND_FLOAT:
        step->min = 0;
        step->range = UINT32_MAX;
        /* fall through */
    case CW_KIND_INT:
    case CW_KIND_UINT:
        step->bits = (uint8_t)cw_bits_required((uint32_t)step->range);
        step->code = !plain || step->bits == 0                     ? CW_CODE_RANGE
                     : step->min == 0 && step->range == UINT32_MAX ? CW_CODE_PLAIN_32
                                                                   : CW_CODE_PLAIN_RANGE;
        return offsetof(struct aligned_4, second);
    case CW_KIND_DOUBLE:
        step->min = 0;
        step->range = UINT64_MAX;
        /* fall through */
    case CW_KIND_INT_64:
    case CW_KIND_UINT_64:
        step->code = CW_CODE_RANGE_64;
        step->stride = 8;
        return offsetof(struct aligned_8, second);
    case CW_KIND_COMPRESSED_FLOAT:
        step->code = CW_CODE_COMPRESSED_FLOAT;
        return offsetof(struct aligned_4, second);
    case CW_KIND_BYTES:
        step->code = CW_CODE_BYTES;
        step->stride = (uint32_t)round_up(4 + field->max, 4);
        step->range = field->max;
        return offsetof(struct aligned_4, second);
    default:
        step->code = CW_CODE_STRING;
        step->stride = (uint32_t)field->max + 1;
        step->range = field->max;
        return 1;
    }
}

/* Places the fields as a C compiler places the members. Either array may be NULL. */
static enum cw_error place_fields(const struct cw_message_type *type, struct cw_field *fields,
                                  struct cw_schema_step *steps, uint32_t *size)
{
    uint64_t end = 0, widest = 1;
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const struct cw_field *const field = &type->fields[i];
        if (!field->name || (field->optional && field->array > 0) || !valid_limits(field))
            return CW_ERROR_SCHEMA_FIELD;
        struct cw_schema_step step;
        const uint64_t own = make_step(&step, field);
        const uint64_t head = field->optional ? 1 : field->array > 0 ? 4 : 0;
        const uint64_t alignment = own < head ? head : own;
        const uint64_t items = field->array > 0 ? field->array : 1;
        const uint64_t offset = round_up(end, alignment);
        const uint64_t value = offset + round_up(head, own);
        end = round_up(value + items * step.stride, alignment);
        widest = widest < alignment ? alignment : widest;
        if (end > CW_MESSAGE_MAX_SIZE)
            return CW_ERROR_SCHEMA_SIZE;
        step.offset = (uint32_t)offset;
        step.value = (uint32_t)value;
        if (fields) {
            fields[i] = *field;
            fields[i].offset = step.offset;
            steps[i] = step;
        }
    }
    *size = (uint32_t)round_up(end, widest);
    return CW_OK;
}

static const char *copy_name(struct cw_arena *arena, const char *name)
{
    const size_t size = strlen(name) + 1;
    char *const copy = cw_arena_take(arena, size);
    return copy ? memcpy(copy, name, size) : NULL;
}

static enum cw_error lay_out_type(struct cw_schema_type *type, struct cw_arena *arena,
                                  const struct cw_message_type *from, uint32_t *size)
{
    const bool own = from->serialize != NULL;
    if (!from->name || (own && from->field_count > 0) || (from->field_count > 0 && !from->fields))
        return CW_ERROR_SCHEMA_TYPES;
    const char *const name = copy_name(arena, from->name);
    struct cw_field *const fields =
        cw_arena_take(arena, from->field_count * sizeof(struct cw_field));
    struct cw_schema_step *const steps =
        cw_arena_take(arena, from->field_count * sizeof(struct cw_schema_step));
    const enum cw_error error = place_fields(from, fields, steps, size);
    if (error)
        return error;
    if (own)
        *size = from->size;
    if (*size > CW_MESSAGE_MAX_SIZE || (from->size > 0 && from->size != *size))
        return CW_ERROR_SCHEMA_SIZE;
    for (uint32_t i = 0; i < from->field_count; ++i) {
        const char *const field_name = copy_name(arena, from->fields[i].name);
        if (type)
            fields[i].name = field_name;
    }
    if (type)
        *type = (struct cw_schema_type){
            .public = {name, fields, from->field_count, *size, from->serialize, from->block},
            .fields = fields,
            .steps = steps};
    return CW_OK;
}

/* Run twice: with a NULL arena base it checks and measures only. */
static enum cw_error lay_out(struct cw_schema **out, struct cw_arena *arena,
                             const struct cw_schema_config *config)
{
    if (!config || !config->types || config->count < 1 || config->count > 65536)
        return CW_ERROR_SCHEMA_TYPES;
    struct cw_schema *const schema = cw_arena_take(arena, sizeof *schema);
    struct cw_schema_type *const types = cw_arena_take(arena, config->count * sizeof *types);
    size_t largest = 0;
    for (uint32_t i = 0; i < config->count; ++i) {
        uint32_t size;
        const enum cw_error error =
            lay_out_type(types ? &types[i] : NULL, arena, &config->types[i], &size);
        if (error)
            return error;
        largest = largest < size ? size : largest;
    }
    if (schema)
        *schema = (struct cw_schema){.allocator = config->allocator,
                                     .memory = arena->size,
                                     .message_size = largest,
                                     .count = config->count,
                                     .types = types};
    *out = schema;
    return CW_OK;
}

enum cw_error cw_schema_create(const struct cw_schema_config *config, struct cw_schema **schema)
{
    struct cw_arena arena = {NULL, 0, 0};
    struct cw_schema *measured;
    if (!schema)
        return CW_ERROR_INVALID_ARGUMENT;
    const enum cw_error error = lay_out(&measured, &arena, config);
    if (error)
        return error;
    arena = cw_arena_create(&config->allocator, arena.used);
    return arena.base ? lay_out(schema, &arena, config) : CW_ERROR_NO_MEMORY;
}

void cw_schema_destroy(struct cw_schema *schema)
{
    if (schema) {
        const struct cw_allocator allocator = schema->allocator;
        cw_release(&allocator, schema, schema->memory);
    }
}

size_t cw_schema_memory(const struct cw_schema_config *config)
{
    struct cw_arena arena = {NULL, 0, 0};
    struct cw_schema *schema;
    return lay_out(&schema, &arena, config) == CW_OK ? arena.used : 0;
}

uint32_t cw_schema_count(const struct cw_schema *schema)
{
    return schema ? schema->count : 0;
}

const struct cw_message_type *cw_schema_type(const struct cw_schema *schema, uint32_t type)
{
    return schema && type < schema->count ? &schema->types[type].public : NULL;
}

const struct cw_message_type *cw_schema_type_checked(const struct cw_schema *schema, uint32_t type)
{
    return &schema->types[type].public;
}

size_t cw_schema_message_size(const struct cw_schema *schema)
{
    return schema ? schema->message_size : 0;
}

/* The bytes of the value are copied, because the type that the memory has is the caller's affair.
 */
bool cw_schema_serialize_value(struct cw_stream *stream, const struct cw_schema_step *step,
                               const struct cw_field *field, uint8_t *value)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    bool done = false;
    switch (step->code) {
    case CW_CODE_PLAIN_BOOL:
    case CW_CODE_BOOL: {
        uint32_t set = !reading && *value != 0;
        done = cw_stream_far_uint(stream, &set, 0, 1);
        if (done && reading)
            *value = (uint8_t)set;
        return done;
    }
    case CW_CODE_PLAIN_32:
    case CW_CODE_PLAIN_RANGE:
    case CW_CODE_RANGE: {
        const uint32_t min = (uint32_t)step->min;
        uint32_t number = 0;
        if (!reading)
            memcpy(&number, value, sizeof number);
        number -= min;
        done = cw_stream_far_uint(stream, &number, 0, (uint32_t)step->range);
        number += min;
        if (done && reading)
            memcpy(value, &number, sizeof number);
        return done;
    }
    case CW_CODE_RANGE_64: {
        uint64_t number = 0;
        if (!reading)
            memcpy(&number, value, sizeof number);
        number -= step->min;
        done = cw_stream_far_uint_64(stream, &number, 0, step->range);
        number += step->min;
        if (done && reading)
            memcpy(value, &number, sizeof number);
        return done;
    }
    case CW_CODE_COMPRESSED_FLOAT: {
        float number = 0;
        if (!reading)
            memcpy(&number, value, sizeof number);
        done = cw_stream_far_compressed_float(stream, &number, field->float_min, field->float_max,
                                              field->resolution);
        if (done && reading)
            memcpy(value, &number, sizeof number);
        return done;
    }
    case CW_CODE_BYTES: {
        uint32_t size = 0;
        if (!reading)
            memcpy(&size, value, sizeof size);
        done = cw_stream_far_uint(stream, &size, 0, (uint32_t)step->range) &&
               cw_stream_far_bytes(stream, value + sizeof size, size);
        if (done && reading)
            memcpy(value, &size, sizeof size);
        return done;
    }
    default:
        return cw_stream_far_string(stream, (char *)value, step->stride);
    }
}

/* A field of any kind, optional or an array. Its member is part of the struct at message. */
static bool serialize_field(struct cw_stream *stream, const struct cw_schema_step *step,
                            const struct cw_field *field, uint8_t *message)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    uint8_t *const member = message + step->offset;
    uint8_t *value = message + step->value;
    uint32_t count = 1;
    if (step->optional || step->array > 0) {
        const uint32_t most = step->optional ? 1 : step->array;
        if (!reading && step->optional)
            count = *member != 0;
        else if (!reading)
            memcpy(&count, member, sizeof count);
        if (!cw_stream_far_uint(stream, &count, 0, most))
            return false;
        if (reading && step->optional)
            *member = (uint8_t)count;
        else if (reading)
            memcpy(member, &count, sizeof count);
    }
    for (; count > 0; --count, value += step->stride)
        if (!cw_schema_serialize_value(stream, step, field, value))
            return false;
    return true;
}

struct body {
    const struct cw_schema_type *type;
    uint8_t *message;
};

/* The quick codes here, with the stream in registers, the others out of line, with a copy of it. */
CW_SERIALIZE(serialize_table, struct body, stream, body)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    const struct cw_schema_type *const type = body->type;
    const struct cw_schema_step *const end = type->steps + type->public.field_count;
    for (const struct cw_schema_step *step = type->steps; step < end; ++step) {
        uint8_t *const value = body->message + step->value;
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
            struct cw_stream copy = *stream;
            const struct cw_field *const field = &type->fields[step - type->steps];
            const bool done = serialize_field(&copy, step, field, body->message);
            *stream = copy;
            if (!done)
                return false;
        }
        }
    }
    return true;
}

bool cw_schema_serialize_checked(const struct cw_schema *schema, uint32_t type,
                                 struct cw_stream *stream, void *message)
{
    struct body body = {&schema->types[type], message};
    cw_serialize *const own = body.type->public.serialize;
    return own ? own(stream, message) : serialize_table(stream, &body);
}

bool cw_schema_serialize(const struct cw_schema *schema, uint32_t type, struct cw_stream *stream,
                         void *message)
{
    if (!stream)
        return false;
    if (!schema || type >= schema->count || (!message && schema->types[type].public.size > 0))
        return cw_stream_fail(stream);
    return cw_schema_serialize_checked(schema, type, stream, message);
}

/* A stream takes any value for a compressed float and sends the nearest that it can. */
static bool compressed_floats_fit(const struct cw_schema_step *step, const struct cw_field *field,
                                  const uint8_t *message)
{
    uint32_t count = 1;
    if (step->optional)
        count = message[step->offset] != 0;
    else if (step->array > 0)
        memcpy(&count, message + step->offset, sizeof count);
    for (uint32_t i = 0; i < count; ++i) {
        float real;
        memcpy(&real, message + step->value + i * step->stride, sizeof real);
        if (!(real >= field->float_min && real <= field->float_max))
            return false;
    }
    return true;
}

uint32_t cw_schema_check(const struct cw_schema *schema, uint32_t type, const void *message)
{
    if (!schema || type >= schema->count || (!message && schema->types[type].public.size > 0))
        return 0;
    const struct cw_schema_type *const of = &schema->types[type];
    struct cw_stream stream = cw_stream_measurer();
    /* a measuring stream only looks */
    uint8_t *const bytes = (uint8_t *)(uintptr_t)message;
    if (of->public.serialize)
        return of->public.serialize(&stream, bytes) ? CW_FIELD_NONE : 0;
    for (uint32_t i = 0; i < of->public.field_count; ++i) {
        const struct cw_schema_step *const step = &of->steps[i];
        if (!serialize_field(&stream, step, &of->fields[i], bytes) ||
            (step->code == CW_CODE_COMPRESSED_FLOAT &&
             !compressed_floats_fit(step, &of->fields[i], bytes)))
            return i;
    }
    return CW_FIELD_NONE;
}
