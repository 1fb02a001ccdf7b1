#include "causeway/schema.h"

#include "base/memory.h"
#include "message/schema_internal.h"
#include "message/schema_unchecked.h"

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
    case CW_KIND_CONSTANT:
        return field->min <= field->max && !field->optional && field->array == 0;
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
    case CW_KIND_STRUCT:
        return field->type && field->type->fields && field->type->field_count > 0 &&
               !field->type->serialize && !field->type->block;
    case CW_KIND_ALIGN:
        return !field->optional && field->array == 0;
    case CW_KIND_RELATIVE:
        return field->operand && (field->max == UINT16_MAX || field->max == UINT32_MAX);
    case CW_KIND_COUNT:
        break;
    }
    return false;
}

/* The bytes that a value or a member takes of its struct. */
struct extent {
    uint64_t size, alignment;
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t member_alignment(const struct cw_field *field);

/* Returns the bytes before the value, or before the first item. */
static uint64_t head_of(const struct cw_field *field)
{
    return field->optional ? 1 : field->array > 0 ? 4 : 0;
}

#define ALIGNMENT_4 offsetof(struct aligned_4, second)
#define ALIGNMENT_8 offsetof(struct aligned_8, second)

/* One value of each kind, and its code when it is not plain. The size is 0 where it depends on the
   field. */
static const struct {
    uint8_t size, alignment, code;
} values[CW_KIND_COUNT] = {
    [CW_KIND_BOOL] = {sizeof(bool), 1, CW_CODE_BOOL},
    [CW_KIND_INT] = {4, ALIGNMENT_4, CW_CODE_RANGE},
    [CW_KIND_UINT] = {4, ALIGNMENT_4, CW_CODE_RANGE},
    [CW_KIND_INT_64] = {8, ALIGNMENT_8, CW_CODE_RANGE_64},
    [CW_KIND_UINT_64] = {8, ALIGNMENT_8, CW_CODE_RANGE_64},
    [CW_KIND_FLOAT] = {4, ALIGNMENT_4, CW_CODE_RANGE},
    [CW_KIND_DOUBLE] = {8, ALIGNMENT_8, CW_CODE_RANGE_64},
    [CW_KIND_COMPRESSED_FLOAT] = {4, ALIGNMENT_4, CW_CODE_COMPRESSED_FLOAT},
    [CW_KIND_BYTES] = {0, ALIGNMENT_4, CW_CODE_BYTES},
    [CW_KIND_STRING] = {0, 1, CW_CODE_STRING},
    [CW_KIND_STRUCT] = {0, 1, CW_CODE_STRUCT},
    [CW_KIND_ALIGN] = {0, 1, CW_CODE_ALIGN},
    [CW_KIND_RELATIVE] = {4, ALIGNMENT_4, CW_CODE_RELATIVE},
    [CW_KIND_CONSTANT] = {0, 1, CW_CODE_CONSTANT},
};

/* Returns the extent of one value. The size of a struct is known once its fields are placed. */
static struct extent value_extent(const struct cw_field *field)
{
    struct extent extent = {values[field->kind].size, values[field->kind].alignment};
    if (field->kind == CW_KIND_BYTES)
        extent.size = round_up(4 + field->max, 4);
    if (field->kind == CW_KIND_STRING)
        extent.size = field->max + 1;
    if (field->kind != CW_KIND_STRUCT)
        return extent;
    extent.size = field->type->size;
    for (uint32_t i = 0; i < field->type->field_count; ++i) {
        const struct cw_field *const inner = &field->type->fields[i];
        extent.alignment = larger(extent.alignment, member_alignment(inner));
    }
    return extent;
}

static uint64_t member_alignment(const struct cw_field *field)
{
    return larger(value_extent(field).alignment, head_of(field));
}

/* Fills in the parts of a step that do not depend on the field's place. */
static void make_step(struct cw_schema_step *step, const struct cw_field *field)
{
    const enum cw_kind kind = field->kind;
    *step = (struct cw_schema_step){.code = values[kind].code,
                                    .optional = field->optional,
                                    .array = field->array,
                                    .stride = (uint32_t)value_extent(field).size,
                                    .min = field->min,
                                    .range = field->max - field->min,
                                    .field = field};
    if (kind == CW_KIND_FLOAT || kind == CW_KIND_DOUBLE) {
        step->min = 0;
        step->range = kind == CW_KIND_FLOAT ? UINT32_MAX : UINT64_MAX;
    }
    if (kind == CW_KIND_BYTES || kind == CW_KIND_STRING || kind == CW_KIND_CONSTANT)
        step->range = field->max;
    if (step->code == CW_CODE_RANGE)
        step->bits = (uint8_t)cw_bits_required((uint32_t)step->range);
    if (head_of(field) > 0)
        return;
    if (kind == CW_KIND_BOOL)
        step->code = CW_CODE_PLAIN_BOOL;
    if (step->bits > 0)
        step->code =
            step->min == 0 && step->range == UINT32_MAX ? CW_CODE_PLAIN_32 : CW_CODE_PLAIN_RANGE;
}

static const char *copy_name(struct cw_arena *arena, const char *name)
{
    const size_t size = strlen(name) + 1;
    char *const copy = cw_arena_take(arena, size);
    return copy ? memcpy(copy, name, size) : NULL;
}

/* Returns whether the field has a count and an operand only where its kind has a use for them. */
static bool valid_rules(const struct cw_field *field)
{
    return (!field->count || head_of(field) > 0) &&
           (!field->operand || field->kind == CW_KIND_BYTES || field->kind == CW_KIND_RELATIVE);
}

/* A schema that is being laid out. */
struct layout {
    struct cw_arena arena;
    cw_expression_maker *make;
    bool comparable; /* stays if each field has a value and can be read without those before it */
};

/* Replaces the expression of the field at index, if there is one, by a copy. Returns false when it
   is no expression of the fields before. */
static bool place_expression(struct layout *layout, const struct cw_message_type *type,
                             uint32_t index, const char **expression)
{
    char out[CW_EXPRESSION_MAX_SIZE + 1];
    int64_t value;
    if (!*expression)
        return true;
    const char *made = *expression;
    if (layout->make)
        made = layout->make(made, type, index, out);
    if (!made || strlen(made) > CW_EXPRESSION_MAX_SIZE ||
        !cw_expression_value(made, &type->fields[index], index, NULL, &value))
        return false;
    *expression = copy_name(&layout->arena, made);
    return true;
}

static enum cw_error place_fields(struct layout *layout, const struct cw_message_type *from,
                                  unsigned depth, struct cw_message_type *to);

/* Gives the field copies of its name and of the type of its struct, and finds the member's extent
   in a struct at this depth. */
static enum cw_error place_field(struct layout *layout, struct cw_field *field, unsigned depth,
                                 struct extent *member)
{
    if (!field->name || (field->optional && field->array > 0) || !valid_limits(field) ||
        !valid_rules(field))
        return CW_ERROR_SCHEMA_FIELD;
    if (field->kind == CW_KIND_ALIGN || field->kind == CW_KIND_CONSTANT || field->count ||
        field->operand)
        layout->comparable = false;
    field->name = copy_name(&layout->arena, field->name);
    struct cw_message_type type = {.name = field->name};
    if (field->kind == CW_KIND_STRUCT) {
        const enum cw_error error = place_fields(layout, field->type, depth + 1, &type);
        if (error)
            return error;
    }
    struct extent value = value_extent(field);
    if (field->kind == CW_KIND_STRUCT) {
        struct cw_message_type *const copy = cw_arena_take(&layout->arena, sizeof *copy);
        value.size = type.size;
        if (copy)
            *copy = type;
        field->type = copy;
    }
    const uint64_t head = head_of(field), items = field->array > 0 ? field->array : 1;
    member->alignment = larger(value.alignment, head);
    member->size =
        round_up(round_up(head, value.alignment) + items * value.size, member->alignment);
    return CW_OK;
}

/* Places the fields of a struct at this depth as a C compiler places the members: fills in fields,
   their number and the size. */
static enum cw_error place_fields(struct layout *layout, const struct cw_message_type *from,
                                  unsigned depth, struct cw_message_type *to)
{
    if (depth > CW_STRUCT_MAX_DEPTH)
        return CW_ERROR_SCHEMA_FIELD;
    struct cw_field *const fields =
        cw_arena_take(&layout->arena, from->field_count * sizeof(struct cw_field));
    uint64_t end = 0, widest = 1;
    for (uint32_t i = 0; i < from->field_count; ++i) {
        struct cw_field field = from->fields[i];
        struct extent member;
        const enum cw_error error = place_field(layout, &field, depth, &member);
        if (error)
            return error;
        if (!place_expression(layout, from, i, &field.count) ||
            !place_expression(layout, from, i, &field.operand))
            return CW_ERROR_SCHEMA_FIELD;
        const uint64_t offset = round_up(end, member.alignment);
        end = offset + member.size;
        widest = larger(widest, member.alignment);
        if (end > CW_MESSAGE_MAX_SIZE)
            return CW_ERROR_SCHEMA_SIZE;
        field.offset = (uint32_t)offset;
        if (fields)
            fields[i] = field;
    }
    if (from->field_count > 0 && end == 0)
        return CW_ERROR_SCHEMA_FIELD; /* an array of such structs would cost time and no memory */
    const uint64_t size = from->serialize ? from->size : round_up(end, widest);
    if (size > CW_MESSAGE_MAX_SIZE || (from->size > 0 && from->size != size))
        return CW_ERROR_SCHEMA_SIZE;
    to->fields = fields;
    to->field_count = from->field_count;
    to->size = (uint32_t)size;
    return CW_OK;
}

/* Returns whether the fields of the field's struct can be listed with those of the struct around
   it. */
static bool is_flat(const struct cw_field *field)
{
    return field->kind == CW_KIND_STRUCT && head_of(field) == 0;
}

static uint32_t count_steps(const struct cw_message_type *type)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < type->field_count; ++i)
        count += is_flat(&type->fields[i]) ? count_steps(type->fields[i].type) : 1;
    return count;
}

