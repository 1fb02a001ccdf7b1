/* Tests of integers in byte strings. */
#include "base/little_endian.h"

#include "fixture.h"

TEST(the_lowest_byte_comes_first)
{
    uint8_t bytes[8] = {0};
    uint8_t *out = bytes;
    cw_little_endian_put(&out, 0x1234, 2);
    cw_little_endian_put(&out, 0xaabbccdd, 4);
    assert_ptr_equal(out, bytes + 6);
    const uint8_t expected[] = {0x34, 0x12, 0xdd, 0xcc, 0xbb, 0xaa, 0, 0};
    assert_memory_equal(bytes, expected, sizeof expected);
}

TEST(every_width_comes_back)
{
    const uint64_t value = 0xf1e2d3c4b5a69788;
    for (unsigned width = 1; width <= 8; width++) {
        uint8_t bytes[9] = {0};
        uint8_t *out = bytes;
        const uint8_t *in = bytes;
        cw_little_endian_put(&out, value, width);
        assert_ptr_equal(out, bytes + width);
        assert_int_equal(bytes[width], 0);
        assert_true(cw_little_endian_get(&in, width) ==
                    value << (64 - 8 * width) >> (64 - 8 * width));
        assert_ptr_equal(in, bytes + width);
    }
}

TEST(bytes_are_copied)
{
    uint8_t bytes[6] = {0}, back[3];
    uint8_t *out = bytes + 1;
    const uint8_t *in = bytes + 1;
    cw_little_endian_put_bytes(&out, "abc", 3);
    assert_ptr_equal(out, bytes + 4);
    assert_memory_equal(bytes, "\0abc\0", 6);
    cw_little_endian_get_bytes(&in, back, 3);
    assert_ptr_equal(in, bytes + 4);
    assert_memory_equal(back, "abc", 3);
}
