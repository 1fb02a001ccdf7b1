/* Tests of pseudo-random numbers, which are the same everywhere, and even. */
#include "base/prng.h"

#include "fixture.h"

/* The expected numbers are the first ones of SplitMix64 from 0 on, as published with it. */
TEST(the_same_everywhere)
{
    struct cw_prng random = {0};
    assert_true(cw_prng_bits(&random) == 0xe220a8397b1dcdaf);
    assert_true(cw_prng_bits(&random) == 0x6e789e6aa1b965f4);
    assert_true(cw_prng_bits(&random) == 0x06c45d188009454f);
}

TEST(shares_are_even_and_below_1)
{
    struct cw_prng random = {1};
    int tenths[10] = {0};
    for (int i = 0; i < 100000; i++) {
        const double share = cw_prng_share(&random);
        assert_true(share >= 0 && share < 1);
        tenths[(int)(share * 10)]++;
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(tenths[i], 9500, 10500);
}

TEST(chances_are_kept)
{
    struct cw_prng random = {2};
    int hits = 0;
    for (int i = 0; i < 100000; i++) {
        assert_false(cw_prng_chance(&random, 0));
        assert_true(cw_prng_chance(&random, 1));
        hits += cw_prng_chance(&random, 0.25);
    }
    assert_in_range(hits, 24000, 26000);
}

TEST(every_number_below_a_limit_comes)
{
    struct cw_prng random = {3};
    int counts[7] = {0};
    for (int i = 0; i < 70000; i++) {
        const uint32_t number = cw_prng_below(&random, 7);
        assert_true(number < 7);
        counts[number]++;
        assert_int_equal(cw_prng_below(&random, 1), 0);
    }
    for (int i = 0; i < 7; i++)
        assert_in_range(counts[i], 9500, 10500);
}
