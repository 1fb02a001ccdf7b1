#include "game/game_fit.h"

#include "message/compressed_float.h"
#include "message/schema_internal.h"

static bool fit_32(const struct cw_schema_step *step, uint8_t *value)
{
    uint32_t number;
    memcpy(&number, value, sizeof number);
    const bool is_signed = step->field->kind == CW_KIND_INT;
    const int64_t low = (int64_t)step->min, high = (int64_t)(step->min + step->range);
    const int64_t is = is_signed ? (int64_t)(int32_t)number : (int64_t)number;
    if (is >= low && is <= high)
        return true;
    number = (uint32_t)(is < low ? low : high);
    memcpy(value, &number, sizeof number);
    return false;
}

static bool fit_64(const struct cw_schema_step *step, uint8_t *value)
{
    uint64_t number;
    memcpy(&number, value, sizeof number);
    if (number - step->min <= step->range)
        return true;
    const bool below = step->field->kind == CW_KIND_INT_64 ? (int64_t)number < (int64_t)step->min
                                                           : number < step->min;
    number = below ? step->min : step->min + step->range;
    memcpy(value, &number, sizeof number);
    return false;
}

static bool fit_float(const struct cw_field *field, uint8_t *value)
{
    float real;
    memcpy(&real, value, sizeof real);
    if (real != real)
        return false;
    const float low = field->float_min, high = field->float_max;
    const float steps = cw_compressed_float_steps(low, high, field->resolution);
    const bool fits = real >= low && real <= high;
    real = cw_compressed_float_value(cw_compressed_float_step(real, low, high, steps), low, high,
                                     steps);
    memcpy(value, &real, sizeof real);
    return fits;
}

static bool fit_value(const struct cw_schema_step *step, uint8_t *value)
{
    const enum cw_kind kind = step->field->kind;
    if (kind == CW_KIND_INT || kind == CW_KIND_UINT)
        return fit_32(step, value);
    if (kind == CW_KIND_INT_64 || kind == CW_KIND_UINT_64)
        return fit_64(step, value);
    return kind != CW_KIND_COMPRESSED_FLOAT || fit_float(step->field, value);
}

/* Returns the field of the first value that was out of range. */
static uint32_t fit_steps(const struct cw_schema_steps *steps, uint8_t *message)
{
    uint32_t first = CW_FIELD_NONE;
    for (uint32_t i = 0; i < steps->count; ++i) {
        const struct cw_schema_step *const step = &steps->at[i];
        const uint32_t count = cw_schema_value_count(step, message);
        const uint32_t most = step->array > 0 ? step->array : 1;
        for (uint32_t j = 0; j < count && j < most; ++j) {
            uint8_t *const value = message + step->value + (size_t)j * step->stride;
            const bool fits = step->code == CW_CODE_STRUCT
                                  ? fit_steps(&step->nested, value) == CW_FIELD_NONE
                                  : fit_value(step, value);
            if (!fits && first == CW_FIELD_NONE)
                first = step->index;
        }
    }
    return first;
}

enum cw_error cw_game_fit(const struct cw_schema *schema, uint32_t type, void *value,
                          uint32_t *field, bool *mended)
{
    const uint32_t first = fit_steps(&schema->types[type].steps, value);
    const uint32_t still = cw_schema_check(schema, type, value);
    if (first == CW_FIELD_NONE && still == CW_FIELD_NONE)
        return CW_OK;
    *field = first == CW_FIELD_NONE ? still : first;
    *mended = still == CW_FIELD_NONE;
    return CW_ERROR_MESSAGE_VALUE;
}
