#include "message/schema_internal.h"
#include "message/schema_unchecked.h"

#define ALIGNMENT_BITS 7  /* the most bits that an alignment takes */
#define RELATIVE_BITS  38 /* the most bits of a relative number */
#define TYPE_BITS      17 /* the most bits of a type */

static uint64_t steps_bits(const struct cw_schema_steps *steps);

/* Returns the most bits that one value of the field takes. */
static uint64_t value_bits(const struct cw_schema_step *step)
{
    switch (step->code) {
    case CW_CODE_PLAIN_BOOL:
    case CW_CODE_BOOL:
        return 1;
    case CW_CODE_RANGE_64:
    case CW_CODE_CONSTANT:
        return 64;
    case CW_CODE_BYTES:
    case CW_CODE_STRING:
    case CW_CODE_ALIGN:
        return cw_bits_required((uint32_t)step->range) + ALIGNMENT_BITS + step->range * 8;
    case CW_CODE_STRUCT:
        return steps_bits(&step->nested);
    default:
        return step->code == CW_CODE_RELATIVE ? RELATIVE_BITS : 32;
    }
}

/* The recursion is as deep as cw_schema_create allows. */
static uint64_t steps_bits(const struct cw_schema_steps *steps)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct cw_schema_step *step = &steps->at[i];
        const uint32_t count_bits = step->array > 0 ? cw_bits_required(step->array) : 0;
        bits +=
            step->optional + count_bits + value_bits(step) * (step->array > 0 ? step->array : 1);
    }
    return bits;
}

size_t cw_schema_longest(const struct cw_schema *schema, bool *known)
{
    uint64_t most = 0;
    bool all = true;
    for (uint32_t i = 0; i < schema->count; i++) {
        const uint64_t bits = steps_bits(&schema->types[i].steps);
        all &= !schema->types[i].public.serialize;
        most = bits > most ? bits : most;
    }
    if (known)
        *known = all;
    return (size_t)((most + TYPE_BITS + 7) / 8);
}
