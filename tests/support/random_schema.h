/* Random schemas and random messages that can be sent. Random numbers come from random_state. */
#ifndef CAUSEWAY_TESTS_RANDOM_SCHEMA_H
#define CAUSEWAY_TESTS_RANDOM_SCHEMA_H

#include "causeway/schema.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 1;

static inline uint32_t random_32(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

static inline uint32_t random_below(uint32_t end)
{
    return random_32() % end;
}

/* Returns a number of any width, so that small numbers are as common as large ones. */
static inline uint64_t random_64(void)
{
    const uint64_t number = (uint64_t)random_32() << 32 | random_32();
    return number >> random_below(64);
}

/* Returns a limit of a range: any number, or one at which a width or a sign changes. */
static inline uint64_t random_limit(void)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     (uint64_t)INT32_MIN,
                                     INT32_MAX,
                                     (uint64_t)INT32_MAX + 1,
                                     UINT32_MAX,
                                     (uint64_t)UINT32_MAX + 1,
                                     (uint64_t)INT64_MIN,
                                     INT64_MAX,
                                     UINT64_MAX};
    if (random_below(2))
        return edges[random_below(sizeof edges / sizeof edges[0])];
    const uint64_t number = random_64();
    return random_below(4) ? number : 0 - number;
}

#define RANDOM_TYPES         3
#define RANDOM_FIELDS        8
#define RANDOM_STRUCT_FIELDS 3
#define RANDOM_DEPTH         3
/* The most bytes of a message on the wire. */
#define RANDOM_MOST_BYTES (1 << 18)

static inline void random_fields(struct cw_message_type *type, uint32_t most, uint32_t depth);

/* Returns a struct for a field, which may hold further structs to this depth. It may be freed when
   the schema is made. */
static inline const struct cw_message_type *random_struct(uint32_t depth)
{
    static struct cw_message_type types[1024];
    static uint32_t next;
    struct cw_message_type *const type = &types[next++ % 1024];
    *type = (struct cw_message_type){.name = "part"};
    while (type->field_count == 0)
        random_fields(type, RANDOM_STRUCT_FIELDS, depth);
    return type;
}

/* Returns a field that is within so many structs. */
static inline struct cw_field random_field(const char *name, uint32_t depth)
{
    const uint32_t kinds = depth < RANDOM_DEPTH ? CW_KIND_STRUCT + 1 : CW_KIND_STRUCT;
    struct cw_field field = {.name = name, .kind = (enum cw_kind)random_below(kinds)};
    if (random_below(4) == 0)
        field.optional = true;
    else if (random_below(4) == 0)
        field.array = 1 + random_below(field.kind == CW_KIND_STRUCT ? 2 : 6);
    uint64_t a = random_limit(), b = random_limit();
    switch (field.kind) {
    case CW_KIND_UINT:
        a = (uint32_t)a;
        b = (uint32_t)b;
        /* fall through */
    case CW_KIND_UINT_64:
        field.min = a < b ? a : b;
        field.max = a < b ? b : a;
        break;
    case CW_KIND_INT:
        a = (uint64_t)(int32_t)a;
        b = (uint64_t)(int32_t)b;
        /* fall through */
    case CW_KIND_INT_64:
        field.min = (int64_t)a < (int64_t)b ? a : b;
        field.max = (int64_t)a < (int64_t)b ? b : a;
        break;
    case CW_KIND_BYTES:
    case CW_KIND_STRING:
        field.max = 1 + random_below(20);
        break;
    case CW_KIND_COMPRESSED_FLOAT:
        /* the minimum is such that every step is a float without rounding */
        field.float_min = (float)-(int)random_below(100);
        field.float_max = field.float_min + (float)(1 << random_below(8));
        field.resolution = 1.0f / (float)(1 << random_below(8));
        break;
    case CW_KIND_STRUCT:
        field.type = random_struct(depth + 1);
        break;
    default:
        break;
    }
    return field;
}

/* Gives the type at most so many fields, which may be freed when the schema is made. */
static inline void random_fields(struct cw_message_type *type, uint32_t most, uint32_t depth)
{
    static const char *const names[RANDOM_FIELDS] = {"field0", "field1", "field2", "field3",
                                                     "field4", "field5", "field6", "field7"};
    static struct cw_field fields[1024][RANDOM_FIELDS];
    static uint32_t next;
    struct cw_field *const own = fields[next++ % 1024];
    type->fields = own;
    type->field_count = random_below(most + 1);
    for (uint32_t i = 0; i < type->field_count; i++)
        own[i] = random_field(names[i], depth);
}

static inline struct cw_schema *random_schema(void)
{
    struct cw_message_type types[RANDOM_TYPES];
    const uint32_t count = 1 + random_below(RANDOM_TYPES);
    for (uint32_t i = 0; i < count; i++) {
        types[i] = (struct cw_message_type){.name = "message", .block = random_below(8) == 0};
        random_fields(&types[i], RANDOM_FIELDS, 0);
    }
    struct cw_schema *schema;
    const struct cw_schema_config config = {.types = types, .count = count};
    if (cw_schema_create(&config, &schema) != CW_OK)
        abort();
    return schema;
}

static inline void random_members(const struct cw_message_type *type, uint8_t *message);

