/* Tests of running measurements. */
#include "packet/measure.h"

#include "fixture.h"

#include <math.h>

TEST(the_first_sample_is_the_round_trip)
{
    struct cw_rtt rtt = {0};
    assert_true(cw_rtt_timeout(&rtt, 0.1) == 1.0);
    cw_rtt_sample(&rtt, 0.1, 0.1);
    assert_true(unit_same(rtt.smoothed, 0.1) && unit_same(rtt.min, 0.1) && rtt.jitter == 0);
    assert_true(cw_rtt_timeout(&rtt, 0.0) >= 0.2);
    assert_true(cw_rtt_timeout(&rtt, 5.0) == 5.0);
}

TEST(samples_draw_the_round_trip_near)
{
    struct cw_rtt rtt = {0};
    cw_rtt_sample(&rtt, 0.2, 0.1);
    double before = rtt.smoothed;
    for (int i = 0; i < 200; i++) {
        cw_rtt_sample(&rtt, 0.1, 0.1);
        assert_true(rtt.smoothed < before);
        before = rtt.smoothed;
    }
    assert_true(rtt.smoothed < 0.101);
    assert_true(unit_same(rtt.min, 0.1));
    assert_true(rtt.jitter < 0.001);
    assert_true(cw_rtt_timeout(&rtt, 0.0) < 0.21);
    cw_rtt_sample(&rtt, -1, 0.1); /* the clock went back */
    assert_true(rtt.min == 0);
}

/* Jitter is the step from one sample to the next, deviation the distance from the mean. */
TEST(unsteady_samples)
{
    struct cw_rtt rtt = {0};
    for (int i = 0; i < 400; i++)
        cw_rtt_sample(&rtt, i % 2 ? 0.15 : 0.05, 0.1);
    assert_true(fabs(rtt.smoothed - 0.1) < 0.01);
    assert_true(fabs(rtt.jitter - 0.1) < 0.005);
    assert_true(fabs(rtt.deviation - 0.05) < 0.01);
    assert_true(cw_rtt_timeout(&rtt, 0.0) > 0.35);
}

TEST(silence)
{
    struct cw_silence silence = {.last_arrival = NAN};
    cw_silence_end(&silence, false, 10.0);
    assert_true(silence.last_arrival == 10.0 && silence.usual == 0);
    cw_silence_end(&silence, true, 10.1);
    assert_true(fabs(silence.usual - 0.1) < 1e-9);
    cw_silence_end(&silence, false, 11.1); /* packets in between were lost */
    assert_true(fabs(silence.usual - 0.1) < 1e-9);
    assert_true(unit_same(silence.last_arrival, 11.1));
    cw_silence_end(&silence, true, 11.3);
    assert_true(fabs(silence.usual - 0.2) < 1e-9);
    for (int i = 0; i < 100; i++)
        cw_silence_end(&silence, true, 11.3 + 0.05 * (i + 1));
    assert_true(fabs(silence.usual - 0.05) < 1e-9);
}

/* One long silence changes the usual one little, and all packets that come with its end know by how
   much it was longer. */
TEST(an_unusual_silence)
{
    struct cw_silence silence = {.last_arrival = NAN};
    double now = 0;
    for (int i = 0; i < 10; i++, now += 0.05)
        cw_silence_end(&silence, true, now);
    assert_true(silence.excess == 0);
    now += 3;
    for (int i = 0; i < 5; i++, now += 0.001) {
        cw_silence_end(&silence, i % 2, now);
        assert_true(fabs(silence.excess - 3) < 0.01);
        assert_true(silence.usual < 0.11);
    }
    cw_silence_end(&silence, true, now += 0.05);
    assert_true(silence.excess == 0);
    for (int i = 0; i < 8; i++)
        cw_silence_end(&silence, true, now += 1); /* this length is usual by now */
    assert_true(silence.excess == 0 && fabs(silence.usual - 1) < 1e-9);
}

