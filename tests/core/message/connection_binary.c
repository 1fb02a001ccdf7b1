/* Tests of a connection in the mode BINARY with a peer that sends rarely. */
#include "connection_pair.h"

#define PEER_TICKS 6 /* the other end sends in one of so many ticks, ten times a second */

/* Returns the state after half a minute on a path of that RTT, with a message in each tick. */
static enum cw_congestion_state state_after(double rtt)
{
    struct cw_connection_config config = notes_config();
    config.congestion.mode = CW_CONGESTION_BINARY;
    struct pair pair = pair_open(&config, rtt, 0);
    for (uint32_t i = 0; i < 30 / TICK; i++) {
        (void)try_note(pair.sides[0], 1, i, 20, pair.now);
        for (int side = 0; side < 2; side++)
            pair_arrive(&pair, side);
        pair_send(&pair, 0);
        if (i % PEER_TICKS == 0)
            pair_send(&pair, 1);
        drain(pair.sides[1]);
        pair.now = ++pair.ticks * TICK;
    }
    return stats_of(pair.sides[0]).congestion_state;
}

TEST(test_the_silence_of_the_peer_does_not_count)
{
    assert_int_equal(state_after(0.15), CW_CONGESTION_GOOD);
    assert_int_equal(state_after(0.22), CW_CONGESTION_GOOD);
    assert_int_equal(state_after(0.23), CW_CONGESTION_GOOD);
}

TEST(test_a_long_path_is_bad_all_the_same)
{
    assert_int_equal(state_after(0.36), CW_CONGESTION_BAD);
    assert_int_equal(state_after(0.5), CW_CONGESTION_BAD);
}

/* Passes the time on a path of that RTT, with a message in each tick, both ways. */
static struct cw_connection_stats after(struct pair *pair, double rtt, double seconds)
{
    pair_set_loss(pair, 0, rtt);
    for (uint32_t i = 0; i < seconds / TICK; i++) {
        for (int side = 0; side < 2; side++) {
            (void)try_note(pair->sides[side], 1, i, 20, pair->now);
            drain(pair->sides[side]);
        }
        pair_tick(pair);
    }
    return stats_of(pair->sides[0]);
}

TEST(test_the_statistics_tell_the_penalty_clock)
{
    struct cw_connection_config config = notes_config();
    config.congestion.mode = CW_CONGESTION_BINARY;
    struct pair pair = pair_open(&config, 0.1, 0);
    struct cw_connection_stats is = stats_of(pair.sides[0]);
    assert_true(is.penalty_seconds == 4 && is.good_seconds == 0 && is.judged_rtt == 0);
    assert_true(is.rtt_threshold_seconds == 0.25);

    is = after(&pair, 0.1, 3);
    assert_int_equal(is.congestion_reason, CW_CONGESTION_PENALTY);
    assert_true(is.good_seconds > 2.5 && is.good_seconds < 3);
    assert_true(is.judged_rtt > 0.05 && is.judged_rtt < is.endpoint.rtt);
    is = after(&pair, 0.1, 3);
    assert_int_equal(is.congestion_state, CW_CONGESTION_GOOD);
    assert_true(is.good_seconds > 1.5 && is.good_seconds < 2);
    assert_true(is.packets_per_second == 30);

    is = after(&pair, 0.5, 3);
    assert_int_equal(is.congestion_reason, CW_CONGESTION_HIGH_RTT);
    assert_true(is.penalty_seconds == 8 && is.good_seconds == 0);
    assert_true(is.judged_rtt > 0.25 && is.packets_per_second == 10);
}

TEST(test_other_modes_have_no_clock)
{
    struct cw_connection_config config = notes_config();
    struct pair pair = pair_open(&config, 0.1, 0);
    const struct cw_connection_stats is = after(&pair, 0.1, 6);
    assert_true(is.rtt_threshold_seconds == 0 && is.penalty_seconds == 0);
    assert_true(is.judged_rtt == 0 && is.good_seconds == 0 && is.packets_per_second == 0);
}
