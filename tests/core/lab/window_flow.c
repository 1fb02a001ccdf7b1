/* Tests of when a byte stream's receiver acks, and how its window holds the sender back. */
#include "window_rig.h"

static struct window_rig delaying_rig(void)
{
    struct cw_window_config config = rig_config();
    config.ack_delay_seconds = 0.04;
    return rig_with(&config);
}

static struct window_rig small_rig(uint32_t receive_buffer)
{
    struct cw_window_config config = rig_config();
    config.receive_buffer_bytes = receive_buffer;
    return rig_with(&config);
}

/* Returns how many datagrams a window has to send now. */
static size_t due(struct cw_window *window, double now)
{
    return batch_of(window, now)->count;
}

/* Passes all that one end sends to the other at once. */
static size_t pass(struct cw_window *from, struct cw_window *to, double now)
{
    const int none = -1;
    struct batch *batch = batch_of(from, now);
    arrive_but(batch, &none, to, now);
    return batch->count;
}

TEST(the_ack_of_one_segment_waits_40_ms)
{
    struct window_rig rig = delaying_rig();
    rig_send(&rig, 10);
    pass(rig.a, rig.b, 5);
    assert_int_equal(due(rig.b, 5), 0);
    rig_send(&rig, 10); /* the wait of the first goes on */
    pass(rig.a, rig.b, 5.02);
    assert_int_equal(due(rig.b, 5.039), 0);
    assert_int_equal(due(rig.b, 5.041), 1);
    assert_int_equal(due(rig.b, 6), 0);
}

TEST(the_second_full_segment_is_acked_at_once)
{
    struct window_rig rig = delaying_rig();
    rig_send(&rig, SEGMENT);
    pass(rig.a, rig.b, 5);
    assert_int_equal(due(rig.b, 5), 0);
    rig_send(&rig, SEGMENT);
    pass(rig.a, rig.b, 5);
    assert_int_equal(due(rig.b, 5), 1);
}

TEST(data_carries_the_ack)
{
    struct window_rig rig = delaying_rig();
    size_t taken;
    rig_send(&rig, 10);
    pass(rig.a, rig.b, 5);
    assert_ok(cw_window_send(rig.b, (const uint8_t *)"x", 1, 5, &taken));
    assert_int_equal(pass(rig.b, rig.a, 5), 1);
    assert_int_equal(window_stats(rig.a).segments_in_flight, 0);
    assert_int_equal(due(rig.b, 6), 0);
}

/* Each segment out of order, each one that fills a gap and each duplicate is answered at once. */
TEST(what_is_out_of_order_is_acked_at_once)
{
    struct window_rig rig = delaying_rig();
    rig_send(&rig, 4 * SEGMENT);
    struct batch *there = batch_of(rig.a, 5);
    arrive(there, 1, rig.b, 5);
    arrive(there, 3, rig.b, 5);
    struct batch *back = batch_of(rig.b, 5);
    assert_int_equal(back->count, 2);
    assert_int_equal(back->datagrams[1].header.range_count, 2);
    assert_int_equal(back->datagrams[1].header.ranges[0].begin, 300); /* the newest is first */
    assert_int_equal(back->datagrams[1].header.ranges[1].begin, 100);
    arrive(there, 0, rig.b, 5);
    assert_int_equal(due(rig.b, 5), 1);
    assert_int_equal(arrive(there, 0, rig.b, 5), CW_PROTOCOL_ERROR_DUPLICATE);
    assert_int_equal(due(rig.b, 5), 1);
    assert_int_equal(due(rig.b, 6), 0);
}

/* Gives b the bytes from sequence on, as the stream has them, in one segment. */
static void receive_range(struct window_rig *rig, uint32_t sequence, uint32_t size)
{
    uint8_t bytes[CW_WINDOW_HEADER_SIZE + SEGMENT];
    const struct cw_window_header header = {.sequence = sequence};
    assert_int_equal(cw_window_header_write(&header, bytes), CW_WINDOW_HEADER_SIZE);
    for (uint32_t i = 0; i < size; i++)
        bytes[CW_WINDOW_HEADER_SIZE + i] = stream_byte(sequence + i);
    assert_ok(cw_window_receive(rig->b, bytes, CW_WINDOW_HEADER_SIZE + size, rig->now));
}

