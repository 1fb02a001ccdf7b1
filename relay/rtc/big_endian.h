/* Big-endian numbers in byte arrays, as in STUN, SCTP and DCEP. */
#ifndef CAUSEWAY_RELAY_RTC_BIG_ENDIAN_H
#define CAUSEWAY_RELAY_RTC_BIG_ENDIAN_H

#include <stddef.h>
#include <stdint.h>

static inline uint16_t load16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void store16(uint8_t *p, uint16_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

static inline void store32(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)(value >> 24);
    p[1] = (uint8_t)(value >> 16);
    p[2] = (uint8_t)(value >> 8);
    p[3] = (uint8_t)value;
}

/* Returns the next multiple of four, to which attributes and chunks are padded. */
static inline size_t padded(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

#endif
