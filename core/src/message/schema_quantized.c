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

struct cw_schema *cw_schema_quantized(const struct cw_schema *schema, struct cw_arena *arena)
{
    struct cw_schema *const quantized = cw_arena_take(arena, sizeof *quantized);
    struct cw_schema_type *const types = cw_arena_take(arena, schema->count * sizeof *types);
    for (uint32_t i = 0; i < schema->count; ++i) {
        const struct cw_schema_type *const from = &schema->types[i];
        const uint32_t count = from->public.field_count;
        struct cw_field *const fields = cw_arena_take(arena, count * sizeof *fields);
        struct cw_schema_step *const steps = cw_arena_take(arena, count * sizeof *steps);
        if (!quantized)
            continue;
        types[i] = *from;
        types[i].public.fields = types[i].fields = fields;
        types[i].steps = steps;
        for (uint32_t j = 0; j < count; ++j) {
            fields[j] = from->fields[j];
            steps[j] = from->steps[j];
            quantize_field(&fields[j], &steps[j]);
        }
    }
    if (quantized) {
        *quantized = *schema;
        quantized->types = types;
    }
    return quantized;
}

/* Turns every compressed float that the struct holds into steps or back. */
static void convert(const struct cw_schema *schema, uint32_t type, uint8_t *message, bool back)
{
    const struct cw_schema_type *const of = &schema->types[type];
    for (uint32_t i = 0; i < of->public.field_count; ++i) {
        const struct cw_schema_step *const step = &of->steps[i];
        const struct cw_field *const field = &of->fields[i];
        if (step->code != CW_CODE_COMPRESSED_FLOAT)
            continue;
        const float steps = steps_of(field);
        uint32_t count = 1;
        if (step->optional)
            count = message[step->offset] != 0;
        else if (step->array > 0)
            memcpy(&count, message + step->offset, sizeof count);
        for (uint32_t j = 0; j < count; ++j) {
            uint8_t *const value = message + step->value + (size_t)j * step->stride;
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
    }
}

void cw_schema_quantize(const struct cw_schema *schema, uint32_t type, void *message)
{
    convert(schema, type, message, false);
}

void cw_schema_dequantize(const struct cw_schema *schema, uint32_t type, void *message)
{
    convert(schema, type, message, true);
}
