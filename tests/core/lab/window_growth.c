/* Tests of how a byte stream's congestion window grows and shrinks. */
#include "window_rig.h"

#include <math.h>

static struct window_rig rig_of(enum cw_window_control control, uint32_t initial)
{
    struct cw_window_config config = rig_config();
    config.control = control;
    config.max_segments = 4096;
    config.initial_window = initial;
    config.send_buffer_bytes = config.receive_buffer_bytes = 1 << 20;
    return rig_with(&config);
}

static double cwnd_of(const struct window_rig *rig)
{
    return window_stats(rig->a).cwnd;
}

static void fill(struct window_rig *rig)
{
    const size_t room = cw_window_room(rig->a);
    if (room > 0)
        rig_send(rig, room);
}

/* Runs a round trip in which the whole window is used. Returns how many segments were sent. */
static size_t full_round(struct window_rig *rig)
{
    fill(rig);
    return rig_round(rig);
}

/* Loses segment 0 of a full window, which is repaired in the next round trip. */
static void lose_one(struct window_rig *rig)
{
    fill(rig);
    ROUND_LOSING(rig, 0);
}

TEST(slow_start_begins_with_10_and_doubles)
{
    struct cw_window_config config = rig_config();
    struct window_rig rig = rig_with(&config);
    for (size_t window = 10; window <= 320; window *= 2)
        assert_int_equal(full_round(&rig), window);
    assert_true(window_stats(rig.a).ssthresh > 1e300);
}

TEST(reno_halves_and_then_grows_by_one_each_round_trip)
{
    struct window_rig rig = rig_of(CW_WINDOW_RENO, 40);
    lose_one(&rig);
    assert_near(cwnd_of(&rig), 20);
    assert_near(window_stats(rig.a).ssthresh, 20);
    while (window_stats(rig.b).bytes_missing_at < 41 * SEGMENT)
        full_round(&rig);
    const double before = cwnd_of(&rig);
    for (int i = 0; i < 30; i++)
        full_round(&rig);
    const double grown = cwnd_of(&rig) - before;
    assert_true(grown > 28 && grown <= 30);
}

/* The window follows RFC 9438: W(t) = 0.4 (t - K)^3 + W_max with K = cbrt((W_max - cwnd) / 0.4),
   one round trip ahead. Reno would take 600 round trips from 1400 to 2000, so that it does not
   count here. */
TEST(cubic_follows_its_function)
{
    struct window_rig rig = rig_of(CW_WINDOW_CUBIC, 1000);
    lose_one(&rig);
    assert_near(cwnd_of(&rig), 700);
    const double plateau = 1000, reach = cbrt((plateau - 700) / 0.4);
    full_round(&rig); /* this round repairs the loss */
    double begin = 0;
    for (int i = 0; rig.now - begin < 2 * reach || begin == 0; i++) {
        assert_true(i < 1000);
        full_round(&rig);
        if (begin == 0)
            begin = rig.now; /* the time of the first ack after the recovery */
        /* Each ack moves the window to where it should be one round trip later. */
        const double t = rig.now - begin + 2 * ONE_WAY - reach;
        const double should = 0.4 * t * t * t + plateau;
        assert_true(cwnd_of(&rig) > should - 1 && cwnd_of(&rig) < should + 1);
    }
    assert_true(cwnd_of(&rig) > 1250);
}

/* On a short path CUBIC alone would be slower than Reno. */
TEST(cubic_is_not_slower_than_reno)
{
    struct window_rig rig = rig_of(CW_WINDOW_CUBIC, 20);
    lose_one(&rig);
    assert_near(cwnd_of(&rig), 14);
    for (int i = 0; i < 60; i++)
        full_round(&rig);
    /* In 6 s the function alone would give 0.4 (6.1 - 2.47)^3 + 20 = 39. A growth of 0.53 a round
       trip up to 20 and then of 1 is more. */
    assert_true(cwnd_of(&rig) > 55);
}

/* A loss below the last plateau lowers the plateau, so that others get more room sooner. */
TEST(cubic_gives_way_when_it_shrinks)
{
    double windows[2];
    for (int i = 0; i < 2; i++) {
        struct window_rig rig = rig_of(CW_WINDOW_CUBIC, i == 0 ? 1000 : 700);
        lose_one(&rig);
        full_round(&rig);
        if (i == 0) {
            full_round(&rig);
            lose_one(&rig);
            full_round(&rig);
        }
        for (int j = 0; j < 80; j++)
            full_round(&rig);
        windows[i] = cwnd_of(&rig);
    }
    assert_true(windows[0] < windows[1] - 20);
    assert_true(windows[0] > 500);
}

TEST(a_timeout_leaves_one_segment_and_half_the_threshold)
{
    for (int control = CW_WINDOW_RENO; control <= CW_WINDOW_CUBIC; control++) {
        struct window_rig rig = rig_of((enum cw_window_control)control, 40);
        const double threshold = control == CW_WINDOW_RENO ? 20 : 28;
        rig_send(&rig, 40 * SEGMENT);
        batch_of(rig.a, rig.now); /* all are lost */
        rig_wait_for_timer(&rig);
        rig_wait_for_timer(&rig);
        assert_near(cwnd_of(&rig), 1);
        assert_near(window_stats(rig.a).ssthresh, threshold);
        for (double window = 2; window < threshold; window *= 2) {
            rig_round(&rig);
            assert_near(cwnd_of(&rig), window);
        }
    }
}

TEST(a_window_that_is_not_used_does_not_grow)
{
    for (int control = CW_WINDOW_RENO; control <= CW_WINDOW_CUBIC; control++) {
        struct window_rig rig = rig_of((enum cw_window_control)control, 40);
        for (int i = 0; i < 50; i++) {
            rig_send(&rig, 20 * SEGMENT);
            rig_round(&rig);
        }
        assert_near(cwnd_of(&rig), 40);
        lose_one(&rig);
        while (window_stats(rig.a).segments_in_flight > 0 || window_stats(rig.a).bytes_unsent > 0)
            rig_round(&rig);
        const double after = cwnd_of(&rig);
        for (int i = 0; i < 50; i++) {
            rig_send(&rig, 10 * SEGMENT);
            rig_round(&rig);
        }
        assert_near(cwnd_of(&rig), after);
    }
}
