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
