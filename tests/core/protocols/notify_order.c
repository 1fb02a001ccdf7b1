/* Tests of packets that come early: they wait for those before them, but not long. */
#include "notify_rig.h"

#define PACKETS 64

struct rig {
    struct cw_notify *to;
    struct datagram packets[PACKETS]; /* numbered from 0 */
};

static struct rig rig_with(uint32_t early_packets, uint32_t max_missing)
{
    struct rig rig;
    struct cw_notify_config config = cw_notify_config_default();
    struct cw_notify *from = notify_with(config);
    config.early_packets = early_packets;
    config.max_missing = max_missing;
    rig.to = notify_with(config);
    for (int i = 0; i < PACKETS; i++)
        rig.packets[i] = packet_of(from, (uint8_t)i);
    return rig;
}

static struct rig rig_default(void)
{
    const struct cw_notify_config config = cw_notify_config_default();
    return rig_with(config.early_packets, config.max_missing);
}

static void receive(struct rig *rig, int packet)
{
    arrive(rig->to, &rig->packets[packet]);
}

TEST(a_packet_waits_for_the_one_before_it)
{
    struct rig rig = rig_default();
    receive(&rig, 0);
    receive(&rig, 2);
    expect_events(rig.to, "p0 .");
    assert_int_equal(notify_stats(rig.to).packets_early, 1);
    receive(&rig, 1);
    expect_events(rig.to, "p1..2 .");
}

TEST(the_end_of_a_round_ends_the_waiting)
{
    struct rig rig = rig_default();
    receive(&rig, 2);
    receive(&rig, 5);
    expect_events(rig.to, ".");
    cw_notify_update(rig.to);
    expect_events(rig.to, "p2 p5 .");
    for (int late = 0; late < 5; late++)
        assert_int_equal(receive_of(rig.to, &rig.packets[late]), CW_PROTOCOL_ERROR_STALE);
    assert_int_equal(notify_stats(rig.to).packets_stale, 5);
    receive(&rig, 7); /* the next round waits again */
    expect_events(rig.to, ".");
}

TEST(more_than_three_missing_are_not_waited_for)
{
    for (int missing = 0; missing < 6; missing++) {
        struct rig rig = rig_default();
        receive(&rig, missing);
        static const char *const events[] = {"p0", ".", ".", ".", "p4", "p5"};
        expect_events(rig.to, events[missing]);
    }
}

TEST(while_some_wait_all_do)
{
    struct rig rig = rig_default();
    receive(&rig, 1);
    receive(&rig, 20); /* it waits, although more than three are missing */
    receive(&rig, 19);
    expect_events(rig.to, ".");
    receive(&rig, 0);
    expect_events(rig.to, "p0..1 .");
    cw_notify_update(rig.to);
    expect_events(rig.to, "p19..20");
}

TEST(a_full_cache_waits_no_longer)
{
    struct rig rig = rig_default();
    for (int i = 1; i < 31; i++)
        receive(&rig, i);
    expect_events(rig.to, ".");
    receive(&rig, 31); /* the thirty-second from the missing one */
    expect_events(rig.to, "p1..31 .");
}

TEST(a_packet_beyond_the_cache_ends_the_waiting)
{
    struct rig rig = rig_default();
    receive(&rig, 1);
    receive(&rig, 50);
    receive(&rig, 3); /* it is late, but comes before 50 is taken */
    expect_events(rig.to, "p1 p3 p50");
}

TEST(a_packet_waits_once)
{
    struct rig rig = rig_default();
    receive(&rig, 2);
    receive(&rig, 1);
    assert_int_equal(receive_of(rig.to, &rig.packets[2]), CW_PROTOCOL_ERROR_DUPLICATE);
    assert_int_equal(receive_of(rig.to, &rig.packets[1]), CW_PROTOCOL_ERROR_DUPLICATE);
    receive(&rig, 0);
    expect_events(rig.to, "p0..2 .");
}

TEST(packets_that_nobody_takes_are_refused_in_the_end)
{
    struct rig rig = rig_with(4, 3);
    for (int i = 0; i < 4; i++)
        receive(&rig, i);
    assert_int_equal(receive_of(rig.to, &rig.packets[4]), CW_PROTOCOL_ERROR_EVENTS_PENDING);
    expect_events(rig.to, "p0..3");
    receive(&rig, 4);
    expect_events(rig.to, "p4");
}

TEST(nothing_waits_when_told_so)
{
    struct rig rig = rig_with(1, 0);
    receive(&rig, 1);
    expect_events(rig.to, "p1");
    receive(&rig, 40);
    expect_events(rig.to, "p40 .");
}

TEST(payloads_stay_with_their_packets)
{
    struct rig rig = rig_default();
    const int order[] = {3, 1, 5, 2, 8, 7, 4, 6, 9, 0};
    for (int lap = 0; lap < 5; lap++) {
        for (int i = 0; i < 10; i++)
            receive(&rig, lap * 10 + order[i]);
        for (int i = 0; i < 10; i++) {
            struct cw_notify_event event;
            assert_true(cw_notify_next(rig.to, &event));
            assert_int_equal(event.sequence, lap * 10 + i);
            assert_int_equal(event.size, 1);
            assert_int_equal(event.payload[0], lap * 10 + i);
        }
    }
}
