/* Tests of the mean and the shares of latencies. */
#include "lab/latencies.h"

#include "fixture.h"

#include <math.h>

TEST(nothing_has_no_latency)
{
    const struct cw_lab_latencies none = {0};
    assert_true(cw_lab_latencies_mean(&none) == 0);
    assert_true(cw_lab_latencies_quantile(&none, 0.5) == 0);
}

/* The latencies go from a tenth of a millisecond to several minutes. */
TEST(each_class_is_narrow)
{
    for (double seconds = 0.0005; seconds < 400; seconds *= 1.003) {
        struct cw_lab_latencies latencies = {0};
        cw_lab_latencies_add(&latencies, seconds);
        const double found = cw_lab_latencies_quantile(&latencies, 0.5);
        assert_true(fabs(found - seconds) <= fmax(0.00006, 0.005 * seconds));
        assert_true(fabs(cw_lab_latencies_mean(&latencies) - seconds) < 1e-9);
    }
}

TEST(shares_are_counted)
{
    struct cw_lab_latencies latencies = {0};
    for (int i = 1; i <= 100; i++)
        cw_lab_latencies_add(&latencies, i / 100.0);
    assert_true(fabs(cw_lab_latencies_mean(&latencies) - 0.505) < 1e-9);
    for (int i = 1; i <= 100; i++)
        assert_true(fabs(cw_lab_latencies_quantile(&latencies, i / 100.0) - i / 100.0) < 0.005);
    assert_true(cw_lab_latencies_quantile(&latencies, 0) < 0.0101);
    assert_true(cw_lab_latencies_quantile(&latencies, -1) < 0.0101);
    assert_true(cw_lab_latencies_quantile(&latencies, 2) > 0.99);
}

TEST(what_is_out_of_range_has_a_place)
{
    struct cw_lab_latencies latencies = {0};
    cw_lab_latencies_add(&latencies, -1);
    assert_true(cw_lab_latencies_quantile(&latencies, 1) < 0.0001);
    assert_true(cw_lab_latencies_mean(&latencies) == 0);
    cw_lab_latencies_add(&latencies, 1e300);
    assert_true(cw_lab_latencies_quantile(&latencies, 1) > 400);
    cw_lab_latencies_add(&latencies, (double)NAN);
    assert_int_equal(latencies.count, 2);
}
