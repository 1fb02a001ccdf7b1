/* The integers of QUIC and HTTP/3 (RFC 9000, section 16): 1, 2, 4 or 8 bytes, as their first two
   bits say. */
#ifndef CAUSEWAY_RELAY_VARINT_H
#define CAUSEWAY_RELAY_VARINT_H

#include <stddef.h>
#include <stdint.h>

#define VARINT_MAX 8

/* Returns the number of bytes of an integer that begins with this byte. */
static inline size_t varint_size(uint8_t first)
{
    return (size_t)1 << (first >> 6);
}

/* Reads an integer. Returns its size, 0 when the data end before it does. */
static inline size_t varint_read(const uint8_t *data, size_t size, uint64_t *out)
{
    const size_t whole = size > 0 ? varint_size(data[0]) : 1;
    if (size < whole)
        return 0;
    *out = data[0] & 0x3f;
    for (size_t i = 1; i < whole; i++)
        *out = *out << 8 | data[i];
    return whole;
}

/* Writes an integer below 2^62 in as few bytes as it takes. Returns their number. */
static inline size_t varint_write(uint8_t *out, uint64_t value)
{
    const unsigned code = value < 0x40 ? 0 : value < 0x4000 ? 1 : value < 0x40000000 ? 2 : 3;
    const size_t size = (size_t)1 << code;
    for (size_t i = size; i > 0; i--, value >>= 8)
        out[i - 1] = (uint8_t)value;
    out[0] |= (uint8_t)(code << 6);
    return size;
}

#endif
