#include "game/smoothing.h"

#include <math.h>
#include <string.h>

const float *cw_smoothing_amounts(struct cw_arena *arena, const struct cw_message_type *type,
                                  const float *amounts)
{
    float *const copy = cw_arena_take(arena, type->field_count * sizeof *copy);
    if (copy && amounts)
        memcpy(copy, amounts, type->field_count * sizeof *copy);
    return copy;
}

void cw_smoothing_layout(struct cw_smoothing *smoothing, struct cw_arena *arena,
                         const struct cw_schema *schema, uint32_t type, const float *limits)
{
    struct cw_schema_numbers numbers = {0};
    cw_schema_list_numbers(schema, type, &numbers);
    numbers.numbers = cw_arena_take(arena, numbers.count * sizeof *numbers.numbers);
    numbers.items = cw_arena_take(arena, numbers.item_count * sizeof *numbers.items);
    const float *const copy = cw_smoothing_amounts(arena, cw_schema_type(schema, type), limits);
    if (!smoothing)
        return;
    cw_schema_list_numbers(schema, type, &numbers);
    *smoothing = (struct cw_smoothing){numbers, copy};
}

double cw_smoothing_difference(const struct cw_smoothing *smoothing,
                               const struct cw_schema_number *number, const void *a, const void *b)
{
    if (!cw_schema_has_number(&smoothing->numbers, number, a) ||
        !cw_schema_has_number(&smoothing->numbers, number, b))
        return 0;
    return cw_schema_get_number(number, a) - cw_schema_get_number(number, b);
}

void cw_smoothing_correct(const struct cw_smoothing *smoothing, double *errors, const void *old,
                          const void *state)
{
    for (uint32_t i = 0; i < smoothing->numbers.count; i++) {
        const struct cw_schema_number *const number = &smoothing->numbers.numbers[i];
        const double error = errors[i] + cw_smoothing_difference(smoothing, number, old, state);
        errors[i] = fabs(error) <= (double)smoothing->limits[number->field] ? error : 0;
    }
}

void cw_smoothing_add(const struct cw_smoothing *smoothing, const double *errors, void *state)
{
    for (uint32_t i = 0; i < smoothing->numbers.count; i++) {
        const struct cw_schema_number *const number = &smoothing->numbers.numbers[i];
        if (errors[i] == 0 || !cw_schema_has_number(&smoothing->numbers, number, state))
            continue;
        cw_schema_set_number(number, state, cw_schema_get_number(number, state) + errors[i]);
    }
}
