#include "message/repair.h"

#include <string.h>

void cw_repair_factors(const struct cw_repair_range *range, uint32_t index, uint8_t *factors)
{
    const uint32_t salt = (uint32_t)range->end << 16 | (uint32_t)range->seed << 8 | index;
    memset(factors, 0, CW_REPAIR_WINDOW);
    for (uint16_t id = (uint16_t)(range->end - range->count); id != range->end; id++) {
        uint32_t mixed = (salt ^ id * 0x9E3779B1u) * 0x85EBCA6Bu;
        mixed = (mixed ^ mixed >> 15) * 0xC2B2AE35u;
        factors[cw_repair_slot(id)] = (uint8_t)(1 + ((mixed >> 16) * 255 >> 16));
    }
}
