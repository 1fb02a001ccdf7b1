/* Tests of the retransmission timeout of a byte stream: its value, its backoff, and which acks are
   samples. */
#include "window_rig.h"

/* Sends one byte there and its ack back, in `rtt` seconds. */
static void sample(struct window_rig *rig, double rtt)
{
    rig_send(rig, 1);
    struct batch *there = batch_of(rig->a, rig->now);
    rig->now += rtt;
    arrive(there, 0, rig->b, rig->now);
    struct batch *back = batch_of(rig->b, rig->now);
    assert_int_equal(back->count, 1);
    arrive(back, 0, rig->a, rig->now);
}

TEST(the_first_timeout_is_the_initial_one)
{
    struct window_rig rig = rig_default();
    assert_near(window_stats(rig.a).rto, 1);
    rig_send(&rig, 1);
    batch_of(rig.a, rig.now);
    cw_window_update(rig.a, rig.now + 0.999);
    assert_int_equal(window_stats(rig.a).timeouts, 0);
    cw_window_update(rig.a, rig.now + 1);
    assert_int_equal(window_stats(rig.a).timeouts, 1);
}

/* The timeout follows RFC 6298: the first sample sets RTTVAR to its half, later ones move it by a
   quarter and SRTT by an eighth. */
TEST(the_timeout_follows_the_samples)
{
    struct window_rig rig = rig_default();
    double rtt = 0.4, deviation = 0.2;
    sample(&rig, 0.4);
    assert_near(window_stats(rig.a).rtt, rtt);
    assert_near(window_stats(rig.a).rto, 0.4 + 4 * 0.2);
    const double samples[] = {0.4, 0.8, 0.3, 0.5};
    for (int i = 0; i < 4; i++) {
        const double off = samples[i] > rtt ? samples[i] - rtt : rtt - samples[i];
        deviation = 0.75 * deviation + 0.25 * off;
        rtt = 0.875 * rtt + 0.125 * samples[i];
        sample(&rig, samples[i]);
        assert_near(window_stats(rig.a).rtt, rtt);
        assert_near(window_stats(rig.a).rto, rtt + 4 * deviation);
    }
}

TEST(the_timeout_is_at_least_200_ms_above_the_rtt)
{
    struct window_rig rig = rig_default();
    for (int i = 0; i < 60; i++)
        sample(&rig, 0.02);
    assert_near(window_stats(rig.a).rto, 0.02 + 0.2);
    rig_send(&rig, 1);
    batch_of(rig.a, rig.now);
    assert_near(rig_wait_for_timer(&rig), 0.22);
}

TEST(the_timeout_doubles_up_to_its_limit)
{
    struct window_rig rig = rig_default();
    for (int i = 0; i < 60; i++)
        sample(&rig, 0.05);
    rig_send(&rig, 1);
    batch_of(rig.a, rig.now);
    for (double timeout = 0.25; timeout < 1000; timeout *= 2) {
        assert_near(rig_wait_for_timer(&rig), timeout < 120 ? timeout : 120);
        struct batch *again = batch_of(rig.a, rig.now);
        assert_int_equal(again->count, 1);
        assert_int_equal(again->datagrams[0].payload, 1);
    }
    assert_int_equal(window_stats(rig.a).timeouts, 12);
    assert_int_equal(window_stats(rig.a).segments_resent, 12);
}

/* As Karn's algorithm says, the ack of a segment that was sent twice is no sample. It ends the
   backoff nevertheless. */
TEST(what_was_sent_twice_is_no_sample)
{
    struct window_rig rig = rig_default();
    for (int i = 0; i < 60; i++)
        sample(&rig, 0.05);
    rig_send(&rig, 1);
    batch_of(rig.a, rig.now);
    rig_wait_for_timer(&rig);
    rig_wait_for_timer(&rig);
    assert_int_equal(rig_round(&rig), 1);
    assert_near(window_stats(rig.a).rtt, 0.05);
    assert_near(window_stats(rig.a).rto, 0.25);
}

/* A segment that arrived but had to wait for one before it is no sample either. */
TEST(what_waited_for_a_gap_is_no_sample)
{
    for (int selective = 0; selective < 2; selective++) {
        struct cw_window_config config = rig_config();
        config.selective_acks = selective;
        struct window_rig rig = rig_with(&config);
        for (int i = 0; i < 60; i++)
            sample(&rig, 2 * ONE_WAY);
        rig_send(&rig, 500);
        ROUND_LOSING(&rig, 0);
        rig_round(&rig);
        assert_int_equal(rig.taken, 560);
        assert_near(window_stats(rig.a).rtt, 0.1);
    }
}

/* The second of two overtakes the first. The ack of both is a sample of the first only, because the
   second was acked when it came. */
TEST(what_was_overtaken_is_a_sample)
{
    struct window_rig rig = rig_default();
    rig_send(&rig, 1);
    struct batch *first = batch_of(rig.a, rig.now);
    rig_send(&rig, 1);
    struct batch *second = batch_of(rig.a, rig.now + 0.2);
    arrive(second, 0, rig.b, rig.now + 0.3);
    struct batch *early = batch_of(rig.b, rig.now + 0.3);
    arrive(early, 0, rig.a, rig.now + 0.3);
    assert_near(window_stats(rig.a).rtt, 0.1);
    arrive(first, 0, rig.b, rig.now + 0.5);
    struct batch *both = batch_of(rig.b, rig.now + 0.5);
    arrive(both, 0, rig.a, rig.now + 0.5);
    assert_near(window_stats(rig.a).rtt, 0.1 + (0.5 - 0.1) / 8);
}

TEST(an_ack_of_new_bytes_starts_the_timer_again)
{
    struct window_rig rig = rig_default();
    for (int i = 0; i < 60; i++)
        sample(&rig, 0.1);
    rig_send(&rig, 200);
    struct batch *there = batch_of(rig.a, rig.now);
    rig.now += 0.1;
    arrive(there, 0, rig.b, rig.now);
    struct batch *back = batch_of(rig.b, rig.now);
    arrive(back, 0, rig.a, rig.now);
    assert_near(window_stats(rig.a).timer_due, rig.now + window_stats(rig.a).rto);
    arrive(there, 1, rig.b, rig.now);
    struct batch *last = batch_of(rig.b, rig.now);
    arrive(last, 0, rig.a, rig.now);
    assert_true(window_stats(rig.a).timer_due > 1e300); /* nothing is in flight */
}
