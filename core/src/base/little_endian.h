/* Reads and writes little-endian integers of netcode, moving a cursor over the bytes. */
#ifndef CAUSEWAY_LITTLE_ENDIAN_H
#define CAUSEWAY_LITTLE_ENDIAN_H

#include "base/shared.h"

#include <stdint.h>
#include <string.h>

CW_SHARED uint64_t cw_little_endian_get(const uint8_t **at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)(*at)[i] << (8 * i);
    *at += bytes;
    return value;
}

/* Eight bytes; most compilers make one load of it. */
CW_SHARED uint64_t cw_little_endian_64(const uint8_t *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24 |
           (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 |
           (uint64_t)at[7] << 56;
}

CW_SHARED void cw_little_endian_get_bytes(const uint8_t **at, void *out, size_t size)
{
    memcpy(out, *at, size);
    *at += size;
}

CW_SHARED void cw_little_endian_put(uint8_t **at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        (*at)[i] = (uint8_t)(value >> (8 * i));
    *at += bytes;
}

CW_SHARED void cw_little_endian_put_bytes(uint8_t **at, const void *bytes, size_t size)
{
    memcpy(*at, bytes, size);
    *at += size;
}

#endif
