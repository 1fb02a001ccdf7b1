/* Tests of the field against its definition: polynomials, multiplied and divided bit by bit. */
#include "base/gf256.h"

#include "base/prng.h"
#include "fixture.h"

#include <string.h>

static uint8_t slow_product(uint8_t a, uint8_t b)
{
    unsigned product = 0;
    for (int i = 0; i < 8; i++)
        product ^= b >> i & 1 ? (unsigned)a << i : 0;
    for (int i = 14; i >= 8; i--)
        product ^= product >> i & 1 ? 0x11Bu << (i - 8) : 0;
    return (uint8_t)product;
}

TEST(test_products_are_those_of_polynomials)
{
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++)
            assert_int_equal(cw_gf256_multiply((uint8_t)a, (uint8_t)b),
                             slow_product((uint8_t)a, (uint8_t)b));
    }
}

TEST(test_each_element_but_zero_has_an_inverse)
{
    assert_int_equal(cw_gf256_inverse(0), 0);
    for (unsigned a = 1; a < 256; a++)
        assert_int_equal(slow_product((uint8_t)a, cw_gf256_inverse((uint8_t)a)), 1);
}

#define STRIDE 72 /* bytes of a row: a factor, bytes that must stay as they are, and a strip */
#define FIRST  (STRIDE - CW_GF256_STRIP)

struct rows {
    uint8_t bytes[CW_GF256_ROWS][STRIDE];
    uint8_t factors[CW_GF256_ROWS];
    uint8_t strip[CW_GF256_STRIP];
};

static void fill(struct rows *rows, uint64_t seed)
{
    struct cw_prng random = {.state = seed};
    for (int row = 0; row < CW_GF256_ROWS; row++) {
        for (int i = 0; i < STRIDE; i++)
            rows->bytes[row][i] = (uint8_t)cw_prng_bits(&random);
        rows->factors[row] = rows->bytes[row][0];
        rows->strip[row] = (uint8_t)cw_prng_bits(&random);
    }
}

static uint64_t some_rows(uint64_t seed)
{
    return seed % 8 == 0 ? UINT64_MAX : 0x123456789ABCDEF1u * seed;
}

TEST(test_rows_are_added_to_a_strip)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct rows rows;
        uint8_t sum[CW_GF256_STRIP];
        fill(&rows, seed);
        memcpy(sum, rows.strip, sizeof sum);
        const struct cw_gf256_bits factors = cw_gf256_split(rows.factors);
        cw_gf256_gather(sum, rows.bytes[0] + FIRST, STRIDE, some_rows(seed), &factors);
        for (int row = 0; row < CW_GF256_ROWS; row++) {
            for (int i = 0; i < CW_GF256_STRIP && some_rows(seed) >> row & 1; i++)
                sum[i] ^= slow_product(rows.bytes[row][FIRST + i], rows.factors[row]);
        }
        assert_memory_equal(sum, rows.strip, sizeof sum);
    }
}

TEST(test_a_strip_is_added_to_rows)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct rows rows, before;
        fill(&rows, seed);
        fill(&before, seed);
        cw_gf256_scatter(rows.bytes[0] + FIRST, rows.bytes[0], STRIDE, some_rows(seed), rows.strip,
                         1);
        for (int row = 0; row < CW_GF256_ROWS; row++) {
            for (int i = 0; i < CW_GF256_STRIP && some_rows(seed) >> row & 1; i++)
                before.bytes[row][FIRST + i] ^= slow_product(rows.strip[i], rows.factors[row]);
        }
        assert_memory_equal(&rows, &before, sizeof rows);
    }
}

/* The strip and its row are the same when a row is multiplied. */
TEST(test_a_strip_is_added_to_itself)
{
    for (unsigned factor = 0; factor < 256; factor++) {
        const uint8_t less = (uint8_t)(factor ^ 1);
        struct rows rows, before;
        fill(&rows, factor);
        fill(&before, factor);
        cw_gf256_scatter(rows.strip, &less, 0, 1, rows.strip, 1);
        for (int i = 0; i < CW_GF256_STRIP; i++)
            assert_int_equal(rows.strip[i], slow_product(before.strip[i], (uint8_t)factor));
    }
}

TEST(test_bytes_that_are_not_zero_are_found)
{
    for (unsigned value = 1; value < 256; value++) {
        for (unsigned at = 0; at < 64; at++) {
            uint8_t bytes[64] = {0};
            bytes[at] = (uint8_t)value;
            bytes[63] |= 1;
            assert_int_equal(cw_gf256_non_zero(bytes), (uint64_t)1 << at | (uint64_t)1 << 63);
        }
    }
}