static struct cw_schema_steps make_steps(struct cw_arena *arena, const struct cw_message_type *type,
                                         uint32_t index);

/* The offset of a struct, and the index of the message's field that has it. */
struct place {
    uint32_t offset, index;
};

/* Adds the steps of a field in a struct that is at this place. steps->at is NULL while measuring.
 */
static void add_steps(struct cw_arena *arena, struct cw_schema_steps *steps,
                      const struct cw_message_type *type, uint32_t i, struct place at)
{
    const struct cw_field *const field = &type->fields[i];
    const uint32_t place = at.offset + field->offset,
                   index = at.index == CW_FIELD_NONE ? i : at.index;
    if (is_flat(field)) {
        for (uint32_t j = 0; j < field->type->field_count; ++j)
            add_steps(arena, steps, field->type, j, (struct place){place, index});
        return;
    }
    struct cw_schema_step step;
    make_step(&step, field);
    step.index = index;
    step.offset = place;
    step.value = place + (uint32_t)round_up(head_of(field), value_extent(field).alignment);
    if (field->kind == CW_KIND_STRUCT)
        step.nested = make_steps(arena, field->type, index);
    if (steps->at)
        steps->at[steps->count] = step;
    ++steps->count;
}

/* Makes the steps of a type. index is that of the message's field that has the struct,
   CW_FIELD_NONE for the message itself. */
