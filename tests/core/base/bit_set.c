/* Tests of sets of numbers. */
#include "base/bit_set.h"

#include "base/prng.h"
#include "fixture.h"

#include <stdbool.h>
#include <string.h>

#define COUNT 150

TEST(next_matches_a_model)
{
    uint64_t bits[3] = {0};
    bool model[COUNT] = {false};
    struct cw_prng random = {1};
    for (int round = 0; round < 3000; round++) {
        const uint32_t bit = cw_prng_below(&random, COUNT);
        const bool is_set = cw_prng_chance(&random, 0.2);
        if (is_set)
            cw_bit_set(bits, bit);
        else
            cw_bit_clear(bits, bit);
        model[bit] = is_set;
        uint32_t expected = CW_BIT_NONE;
        for (uint32_t from = COUNT; from-- > 0;) {
            expected = model[from] ? from : expected;
            assert_int_equal(cw_bit_next(bits, from, COUNT), expected);
        }
    }
}

TEST(bits_beyond_the_count_do_not_count)
{
    uint64_t bits[2] = {0};
    cw_bit_set(bits, 70);
    assert_int_equal(cw_bit_next(bits, 0, 71), 70);
    assert_int_equal(cw_bit_next(bits, 0, 70), CW_BIT_NONE);
    assert_int_equal(cw_bit_next(bits, 71, 71), CW_BIT_NONE);
    cw_bit_clear(bits, 70);
    assert_int_equal(bits[1], 0);
}
