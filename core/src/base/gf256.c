#include "base/gf256.h"

#include <string.h>

#define POLYNOMIAL 0x1B /* without x^8 */
#define LOWEST     0x0101010101010101u

static uint8_t times_x(uint8_t a)
{
    return (uint8_t)(a << 1 ^ (a >> 7) * POLYNOMIAL);
}

/* Without carries, then the remainder of the high half. */
uint8_t cw_gf256_multiply(uint8_t a, uint8_t b)
{
    uint32_t product = 0;
    for (int i = 0; i < 8; i++)
        product ^= (b & 1u << i) * a;
    const uint32_t high = product >> 8;
    product ^= high ^ high << 1 ^ high << 3 ^ high << 4;
    const uint32_t rest = product >> 8 ^ high;
    return (uint8_t)(product ^ rest ^ rest << 1 ^ rest << 3 ^ rest << 4);
}

/* a^254, as a^255 is 1 */
uint8_t cw_gf256_inverse(uint8_t a)
{
    uint8_t power = a; /* a^(2^i - 1) */
    for (int i = 1; i < 7; i++)
        power = cw_gf256_multiply(cw_gf256_multiply(power, power), a);
    return cw_gf256_multiply(power, power);
}

/* Bit b of every byte of a word, a word of zeros and ones, times factor * x^b has no carries. */
void cw_gf256_add(uint8_t *sum, const uint8_t *bytes, uint8_t factor, size_t size)
{
    uint64_t powers[8] = {factor};
    for (int b = 1; b < 8; b++)
        powers[b] = times_x((uint8_t)powers[b - 1]);
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word, total;
        memcpy(&word, bytes + i, 8);
        memcpy(&total, sum + i, 8);
        for (int b = 0; b < 8; b++)
            total ^= (word >> b & LOWEST) * powers[b];
        memcpy(sum + i, &total, 8);
    }
}