/* When the other end may have been idle, only the part of a silence beyond that counts as usual,
   and a shorter silence is believed. All of a silence beyond the usual one is told as excess. */
TEST(an_idle_silence)
{
    struct cw_silence silence = {.last_arrival = NAN};
    double now = 0;
    for (int i = 0; i < 10; i++, now += 0.05)
        cw_silence_end(&silence, true, now);
    silence.idle = 0.1;
    now = silence.last_arrival;
    for (int i = 0; i < 20; i++) {
        cw_silence_end(&silence, true, now += 0.11);
        assert_true(fabs(silence.usual - 0.05) < 1e-9);
        assert_true(fabs(silence.excess - 0.06) < 1e-9);
    }
    cw_silence_end(&silence, true, now += 0.3);
    assert_true(fabs(silence.usual - 0.1) < 1e-9); /* twice as long at most */
    for (int i = 0; i < 4; i++)
        cw_silence_end(&silence, true, now += 0.3);
    assert_true(fabs(silence.usual - 0.2) < 1e-9);
    for (int i = 0; i < 20; i++)
        cw_silence_end(&silence, true, now += 0.11);
    assert_true(fabs(silence.usual - 0.11) < 1e-9);
    /* Before anything is known, the whole silence counts. */
    silence = (struct cw_silence){.last_arrival = NAN, .idle = 0.1};
    cw_silence_end(&silence, true, 1);
    cw_silence_end(&silence, true, 1.11);
    assert_true(fabs(silence.usual - 0.11) < 1e-9);
}

TEST(no_timeout_is_longer_than_ten_seconds)
{
    struct cw_rtt rtt = {0};
    cw_rtt_sample(&rtt, 16.8, 0.1);
    assert_true(cw_rtt_timeout(&rtt, 0.1) == CW_LONGEST_TIMEOUT);
    assert_true(cw_rtt_timeout(&rtt, 30) == 30);
}

/* A steady flow has its true rate, whatever the time between two looks. */
TEST(a_rate_is_that_of_the_last_second)
{
    const double steps[] = {0.01, 0.25, 1, 5};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct cw_rate rate = {0};
        double bytes = 0;
        for (double now = 0; now < 10; now += steps[i])
            cw_rate_refresh(&rate, (uint64_t)(bytes += 1000 * steps[i]), steps[i]);
        assert_true(fabs(rate.bytes_per_second - 1000) < 1);
        /* Old bytes are forgotten within seconds. */
        for (double now = 0; now < 10; now += steps[i])
            cw_rate_refresh(&rate, (uint64_t)bytes, steps[i]);
        assert_true(fabs(rate.bytes_per_second) < 1);
    }
}

/* A look after half a second counts half. */
TEST(a_short_look_at_a_rate_counts_less)
{
    struct cw_rate rate = {.bytes_before = 5000};
    cw_rate_refresh(&rate, 6000, 0.5);
    assert_true(fabs(rate.bytes_per_second - 1000) < 1e-9);
    cw_rate_refresh(&rate, 6000 + 8000, 2);
    assert_true(fabs(rate.bytes_per_second - 4000) < 1e-9);
    /* A counter of 64 bits has values that a double cannot hold. */
    rate.bytes_before = UINT64_MAX - 100;
    cw_rate_refresh(&rate, UINT64_MAX, 1);
    assert_true(fabs(rate.bytes_per_second - 100) < 1e-9);
}

TEST(loss_follows_what_happens)
{
    double share = 0;
    for (int i = 0; i < 2000; i++)
        share = cw_loss_sample(share, i % 4 == 0);
    assert_true(share > 0.23 && share < 0.27);
    for (int i = 0; i < 2000; i++)
        share = cw_loss_sample(share, true);
    assert_true(share > 0.999 && share <= 1);
    for (int i = 0; i < 2000; i++)
        share = cw_loss_sample(share, false);
    assert_true(share >= 0 && share < 0.001);
}
