#include "causeway/token.h"

#include "unit.h"

#include <string.h>

#define DIGITS "00112233445566778899aabbccddeeffFFEEDDCCBBAA99887766554433221100"

static void digits_are_a_key(void **state)
{
    (void)state;
    uint8_t key[CW_KEY_BYTES];
    assert_int_equal(cw_key_parse(DIGITS, key), CW_OK);
    for (int i = 0; i < 16; i++) {
        assert_int_equal(key[i], 0x11 * i);
        assert_int_equal(key[31 - i], 0x11 * i);
    }
}

static void anything_else_is_none(void **state)
{
    (void)state;
    const char *texts[] = {NULL,
                           "",
                           "0011",
                           DIGITS "0",
                           DIGITS "\n",
                           " " DIGITS,
                           "g0112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
                           "00112233445566778899aabbccddeeff00112233445566778899aabbccddee f"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        uint8_t key[CW_KEY_BYTES], before[CW_KEY_BYTES];
        memset(key, 7, sizeof key);
        memcpy(before, key, sizeof key);
        assert_int_equal(cw_key_parse(texts[i], key), CW_ERROR_KEY);
        assert_memory_equal(key, before, sizeof key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_are_a_key),
        cmocka_unit_test(anything_else_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
