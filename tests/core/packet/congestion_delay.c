/* Tests of congestion control by delay: a sender that always has more, over a path of which the
   test chooses round trip time and losses, in virtual time. */
#include "packet/congestion.h"

#include "fixture.h"

#define TICK   (1.0 / 60) /* seconds */
#define BYTES  1000
#define RTT    0.1 /* seconds */
#define FLIGHT 4096

struct path {
    struct cw_congestion c;
    double now, rtt;
    uint32_t lose_each;     /* one of so many packets is lost; 0: none */
    uint32_t messages;      /* packets of each tick that do not wait */
    uint32_t most_per_tick; /* packets that arrive of those that leave in a tick; 0: all */
    uint32_t sent, settled, lost;
    bool dropped[FLIGHT];
    double times[FLIGHT];
};

static struct path path_in(enum cw_congestion_mode mode)
{
    struct path path = {.rtt = RTT};
    struct cw_congestion_config config = cw_congestion_config_default();
    config.mode = mode;
    assert_int_equal(cw_congestion_init(&path.c, &config, 0), CW_OK);
    return path;
}

static void settle(struct path *path)
{
    for (; path->settled != path->sent; path->settled++) {
        const double time = path->times[path->settled % FLIGHT];
        const uint16_t sequence = (uint16_t)path->settled;
        if (path->now - time < path->rtt - 1e-9)
            break;
        const bool loses = path->lose_each > 0 && path->settled % path->lose_each == 0;
        path->lost += loses || path->dropped[path->settled % FLIGHT];
        if (loses || path->dropped[path->settled % FLIGHT])
            cw_congestion_lost(&path->c, sequence, BYTES, path->now);
        else
            cw_congestion_acked(&path->c, sequence, BYTES, time, path->now);
    }
}

/* Sends the messages and all that is allowed in each tick of the given seconds. */
static void run(struct path *path, double seconds)
{
    const double end = path->now + seconds;
    while (path->now < end) {
        path->now += TICK;
        settle(path);
        cw_congestion_update(&path->c, path->rtt, TICK, path->now);
        uint32_t packets = 0;
        enum cw_congestion_limit limit;
        while ((limit = cw_congestion_limit(&path->c, true), packets < path->messages) ||
               (limit == CW_CONGESTION_LIMIT_NONE && packets < 32)) {
            packets++;
            path->times[path->sent % FLIGHT] = path->now;
            path->dropped[path->sent % FLIGHT] =
                path->most_per_tick > 0 && packets > path->most_per_tick;
            cw_congestion_sent(&path->c, true, (uint16_t)path->sent++, BYTES);
        }
        if (limit != CW_CONGESTION_LIMIT_NONE)
            cw_congestion_held(&path->c, limit);
    }
}

TEST(test_none_allows_everything)
{
    struct path path = path_in(CW_CONGESTION_NONE);
    for (int i = 0; i < 1000; i++)
        cw_congestion_sent(&path.c, true, (uint16_t)i, BYTES);
    assert_int_equal(cw_congestion_limit(&path.c, true), CW_CONGESTION_LIMIT_NONE);
    assert_true(cw_congestion_window(&path.c) == 0);
}

TEST(test_messages_never_wait)
{
    struct path path = path_in(CW_CONGESTION_DELAY);
    for (int i = 0; i < 1000; i++)
        cw_congestion_sent(&path.c, true, (uint16_t)i, BYTES);
    assert_int_equal(cw_congestion_limit(&path.c, true), CW_CONGESTION_LIMIT_WINDOW);
    assert_int_equal(cw_congestion_limit(&path.c, false), CW_CONGESTION_LIMIT_NONE);
    assert_true(cw_congestion_in_flight(&path.c) == 1000.0 * BYTES);
}

TEST(test_a_window_is_paced_over_ticks)
{
    struct path path = path_in(CW_CONGESTION_DELAY);
    run(&path, TICK);
    assert_in_range(path.sent, 1, 8);
    assert_int_equal(cw_congestion_limit(&path.c, true), CW_CONGESTION_LIMIT_PACING);
}

