/* The field against the definition: polynomials, multiplied and divided bit by bit. */
#include "base/gf256.h"

#include "unit.h"

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

static void test_products_are_those_of_polynomials(void **state)
{
    (void)state;
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++)
            assert_int_equal(cw_gf256_multiply((uint8_t)a, (uint8_t)b),
                             slow_product((uint8_t)a, (uint8_t)b));
    }
}

static void test_each_element_but_zero_has_an_inverse(void **state)
{
    (void)state;
    assert_int_equal(cw_gf256_inverse(0), 0);
    for (unsigned a = 1; a < 256; a++)
        assert_int_equal(slow_product((uint8_t)a, cw_gf256_inverse((uint8_t)a)), 1);
}

static void test_words_are_multiplied_byte_by_byte(void **state)
{
    (void)state;
    for (unsigned factor = 0; factor < 256; factor++) {
        uint8_t bytes[256], sum[264];
        memset(sum, 0x5A, sizeof sum);
        for (unsigned i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)(i * 167 + 3);
        cw_gf256_add(sum, bytes, (uint8_t)factor, sizeof bytes);
        for (unsigned i = 0; i < sizeof bytes; i++)
            assert_int_equal(sum[i], 0x5A ^ slow_product(bytes[i], (uint8_t)factor));
        for (unsigned i = sizeof bytes; i < sizeof sum; i++)
            assert_int_equal(sum[i], 0x5A);
        cw_gf256_add(bytes, bytes, (uint8_t)factor ^ 1, sizeof bytes);
        for (unsigned i = 0; i < sizeof bytes; i++)
            assert_int_equal(bytes[i], slow_product((uint8_t)(i * 167 + 3), (uint8_t)factor));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_are_those_of_polynomials),
        cmocka_unit_test(test_each_element_but_zero_has_an_inverse),
        cmocka_unit_test(test_words_are_multiplied_byte_by_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
