#include "base/gf256.h"

#include "base/little_endian.h"

#include "causeway/bits.h"

#include <string.h>

#define LOWEST  0x0101010101010101u
#define HIGHEST 0x8080808080808080u
#define REST    0x1B1B1B1B1B1B1B1Bu /* x^8 in each byte, reduced */
#define WORDS   (CW_GF256_STRIP / 8)

struct strip {
    uint64_t words[WORDS];
};

/* This multiplies without carries, and then takes the remainder of the high half. */
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

/* The lowest bits of eight bytes, side by side. */
static uint64_t lowest_bits(uint64_t word)
{
    return (word & LOWEST) * 0x0102040810204080u >> 56;
}

struct cw_gf256_bits cw_gf256_split(const uint8_t *factors)
{
    struct cw_gf256_bits bits = {{0}};
    for (int i = 0; i < CW_GF256_ROWS; i += 8) {
        const uint64_t word = cw_little_endian_64(factors + i);
        for (int b = 0; b < 8; b++)
            bits.rows[b] |= lowest_bits(word >> b) << i;
    }
    return bits;
}

uint64_t cw_gf256_non_zero(const uint8_t *bytes)
{
    uint64_t non_zero = 0;
    for (int i = 0; i < 64; i += 8) {
        const uint64_t word = cw_little_endian_64(bytes + i);
        non_zero |= lowest_bits((((word & ~HIGHEST) + ~HIGHEST) | word) >> 7) << i;
    }
    return non_zero;
}

CW_INLINE void times_x(struct strip *strip)
{
    for (int i = 0; i < WORDS; i++) {
        const uint64_t word = strip->words[i], high = word & HIGHEST;
        strip->words[i] = (word ^ high) << 1 ^ ((high - (high >> 7)) & REST);
    }
}

/* Adds word by word, so that compilers keep the sum in registers. */
CW_INLINE void add(struct strip *sum, const void *bytes)
{
    for (int i = 0; i < WORDS; i++) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)bytes + 8 * i, 8);
        sum->words[i] ^= word;
    }
}

void cw_gf256_gather(uint8_t *sum, const uint8_t *rows, size_t stride, uint64_t which,
                     const struct cw_gf256_bits *factors)
{
    struct strip total = {{0}};
    if (which == 0)
        return;
    for (int b = 7; b >= 0; b--) {
        times_x(&total);
        for (uint64_t left = which & factors->rows[b]; left > 0; left &= left - 1)
            add(&total, rows + cw_lowest_bit(left) * stride);
    }
    add(&total, sum);
    memcpy(sum, &total, sizeof total);
}

static void scatter_strip(uint8_t *rows, const uint8_t *factors, size_t stride, uint64_t which,
                          const uint8_t *strip)
{
    struct strip powers[8]; /* the strip times x^b */
    memcpy(&powers[0], strip, sizeof *powers);
    for (int b = 1; b < 8; b++) {
        powers[b] = powers[b - 1];
        times_x(&powers[b]);
    }
    for (; which > 0; which &= which - 1) {
        const size_t at = cw_lowest_bit(which) * stride;
        struct strip total = {{0}};
        for (uint32_t left = factors[at]; left > 0; left &= left - 1)
            add(&total, &powers[cw_lowest_bit(left)]);
        add(&total, rows + at);
        memcpy(rows + at, &total, sizeof total);
    }
}

/* This goes from the last strip to the first, as factors may lie in the first. */
void cw_gf256_scatter(uint8_t *rows, const uint8_t *factors, size_t stride, uint64_t which,
                      const uint8_t *bytes, uint32_t strips)
{
    while (which > 0 && strips-- > 0)
        scatter_strip(rows + strips * CW_GF256_STRIP, factors, stride, which,
                      bytes + strips * CW_GF256_STRIP);
}