TEST(test_it_grows_while_packets_come_back_fast)
{
    struct path path = path_in(CW_CONGESTION_DELAY);
    const double before = cw_congestion_window(&path.c);
    run(&path, 1);
    assert_true(cw_congestion_window(&path.c) > 4 * before);
}

TEST(test_the_window_doubles_in_each_of_the_first_round_trips)
{
    struct path path = path_in(CW_CONGESTION_DELAY);
    path.lose_each = 5;
    const double first = cw_congestion_window(&path.c);
    run(&path, 5 * (RTT + TICK)); /* the first acks come after one of them */
    assert_true(cw_congestion_window(&path.c) > 16 * first);
}

TEST(test_it_shrinks_when_they_take_longer)
{
    struct path path = path_in(CW_CONGESTION_DELAY);
    run(&path, 2);
    const double before = cw_congestion_window(&path.c);
    path.rtt = RTT + 0.06;
    run(&path, 0.6);
    assert_true(cw_congestion_window(&path.c) < 0.7 * before);
}

TEST(test_losses_alone_cost_little)
{
    struct path lossy = path_in(CW_CONGESTION_DELAY), clean = path_in(CW_CONGESTION_DELAY);
    lossy.lose_each = 5;
    run(&lossy, 5);
    run(&clean, 5);
    assert_true(lossy.sent > 0.75 * clean.sent);
}

TEST(test_an_outage_leaves_a_few_packets)
{
    struct path path = path_in(CW_CONGESTION_DELAY);
    run(&path, 2);
    path.lose_each = 1;
    run(&path, 5);
    assert_true(cw_congestion_window(&path.c) < 5 * 1064);
    const uint32_t before = path.sent;
    run(&path, 1);
    assert_in_range(path.sent - before, 8, 60);
    path.lose_each = 0;
    run(&path, 2);
    assert_true(cw_congestion_window(&path.c) > 16 * BYTES);
}

TEST(test_a_longer_path_is_learned)
{
    struct path path = path_in(CW_CONGESTION_DELAY);
    run(&path, 3);
    path.rtt = 3 * RTT;
    run(&path, 12);
    const uint32_t before = path.sent;
    run(&path, 3);
    assert_true(path.sent - before > 3 * 200);
}

TEST(test_messages_do_not_keep_the_window_drained)
{
    struct path path = path_in(CW_CONGESTION_DELAY);
    path.messages = 24;
    run(&path, 4);
    const double before = cw_congestion_window(&path.c);
    uint32_t drained = 0;
    for (int i = 0; i < 10 * 60; i++) {
        run(&path, TICK);
        drained += cw_congestion_window(&path.c) < 0.8 * before;
    }
    assert_true(drained <= 20);
}

/* The window never becomes infinite, however short the path is. */
TEST(test_a_path_shorter_than_a_tick_has_a_finite_window)
{
    struct path path = path_in(CW_CONGESTION_DELAY);
    path.rtt = TICK;
    run(&path, 60);
    const double rate = 32 * BYTES / TICK;
    assert_true(cw_congestion_window(&path.c) <= 4 * rate * (TICK + TICK));
}

/* Losses that come from the rate, above which everything is lost, lower it. */
TEST(test_losses_above_a_rate_lower_the_rate)
{
    struct path path = path_in(CW_CONGESTION_DELAY);
    path.most_per_tick = 4;
    run(&path, 10);
    const uint32_t sent = path.sent, lost = path.lost;
    run(&path, 20);
    assert_true(path.sent - sent > 0.8 * 4 * 20 / TICK);
    assert_true(path.lost - lost < 0.05 * (path.sent - sent));
}

TEST(test_what_messages_took_is_soon_forgotten)
{
    struct path path = path_in(CW_CONGESTION_DELAY);
    path.messages = 16;
    path.lose_each = 1;
    run(&path, 5);
    path.messages = 0;
    path.lose_each = 0;
    const uint32_t before = path.sent;
    run(&path, 1);
    assert_true(path.sent - before > 20);
}