static struct cw_schema_steps make_steps(struct cw_arena *arena, const struct cw_message_type *type,
                                         uint32_t index)
{
    const size_t size = count_steps(type) * sizeof(struct cw_schema_step);
    struct cw_schema_steps steps = {cw_arena_take(arena, size), 0};
    for (uint32_t i = 0; i < type->field_count; ++i)
        add_steps(arena, &steps, type, i, (struct place){0, index});
    return steps;
}

static enum cw_error lay_out_type(struct cw_compiled_type *type, struct layout *layout,
                                  const struct cw_message_type *from, uint32_t *size)
{
    if (!from->name || (from->serialize && from->field_count > 0) ||
        (from->field_count > 0 && !from->fields))
        return CW_ERROR_SCHEMA_TYPES;
    struct cw_message_type to = *from;
    layout->comparable = !from->serialize;
    const enum cw_error error = place_fields(layout, from, 0, &to);
    if (error)
        return error;
    to.name = copy_name(&layout->arena, from->name);
    *size = to.size;
    const struct cw_schema_steps steps =
        make_steps(&layout->arena, type ? &to : from, CW_FIELD_NONE);
    if (type)
        *type = (struct cw_compiled_type){to, layout->comparable, steps};
    return CW_OK;
}

/* Lays out a schema. It runs twice: with a NULL arena base it checks and measures only. */
static enum cw_error lay_out(struct cw_schema **out, struct layout *layout,
                             const struct cw_schema_config *config)
{
    if (!config || !config->types || config->count < 1 || config->count > 65536)
        return CW_ERROR_SCHEMA_TYPES;
    struct cw_schema *const schema = cw_arena_take(&layout->arena, sizeof *schema);
    struct cw_compiled_type *const types =
        cw_arena_take(&layout->arena, config->count * sizeof *types);
    size_t largest = 0;
    for (uint32_t i = 0; i < config->count; ++i) {
        uint32_t size;
        const enum cw_error error =
            lay_out_type(types ? &types[i] : NULL, layout, &config->types[i], &size);
        if (error)
            return error;
        largest = largest < size ? size : largest;
    }
    if (schema)
        *schema = (struct cw_schema){.allocator = config->allocator,
                                     .memory = layout->arena.size,
                                     .message_size = largest,
                                     .count = config->count,
                                     .types = types};
    *out = schema;
    return CW_OK;
}

