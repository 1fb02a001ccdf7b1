/* A set of numbers as an array of words, one bit for each number. */
#ifndef CAUSEWAY_BIT_SET_H
#define CAUSEWAY_BIT_SET_H

#include "base/shared.h"

#include "causeway/bits.h"

#include <stdbool.h>
#include <stdint.h>

#define CW_BIT_NONE UINT32_MAX

CW_SHARED void cw_bit_set(uint64_t *bits, uint32_t bit)
{
    bits[bit / 64] |= (uint64_t)1 << bit % 64;
}

CW_SHARED void cw_bit_clear(uint64_t *bits, uint32_t bit)
{
    bits[bit / 64] &= ~((uint64_t)1 << bit % 64);
}

CW_SHARED bool cw_bit_get(const uint64_t *bits, uint32_t bit)
{
    return (bits[bit / 64] >> bit % 64 & 1) != 0;
}

/* The first bit that is set, from `from` on; CW_BIT_NONE when none of the count bits is. */
CW_SHARED uint32_t cw_bit_next(const uint64_t *bits, uint32_t from, uint32_t count)
{
    while (from < count) {
        const uint64_t word = bits[from / 64] >> from % 64;
        if (word) {
            const uint32_t bit = from + cw_lowest_bit(word);
            return bit < count ? bit : CW_BIT_NONE;
        }
        from = (from / 64 + 1) * 64;
    }
    return CW_BIT_NONE;
}

#endif
