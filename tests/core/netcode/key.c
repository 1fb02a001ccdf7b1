#include "causeway/token.h"

#include "fixture.h"

#include <string.h>

#define DIGITS "00112233445566778899aabbccddeeffFFEEDDCCBBAA99887766554433221100"

TEST(digits_are_a_key)
{
    uint8_t key[CW_KEY_BYTES];
    assert_ok(cw_key_parse(DIGITS, key));
    for (int i = 0; i < 16; i++) {
        assert_int_equal(key[i], 0x11 * i);
        assert_int_equal(key[31 - i], 0x11 * i);
    }
}

TEST(anything_else_is_none)
{
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
