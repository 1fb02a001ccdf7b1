/* Tests of an estimate of the offset between two clocks. */
#include "game/clock_offset.h"

#include "fixture.h"

#include <math.h>

/* Learns from an answer that took so long there and so long back. The true offset is 5. */
static void learn(struct cw_offset *offset, double there, double back, double rtt, double now)
{
    const struct cw_offset_limits limits = cw_offset_limits_make(5 - back, 5 + there, now);
    cw_offset_learn(offset, &limits, rtt, now);
}

static struct cw_offset fresh(void)
{
    struct cw_offset offset;
    cw_offset_reset(&offset);
    return offset;
}

TEST(limits_of_each_way_come_together)
{
    struct cw_offset offset = fresh();
    learn(&offset, 0.1, 0.3, 0.4, 10);
    assert_true(fabs(cw_offset_guess(&offset) - 4.9) < 1e-9);
    learn(&offset, 0.3, 0.1, 0.4, 10.5);
    assert_true(fabs(cw_offset_guess(&offset) - 5) < 1e-9);
    assert_true(fabs(cw_offset_error(&offset, 10.5) - 0.1) < 1e-9);
    assert_true(cw_offset_error(&offset, 1010.5) > 0.3); /* clocks drift */
    assert_true(cw_offset_outside(&offset, 4.95) == 0);
    assert_true(fabs(cw_offset_outside(&offset, 4.7) - 0.2) < 1e-9);
    assert_true(fabs(cw_offset_outside(&offset, 5.3) - 0.2) < 1e-9);
    /* Two seconds later the first answer is forgotten. */
    learn(&offset, 0.3, 0.1, 0.4, 12.2);
    assert_true(fabs(cw_offset_guess(&offset) - 5.1) < 1e-9);
}

/* Clocks that drift while an answer waits may make the limits cross by a little: the offset is
   between them then. */
TEST(limits_may_cross)
{
    struct cw_offset offset = fresh();
    const struct cw_offset_limits crossed = cw_offset_limits_make(5.001, 4.999, 10);
    assert_true(fabs(crossed.low - 5) < 1e-9 && fabs(crossed.high - 5) < 1e-9);
    cw_offset_learn(&offset, &crossed, 0, 10);
    assert_true(fabs(cw_offset_guess(&offset) - 5) < 1e-9);
}

TEST(what_cannot_be_is_a_new_beginning)
{
    struct cw_offset offset = fresh();
    const struct cw_offset_limits far = cw_offset_limits_make(7, 7.2, 10.5);
    assert_false(cw_offset_contradicted(&offset, &far));
    learn(&offset, 0.1, 0.1, 0.2, 10);
    assert_true(cw_offset_contradicted(&offset, &far));
    cw_offset_learn(&offset, &far, 0.2, 10.5);
    assert_true(fabs(cw_offset_guess(&offset) - 7.1) < 1e-9);
}

TEST(a_clock_follows_at_once_and_then_slowly)
{
    struct cw_offset offset = fresh();
    bool slow = true;
    for (double now = 10; now < 12; now += 0.1) {
        learn(&offset, 0.1, 0.1, 0.2, now);
        assert_true(fabs(cw_offset_goal(&offset, 4.999, now, &slow) - 5) < 1e-9);
        assert_false(slow);
    }
    /* At 4.98 the clock is not there yet. */
    learn(&offset, 0.1, 0.1, 0.2, 12);
    cw_offset_goal(&offset, 4.96, 11.99, &slow);
    cw_offset_goal(&offset, 4.98, 12.1, &slow);
    assert_false(slow);
    cw_offset_goal(&offset, 4.999, 12.2, &slow);
    cw_offset_goal(&offset, 4.999, 12.4, &slow);
    assert_true(slow);
    /* The clock leaves an impossible value fast. */
    assert_true(fabs(cw_offset_goal(&offset, 4.8, 12.5, &slow) - 5) < 1e-9);
    assert_false(slow);
}

/* Both ways become longer, but for a while one limit still stems from the shorter path. */
TEST(a_clock_stays_while_a_longer_path_misleads)
{
    struct cw_offset offset = fresh();
    bool slow, misled = false;
    for (double now = 10; now < 14; now += 0.05)
        learn(&offset, 0.01, 0.01, 0.03, now);
    learn(&offset, 0.01, 0.1, 0.2, 14);
    for (double now = 14.05; now < 20; now += 0.05) {
        learn(&offset, 0.1, 0.1, 0.21, now);
        misled |= fabs(cw_offset_guess(&offset) - 5) > 0.04;
        assert_true(fabs(cw_offset_goal(&offset, 5.001, now, &slow) - 5) <= 0.001 + 1e-9);
        assert_true(slow);
    }
    assert_true(misled);
    assert_true(fabs(cw_offset_goal(&offset, 5.001, 20, &slow) - 5) < 1e-9);
}

/* When answers are rare, the current limits never agree; this may not last. */
TEST(a_clock_does_not_stay_for_long)
{
    struct cw_offset offset = fresh();
    bool slow;
    double moved = 0;
    for (int i = 0; i < 40; i++) {
        const double now = 10 + i;
        learn(&offset, i % 2 ? 0.1 : 0.05, i % 2 ? 0.05 : 0.1, 0.15, now);
        if (cw_offset_goal(&offset, 5.001, now, &slow) < 5.001)
            moved++;
    }
    assert_true(moved > 10);
}
