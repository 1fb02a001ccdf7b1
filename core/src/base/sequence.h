/* 16-bit sequence numbers that wrap around. */
#ifndef CAUSEWAY_SEQUENCE_H
#define CAUSEWAY_SEQUENCE_H

#include "base/shared.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns true when a is newer than b, taking the shorter way round. When two numbers are exactly
   half the range apart, the numerically larger one is newer. So for any two different numbers,
   exactly one of (a, b) and (b, a) is true. */
CW_SHARED bool cw_sequence_newer(uint16_t a, uint16_t b)
{
    const uint16_t ahead = (uint16_t)(a - b);
    return ahead == 0x8000 ? a > b : ahead != 0 && ahead < 0x8000;
}

/* The number of steps from b to a, from -32768 to 32767; negative when a is behind. */
CW_SHARED int cw_sequence_difference(uint16_t a, uint16_t b)
{
    return (int16_t)(uint16_t)(a - b);
}

#endif
