#include "causeway/bits.h"

/* This function is not inlined, because it runs once per buffer, and would be most of the code of
   every read. */
uint64_t cw_bits_load_end(const uint8_t *data, ptrdiff_t position, ptrdiff_t end)
{
    uint64_t rest = 0;
    for (unsigned bit = 0; position < end; bit += 8)
        rest |= (uint64_t)data[position++] << bit;
    return rest;
}
