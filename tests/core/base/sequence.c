#include "base/sequence.h"

#include "fixture.h"

TEST(test_newer_near_and_across_the_wrap)
{
    assert_true(cw_sequence_newer(1, 0));
    assert_false(cw_sequence_newer(0, 1));
    assert_false(cw_sequence_newer(7, 7));
    assert_true(cw_sequence_newer(0, 65535));
    assert_false(cw_sequence_newer(65535, 0));
    assert_true(cw_sequence_newer(100, 65000));
}

TEST(test_exactly_one_of_two_different_numbers_is_newer)
{
    for (uint32_t a = 0; a < 65536; a += 257) {
        for (uint32_t b = 0; b < 65536; b++) {
            const int either = cw_sequence_newer((uint16_t)a, (uint16_t)b) +
                               cw_sequence_newer((uint16_t)b, (uint16_t)a);
            assert_int_equal(either, a == b ? 0 : 1);
        }
    }
    assert_true(cw_sequence_newer(32768, 0));
    assert_false(cw_sequence_newer(0, 32768));
}

TEST(test_difference_takes_the_shorter_way)
{
    assert_int_equal(cw_sequence_difference(5, 3), 2);
    assert_int_equal(cw_sequence_difference(3, 5), -2);
    assert_int_equal(cw_sequence_difference(1, 65535), 2);
    assert_int_equal(cw_sequence_difference(65535, 1), -2);
    assert_int_equal(cw_sequence_difference(32768, 0), -32768);
}
