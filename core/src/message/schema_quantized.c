#include "message/schema_quantized.h"

#include "message/compressed_float.h"
#include "message/schema_internal.h"

static float steps_of(const struct cw_field *field)
{
    return cw_compressed_float_steps(field->float_min, field->float_max, field->resolution);
}

static void quantize_field(struct cw_field *field, struct cw_schema_step *step)
{
    if (step->code != CW_CODE_COMPRESSED_FLOAT)
        return;
    const bool plain = !field->optional && field->array == 0;
    const uint32_t last = (uint32_t)steps_of(field);
    field->kind = CW_KIND_UINT;
    field->min = 0;
    field->max = last;
    step->code = plain ? CW_CODE_PLAIN_RANGE : CW_CODE_RANGE;
    step->bits = (uint8_t)cw_bits_required(last);
    step->min = 0;
    step->range = last;
}

static struct cw_schema_steps quantize_steps(const struct cw_schema_steps *from,
                                             struct cw_arena *arena)
{
    struct cw_field *const fields = cw_arena_take(arena, from->count * sizeof *fields);
    struct cw_schema_step *const steps = cw_arena_take(arena, from->count * sizeof *steps);
    for (uint32_t i = 0; i < from->count; ++i) {
        const struct cw_schema_steps nested = quantize_steps(&from->at[i].nested, arena);
        if (!steps)
            continue;
        fields[i] = *from->at[i].field;
        steps[i] = from->at[i];
        steps[i].field = &fields[i];
        steps[i].nested = nested;
        quantize_field(&fields[i], &steps[i]);
    }
    return (struct cw_schema_steps){steps, from->count};
}

struct cw_schema *cw_schema_quantized(const struct cw_schema *schema, struct cw_arena *arena)
{
    struct cw_schema *const quantized = cw_arena_take(arena, sizeof *quantized);
    struct cw_compiled_type *const types = cw_arena_take(arena, schema->count * sizeof *types);
    for (uint32_t i = 0; i < schema->count; ++i) {
        const struct cw_schema_steps steps = quantize_steps(&schema->types[i].steps, arena);
        if (quantized)
            types[i] = (struct cw_compiled_type){schema->types[i].public,
                                                 schema->types[i].comparable, steps};
    }
    if (quantized) {
        *quantized = *schema;
        quantized->types = types;
    }
    return quantized;
}

static void convert_value(const struct cw_field *field, uint8_t *value, bool back)
{
    const float steps = steps_of(field);
    uint32_t number;
    float real;
    memcpy(&number, value, sizeof number);
    memcpy(&real, value, sizeof real);
    if (back)
        real = cw_compressed_float_value(number, field->float_min, field->float_max, steps);
    else
        number = cw_compressed_float_step(real, field->float_min, field->float_max, steps);
    memcpy(value, back ? (const void *)&real : &number, sizeof number);
}

/* Turns every compressed float that the struct holds into steps or back. */
static void convert(const struct cw_schema_steps *steps, uint8_t *message, bool back)
{
    for (uint32_t i = 0; i < steps->count; ++i) {
        const struct cw_schema_step *const step = &steps->at[i];
        if (step->code != CW_CODE_COMPRESSED_FLOAT && step->code != CW_CODE_STRUCT)
            continue;
        const uint32_t count = cw_schema_value_count(step, message);
        for (uint32_t j = 0; j < count; ++j) {
            uint8_t *const value = message + step->value + (size_t)j * step->stride;
            if (step->code == CW_CODE_STRUCT)
                convert(&step->nested, value, back);
            else
                convert_value(step->field, value, back);
        }
    }
}

void cw_schema_quantize(const struct cw_schema *schema, uint32_t type, void *message)
{
    convert(&schema->types[type].steps, message, false);
}

void cw_schema_dequantize(const struct cw_schema *schema, uint32_t type, void *message)
{
    convert(&schema->types[type].steps, message, true);
}

static bool has_compressed_floats(const struct cw_schema_steps *steps)
{
    for (uint32_t i = 0; i < steps->count; ++i)
        if (steps->at[i].code == CW_CODE_COMPRESSED_FLOAT ||
            has_compressed_floats(&steps->at[i].nested))
            return true;
    return false;
}

bool cw_schema_quantizes(const struct cw_schema *schema, uint32_t type)
{
    return has_compressed_floats(&schema->types[type].steps);
}