/* Another program may cut the bytes in other places when it sends them again. */
TEST(segments_may_overlap)
{
    struct window_rig rig = small_rig(1000);
    receive_range(&rig, 10, 10);
    receive_range(&rig, 60, 10);
    receive_range(&rig, 65, 20);
    receive_range(&rig, 50, 12);
    assert_int_equal(window_stats(rig.b).ranges_early, 2);
    receive_range(&rig, 0, 30);
    assert_int_equal(rig_read(&rig), 30);
    receive_range(&rig, 20, 20);
    receive_range(&rig, 35, 20);
    assert_int_equal(rig_read(&rig), 55);
    assert_int_equal(window_stats(rig.b).ranges_early, 0);
}

/* Acks of acks would never end. */
TEST(an_ack_is_not_acked)
{
    struct window_rig rig = small_rig(1000);
    rig_send(&rig, 10);
    pass(rig.a, rig.b, 5);
    assert_int_equal(pass(rig.b, rig.a, 5), 1);
    assert_int_equal(due(rig.a, 7), 0);
    assert_int_equal(due(rig.b, 7), 0);
}

TEST(a_full_receiver_stops_the_sender_and_reading_lets_it_go_on)
{
    struct window_rig rig = small_rig(1000);
    rig_send(&rig, 2500);
    rig.now = 5;
    assert_int_equal(pass(rig.a, rig.b, 5), 10);
    pass(rig.b, rig.a, 5);
    assert_int_equal(window_stats(rig.a).send_window_bytes, 0);
    assert_true(window_stats(rig.a).window_full);
    assert_int_equal(window_stats(rig.b).bytes_readable, 1000);
    assert_int_equal(due(rig.a, 5), 0);
    /* The receiver does not announce a little room, which would make little segments. */
    assert_int_equal(rig_read_some(&rig, 199), 199);
    assert_int_equal(due(rig.b, 5), 0);
    assert_int_equal(rig_read_some(&rig, 1), 1);
    assert_int_equal(pass(rig.b, rig.a, 5), 1);
    assert_int_equal(window_stats(rig.a).send_window_bytes, 200);
    assert_int_equal(pass(rig.a, rig.b, 5), 2);
    for (int i = 0; i < 10; i++) {
        rig_read(&rig);
        pass(rig.b, rig.a, 5);
        pass(rig.a, rig.b, 5);
    }
    assert_int_equal(rig.taken, 2500);
    assert_int_equal(window_stats(rig.a).window_probes, 0);
}

/* The one datagram that opens the window is lost, so that probes ask, at growing intervals. */
TEST(a_lost_opening_is_found_by_a_probe)
{
    struct window_rig rig = small_rig(1000);
    rig_send(&rig, 1500);
    rig.now = 5;
    pass(rig.a, rig.b, 5);
    pass(rig.b, rig.a, 5);
    double timeout = window_stats(rig.a).rto;
    for (int i = 0; i < 4; i++, timeout *= 2) {
        assert_near(rig_wait_for_timer(&rig), timeout);
        struct batch *probe = batch_of(rig.a, rig.now);
        assert_int_equal(probe->count, 1);
        assert_true(probe->datagrams[0].header.probe);
        assert_int_equal(probe->datagrams[0].payload, 0);
        arrive(probe, 0, rig.b, rig.now);
        assert_int_equal(pass(rig.b, rig.a, rig.now), 1); /* the window is still full */
        assert_int_equal(due(rig.a, rig.now), 0);
    }
    assert_int_equal(rig_read(&rig), 1000);
    assert_int_equal(due(rig.b, rig.now), 1); /* this datagram is lost */
    rig_wait_for_timer(&rig);
    assert_int_equal(pass(rig.a, rig.b, rig.now), 1);
    assert_int_equal(pass(rig.b, rig.a, rig.now), 1);
    assert_near(window_stats(rig.a).rto, 0.2); /* only the probes have backed off */
    assert_int_equal(pass(rig.a, rig.b, rig.now), 5);
    rig_read(&rig);
    assert_int_equal(rig.taken, 1500);
    assert_int_equal(window_stats(rig.a).window_probes, 5);
    assert_int_equal(window_stats(rig.a).timeouts, 0);
}

/* One byte more than a segment holds may be too much for the window. */
TEST(a_window_of_any_size_lets_everything_through)
{
    const uint32_t sizes[] = {1, 2, 3, 99, 100, 101, 199, 250, 1001};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct window_rig rig = small_rig(sizes[i]);
        rig_send(&rig, 2000);
        for (int j = 0; rig.taken < 2000; j++) {
            assert_true(j < 5000);
            if (rig_round(&rig) == 0)
                rig_wait_for_timer(&rig);
        }
    }
}
