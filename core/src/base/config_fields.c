#include "base/config_fields.h"

#include "causeway/base.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static bool is_within(const struct cw_config_field *field, const uint8_t *bytes)
{
    uint32_t integer;
    double number;
    memcpy(&integer, bytes, sizeof integer);
    if (field->rule < CW_CONFIG_REAL)
        number = integer;
    else
        memcpy(&number, bytes, sizeof number);
    const bool in_range = number >= field->lowest && number <= field->highest;
    switch (field->rule) {
    case CW_CONFIG_AUTO:
        return in_range || integer == CW_AUTO;
    case CW_CONFIG_POWER:
        return in_range && (integer & (integer - 1)) == 0;
    case CW_CONFIG_ABOVE:
        return in_range && number > field->lowest;
    case CW_CONFIG_AMOUNT:
        return number >= 0 && number < INFINITY;
    default:
        return in_range;
    }
}

enum cw_error cw_config_check(const void *config, const struct cw_config_field *fields,
                              uint32_t count, uint32_t first_error)
{
    for (uint32_t i = 0; i < count; i++)
        if (fields[i].rule != CW_CONFIG_OTHER &&
            !is_within(&fields[i], (const uint8_t *)config + fields[i].offset))
            return (enum cw_error)(first_error + i);
    return CW_OK;
}
