/* Tests of blends between two states, and beyond the second one. */
#include "causeway/interpolation.h"

#include "base/prng.h"
#include "fixture.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265f

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.6f is not %.6f", value, expected);
}

TEST(numbers_go_straight)
{
    assert_near(cw_lerp(2, 6, 0), 2, 0);
    assert_near(cw_lerp(2, 6, 0.25f), 3, 0);
    assert_near(cw_lerp(2, 6, 1), 6, 0);
    assert_near(cw_lerp(2, 6, 1.5f), 8, 0);
}

TEST(angles_take_the_shorter_way)
{
    assert_near(cw_lerp_angle(1, 2, 0.5f), 1.5, 1e-6);
    assert_near(cw_lerp_angle(0.1f, 2 * PI - 0.1f, 0.5f), 0, 1e-6);
    assert_near(cw_lerp_angle(-3, 3, 1), 3 - 2 * PI, 1e-6);
    assert_near(cw_lerp_angle(20 * PI, 0.5f, 1), 20 * PI + 0.5, 1e-4);
}

/* The cubic is x = t^3 - t, from t = 1 to t = 3. */
TEST(a_cubic_is_followed_exactly)
{
    for (float t = 1; t <= 3; t += 0.125f)
        assert_near(cw_hermite(0, 2, 24, 26, 2, (t - 1) / 2), t * t * t - t, 1e-5);
    assert_near(cw_hermite(0, 2, 24, 26, 2, 1.5f), 24 + 26, 0);
}

static void turn_about(const float axis[3], float angle, float out[4])
{
    for (int i = 0; i < 3; i++)
        out[i] = axis[i] * sinf(angle / 2);
    out[3] = cosf(angle / 2);
}

static double angle_between(const float a[4], const float b[4])
{
    double far = 0, near = 0;
    for (int i = 0; i < 4; i++) {
        far += pow((double)a[i] + b[i], 2);
        near += pow((double)a[i] - b[i], 2);
    }
    return 4 * asin(fmin(1, sqrt(fmin(far, near)) / 2));
}

TEST(rotations_turn_evenly)
{
    struct cw_prng random = {1};
    for (int run = 0; run < 2000; run++) {
        float axis[3], length = 0, from[4], to[4], out[4], expected[4];
        for (int i = 0; i < 3; i++) {
            axis[i] = (float)cw_prng_share(&random) - 0.5f;
            length += axis[i] * axis[i];
        }
        for (int i = 0; i < 3; i++)
            axis[i] /= sqrtf(length);
        const float start = PI * (float)cw_prng_share(&random);
        const float angle = 0.99f * PI * (float)cw_prng_share(&random);
        turn_about(axis, start, from);
        turn_about(axis, start + angle, to);
        for (int i = 0; run % 2 && i < 4; i++)
            to[i] = -to[i];
        for (float fraction = 0; fraction <= 3.5f; fraction += 0.0625f) {
            cw_slerp(from, to, fraction, out);
            turn_about(axis, start + angle * fraction, expected);
            assert_near(angle_between(out, expected), 0, 0.001);
        }
    }
}

TEST(rotations_at_the_ends)
{
    const float same[4] = {0, 0, 0, 1}, opposite[4] = {0, 0, 1, 0};
    float out[4];
    cw_slerp(same, same, 0.3f, out);
    assert_memory_equal(out, same, sizeof out);
    cw_slerp(same, opposite, 0, out);
    assert_memory_equal(out, same, sizeof out);
    cw_slerp(same, opposite, 1, out);
    assert_memory_equal(out, opposite, sizeof out);
    cw_slerp(same, opposite, (float)INFINITY, out);
    assert_near(angle_between(out, same), 0, 0.001);
    memcpy(out, opposite, sizeof out);
    cw_slerp(same, out, 0.5f, out);
    assert_near(angle_between(out, same), PI / 2, 0.001);
}