static inline void random_value(const struct cw_field *field, uint8_t *value)
{
    const uint64_t range = field->max - field->min;
    uint64_t number = field->min + (range == UINT64_MAX ? random_64() : random_64() % (range + 1));
    const uint32_t edge = random_below(8);
    if (edge < 2)
        number = edge == 0 ? field->min : field->max;
    const uint32_t low = (uint32_t)number;
    switch (field->kind) {
    case CW_KIND_BOOL:
        *value = (uint8_t)random_below(2);
        break;
    case CW_KIND_INT:
    case CW_KIND_UINT:
    case CW_KIND_RELATIVE:
        memcpy(value, &low, 4);
        break;
    case CW_KIND_ALIGN:
    case CW_KIND_CONSTANT:
        break;
    case CW_KIND_INT_64:
    case CW_KIND_UINT_64:
        memcpy(value, &number, 8);
        break;
    /* The only NaN that is made is the one that JavaScript has. */
    case CW_KIND_FLOAT: {
        const float edges[] = {-0.0f, FLT_MIN, -FLT_MAX, INFINITY, -INFINITY, FLT_TRUE_MIN};
        const uint32_t bits = (uint32_t)random_64();
        float real;
        memcpy(&real, &bits, 4);
        real = edge < 2 ? edges[random_below(6)] : isnan(real) ? NAN : real;
        memcpy(value, &real, 4);
        break;
    }
    case CW_KIND_DOUBLE: {
        const double edges[] = {-0.0, DBL_MIN, -DBL_MAX, INFINITY, -INFINITY, DBL_TRUE_MIN};
        const uint64_t bits = random_64();
        double real;
        memcpy(&real, &bits, 8);
        real = edge < 2 ? edges[random_below(6)] : isnan(real) ? (double)NAN : real;
        memcpy(value, &real, 8);
        break;
    }
    case CW_KIND_COMPRESSED_FLOAT: {
        const float steps = (field->float_max - field->float_min) / field->resolution;
        float real =
            field->float_min + (float)random_below((uint32_t)steps + 1) * field->resolution;
        if (edge < 2)
            real = edge == 0 ? field->float_min : field->float_max;
        memcpy(value, &real, 4);
        break;
    }
    case CW_KIND_BYTES: {
        const uint32_t size = edge < 2 ? low : random_below((uint32_t)field->max + 1);
        memcpy(value, &size, 4);
        for (uint32_t i = 0; i < size; i++)
            value[4 + i] = (uint8_t)random_32();
        break;
    }
    case CW_KIND_STRUCT:
        random_members(field->type, value);
        break;
    default: {
        const uint32_t size = edge < 2 ? low : random_below((uint32_t)field->max + 1);
        for (uint32_t i = 0; i < size; i++)
            value[i] = (uint8_t)(1 + random_below(127));
    }
    }
}

struct random_wide {
    char first;
    uint64_t second;
};

/* Returns the alignment of a field's value in its struct. */
static inline uint32_t random_alignment(const struct cw_field *field)
{
    uint32_t widest = 1;
    switch (field->kind) {
    case CW_KIND_BOOL:
    case CW_KIND_STRING:
        return 1;
    case CW_KIND_DOUBLE:
    case CW_KIND_INT_64:
    case CW_KIND_UINT_64:
        return offsetof(struct random_wide, second);
    case CW_KIND_STRUCT:
        for (uint32_t i = 0; i < field->type->field_count; i++) {
            const struct cw_field *const inner = &field->type->fields[i];
            const uint32_t head = inner->array > 0 ? 4 : 1, own = random_alignment(inner);
            widest = widest < head ? head : widest;
            widest = widest < own ? own : widest;
        }
        return widest;
    default:
        return 4;
    }
}

/* Returns the distance between the items of an array, and in *first that of the first from its
   member's start. */
static inline uint32_t random_stride(const struct cw_field *field, uint32_t *first)
{
    const uint32_t alignment = random_alignment(field);
    *first = field->optional ? alignment : field->array ? (alignment > 4 ? alignment : 4) : 0;
    if (field->kind == CW_KIND_STRUCT)
        return field->type->size;
    if (field->kind == CW_KIND_STRING)
        return (uint32_t)field->max + 1;
    if (field->kind == CW_KIND_BYTES)
        return ((uint32_t)field->max + 7) / 4 * 4;
    if (field->kind == CW_KIND_BOOL)
        return 1;
    return field->kind == CW_KIND_DOUBLE || field->kind == CW_KIND_INT_64 ||
                   field->kind == CW_KIND_UINT_64
               ? 8
               : 4;
}

static inline void random_members(const struct cw_message_type *type, uint8_t *message)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct cw_field *field = &type->fields[i];
        uint8_t *member = message + field->offset;
        uint32_t first, count = 1;
        const uint32_t stride = random_stride(field, &first);
        if (field->optional)
            *member = (uint8_t)(count = random_below(2));
        if (field->array) {
            count = random_below(field->array + 1);
            memcpy(member, &count, 4);
        }
        for (uint32_t j = 0; j < count; j++)
            random_value(field, member + first + j * stride);
    }
}

/* Returns the struct of a type with zeros wherever it holds no value. The caller frees it. */
static inline uint8_t *random_message(const struct cw_schema *schema, uint32_t index)
{
    const struct cw_message_type *type = cw_schema_type(schema, index);
    uint8_t *message = calloc(1, type->size + 1u);
    random_members(type, message);
    return message;
}

#endif