enum cw_error cw_schema_make(const struct cw_schema_config *config, cw_expression_maker *make,
                             struct cw_schema **schema)
{
    struct layout layout = {.make = make};
    struct cw_schema *measured;
    if (!schema)
        return CW_ERROR_INVALID_ARGUMENT;
    const enum cw_error error = lay_out(&measured, &layout, config);
    if (error)
        return error;
    layout.arena = cw_arena_create(&config->allocator, layout.arena.used);
    return layout.arena.base ? lay_out(schema, &layout, config) : CW_ERROR_NO_MEMORY;
}

enum cw_error cw_schema_create(const struct cw_schema_config *config, struct cw_schema **schema)
{
    return cw_schema_make(config, cw_expression_make, schema);
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
    struct layout layout = {.make = cw_expression_make};
    struct cw_schema *schema;
    return lay_out(&schema, &layout, config) == CW_OK ? layout.arena.used : 0;
}

uint32_t cw_schema_count(const struct cw_schema *schema)
{
    return schema ? schema->count : 0;
}

const struct cw_message_type *cw_schema_type(const struct cw_schema *schema, uint32_t type)
{
    return schema && type < schema->count ? &schema->types[type].public : NULL;
}

const struct cw_message_type *cw_schema_type_unchecked(const struct cw_schema *schema,
                                                       uint32_t type)
{
    return &schema->types[type].public;
}

static bool aligns(const struct cw_message_type *type)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct cw_field *const field = &type->fields[i];
        if (field->kind == CW_KIND_ALIGN || field->kind == CW_KIND_BYTES ||
            field->kind == CW_KIND_STRING || (field->kind == CW_KIND_STRUCT && aligns(field->type)))
            return true;
    }
    return type->serialize != NULL; /* the user's own function may do anything */
}

bool cw_schema_aligns(const struct cw_schema *schema, uint32_t type)
{
    return aligns(cw_schema_type_unchecked(schema, type));
}

size_t cw_schema_message_size(const struct cw_schema *schema)
{
    return schema ? schema->message_size : 0;
}
