/* Tests of the reliable-ordered channel: everything arrives, once, in order, and is sent no more
   often than it has to be. */
#include "fixture.h"

#include "connection_pair.h"

static struct cw_connection_config config_of_notes(void)
{
    struct cw_connection_config config = notes_config();
    config.channel_count = 1;
    config.max_messages = 2048;
    return config;
}

/* Takes all that has arrived, which must go on from *next. */
static void take_in_order(struct cw_connection *at, uint32_t *next)
{
    for (struct cw_message *message; (message = next_message(at, NULL)) != NULL;) {
        assert_int_equal(number_of(message), *next);
        ++*next;
        cw_message_release(message);
    }
}

/* Sends `count` messages of a few sizes each way, then waits until all have arrived. */
static void exchange(struct pair *pair, uint32_t count, int most_ticks)
{
    uint32_t sent[2] = {0}, received[2] = {0};
    for (int tick = 0; received[0] < count || received[1] < count; tick++) {
        if (tick == most_ticks)
            fail_msg("%u and %u of %u messages after %d ticks", received[0], received[1], count,
                     tick);
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 3 && sent[i] < count; j++)
                sent[i] += try_note(pair->sides[i], 0, sent[i], sent[i] % 7 * (sent[i] % 11) * 10,
                                    pair->now);
        }
        pair_tick(pair);
        take_in_order(pair->sides[0], &received[0]);
        take_in_order(pair->sides[1], &received[1]);
    }
    pair_run(pair, 600);
    for (int i = 0; i < 2; i++) {
        const struct cw_channel_stats stats = channel_of(pair->sides[i], 0);
        assert_null(next_message(pair->sides[i], NULL));
        assert_int_equal(stats.sent, count);
        assert_int_equal(stats.received, count);
        assert_int_equal(stats.delivered, count);
        assert_int_equal(stats.queued + stats.in_flight + stats.dropped, 0);
        assert_int_equal(stats_of(pair->sides[i]).messages_in_use, 0);
    }
}

TEST(test_all_messages_arrive_once_and_in_order_over_a_bad_path)
{
    static const double losses[] = {0, 0.05, 0.3, 0.6, 0.9};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        const struct cw_connection_config config = config_of_notes();
        struct pair pair = pair_open(&config, 0.1, losses[i]);
        struct cw_simulator_path path = path_of(0.1, losses[i]);
        path.jitter_seconds = 0.05;
        path.duplicate = 0.2;
        path.reorder = 0.1;
        path.reorder_delay_seconds = 0.2;
        pair_change(&pair, &path);
        exchange(&pair, losses[i] > 0.8 ? 200 : 1000, 40000);
    }
}

TEST(test_nothing_is_sent_twice_without_loss)
{
    for (int rtt = 20; rtt <= 300; rtt += 20) {
        const struct cw_connection_config config = config_of_notes();
        struct pair pair = pair_open(&config, rtt / 1000.0, 0);
        exchange(&pair, 600, 3000);
        for (int i = 0; i < 2; i++) {
            if (channel_of(pair.sides[i], 0).resent > 0)
                fail_msg("%u messages sent again at %d ms",
                         (unsigned)channel_of(pair.sides[i], 0).resent, rtt);
        }
    }
}

/* Returns the time from a loss to the second arrival of its message, which has the path to itself.
 */
static double recovery(double rtt)
{
    const struct cw_connection_config config = config_of_notes();
    struct pair pair = pair_open(&config, rtt, 0);
    exchange(&pair, 300, 3000); /* now both ends know the RTT */
    const uint64_t before = channel_of(pair.sides[1], 0).received;
    pair_set_loss(&pair, 1, rtt);
    send_note(pair.sides[0], 0, 0, 0, pair.now);
    const double lost_at = pair.now;
    pair_tick(&pair);
    pair_set_loss(&pair, 0, rtt);
    while (channel_of(pair.sides[1], 0).received == before)
        pair_tick(&pair);
    const double took = pair.now - lost_at;
    drain(pair.sides[1]);
    assert_int_equal(channel_of(pair.sides[0], 0).resent, 1);
    pair_run(&pair, 120);
    return took;
}

TEST(test_what_is_lost_is_sent_again_as_soon_as_the_rtt_allows)
{
    for (int rtt = 40; rtt <= 400; rtt += 60) {
        const double took = recovery(rtt / 1000.0);
        if (took < 1.5 * rtt / 1000 || took > 1.5 * rtt / 1000 + 8 * TICK)
            fail_msg("%g s at %d ms", took, rtt);
    }
}

/* Returns after how many ticks a message is sent again when nothing arrives at either end from its
   packet on, with an RTT that was the same all the time. With more, a packet with another message,
   which is never sent again, goes in every tick. */
static int ticks_until_sent_again(struct cw_connection *a, struct cw_connection *b, double start,
                                  double tick, double rtt, bool more)
{
    enum { BEFORE = 40, MOST = 100 };
    static struct {
        uint8_t data[2048];
        size_t size;
    } answers[BEFORE];
    int arrived = 0;
    for (int i = 0; i < MOST; i++) {
        const double now = start + i * tick;
        for (; arrived < BEFORE && arrived < i; arrived++) {
            const double when = start + arrived * tick + rtt;
            if (when > now)
                break;
            receive_exact(a, answers[arrived].data, answers[arrived].size, when);
        }
        if (i == BEFORE)
            send_note(a, 0, 0, 0, now);
        if (i >= BEFORE && more)
            send_note(a, 1, 0, 0, now);
        round_of(a, i < BEFORE ? b : NULL, now);
        if (channel_of(a, 0).resent > 0)
            return i - BEFORE;
        if (i < BEFORE) {
            cw_connection_update(b, now);
            answers[i].size = transmit(b, answers[i].data, now);
        }
    }
    return -1;
}

/* When nothing comes from the other end although it has much to answer, a message is sent again
   after twice the RTT; when that may be all it has to answer, after the RTT and as long as it is
   usually silent: in the nearest tick, but no more than 20 ms before. A life before a reset does
   not change that. */
TEST(test_it_is_sent_again_in_the_tick_nearest_to_the_time)
{
    static const struct {
        double tick, rtt; /* the tick in seconds, the RTT in ticks */
        int expected, expected_alone;
    } cases[] = {
        {1.0 / 64, 5.125, 10, 6}, {1.0 / 64, 5.375, 11, 7},      {1.0 / 8, 5.0625, 10, 7},
        {1.0 / 8, 5.125, 11, 7},  {1.0 / 256, 5.2578125, 11, 7}, {1.0 / 256, 5.125, 10, 6},
    };
    struct cw_connection_config config = config_of_notes();
    config.channel_count = 2;
    config.endpoint.min_loss_timeout_seconds = 60;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const bool more = i % 2;
        const int took = ticks_until_sent_again(a, b, 5000.0 * (double)i, cases[i / 2].tick,
                                                cases[i / 2].rtt * cases[i / 2].tick, more);
        assert_int_equal(took, more ? cases[i / 2].expected : cases[i / 2].expected_alone);
        cw_connection_reset(a);
        cw_connection_reset(b);
    }
}

/* Sends a note a tick with copies of so many bytes, in percent; returns the messages sent again per
 * message. */
static double copies(uint32_t extra_bytes, double loss, uint32_t padding, double *mean_latency)
{
    struct cw_connection_config config = config_of_notes();
    config.channels[0].recovery = extra_bytes > 0 ? CW_RECOVERY_COPIES : CW_RECOVERY_RESEND;
    config.channels[0].extra_bytes = extra_bytes > 0 ? extra_bytes : 1;
    struct pair pair = pair_open(&config, 0.1, loss);
    for (uint32_t i = 0; i < 3000; i++) {
        send_note(pair.sides[0], 0, i, padding, pair.now);
        pair_tick(&pair);
        drain(pair.sides[1]);
    }
    const struct cw_channel_stats stats = channel_of(pair.sides[0], 0);
    *mean_latency = stats.delivery_latency_seconds;
    pair_run(&pair, 600);
    drain(pair.sides[1]);
    assert_int_equal(channel_of(pair.sides[1], 0).received, 3000);
    return (double)stats.resent / (double)stats.sent;
}

TEST(test_copies_follow_only_while_loss_is_observed)
{
    double latency;
    for (uint32_t extra = 0; extra <= 400; extra += 100)
        assert_true(copies(extra, 0, 64, &latency) == 0);
    const double none = copies(0, 0.1, 64, &latency), one = copies(100, 0.1, 64, &latency),
                 many = copies(400, 0.1, 64, &latency);
    assert_true(none < 0.3);
    assert_true(one > 0.9 && one < 1.3);
    assert_true(many > 1.9 && many < 3); /* hardly any message needs a fourth copy */
}

TEST(test_copies_keep_to_their_budget)
{
    double latency;
    const double none = copies(0, 0.1, 200, &latency);
    for (uint32_t extra = 20; extra <= 180; extra += 40) {
        /* A message that had to be sent again has its copy all the same. */
        const double share = copies(extra, 0.1, 200, &latency);
        assert_true(share > 0.95 * extra / 100 && share < extra / 100.0 + none);
    }
}

TEST(test_copies_open_no_packets_of_their_own)
{
    struct cw_connection_config config = config_of_notes();
    config.channels[0].recovery = CW_RECOVERY_COPIES;
    config.channels[0].extra_bytes = 25;
    struct pair pair = pair_open(&config, 0.1, 0.1);
    for (uint32_t i = 0; i < 1000; i++) {
        /* Four notes a tick fill two packets; the copies go along in the first. */
        for (uint32_t j = 0; j < 4; j++)
            send_note(pair.sides[0], 0, 4 * i + j, 330, pair.now);
        pair_tick(&pair);
        drain(pair.sides[1]);
    }
    const struct cw_channel_stats stats = channel_of(pair.sides[0], 0);
    assert_true(stats.resent > 1000); /* a copy a tick, and what was lost */
    assert_true(stats.resent < 1000 + 4000 * 35 / 100);
    assert_true(stats_of(pair.sides[0]).endpoint.packets_sent < 2500);
}

TEST(test_a_slow_reader_holds_the_sender_back_and_nothing_more)
{
    struct cw_connection_config config = config_of_notes();
    config.channels[0].receive_queue_size = 64;
    struct pair pair = pair_open(&config, 0.05, 0.02);
    struct cw_connection *a = pair.sides[0], *b = pair.sides[1];
    uint32_t sent = 0, received = 0;
    /* Nobody reads for a minute, after which other libraries disconnected or took memory without
       limit. */
    for (int tick = 0; tick < 3600; tick++) {
        sent += try_note(a, 0, sent, 30, pair.now);
        pair_tick(&pair);
        assert_true(stats_of(b).messages_in_use <= 64);
    }
    assert_int_equal(sent, 64 + 256);
    assert_int_equal(channel_of(b, 0).received, 64);
    assert_int_equal(channel_of(a, 0).in_flight + channel_of(a, 0).queued, 256);
    assert_true(stats_of(b).packets_refused > 0);
    assert_int_equal(stats_of(b).packets_invalid, 0);
    /* The application reads a message a second, and as many go on. */
    for (int tick = 0; tick < 600; tick++) {
        if (tick % 60 == 0)
            expect_note(b, 0, received++);
        pair_tick(&pair);
        assert_true(stats_of(b).messages_in_use <= 64);
    }
    assert_in_range(channel_of(b, 0).received, 72, 74);
    /* The application reads all, and all arrive. */
    for (int tick = 0; tick < 600; tick++) {
        take_in_order(b, &received);
        pair_tick(&pair);
    }
    assert_int_equal(received, sent);
    assert_int_equal(channel_of(a, 0).in_flight, 0);
    assert_int_equal(stats_of(a).messages_in_use + stats_of(b).messages_in_use, 0);
}

TEST(test_a_packet_beyond_the_pool_is_not_acked_and_its_messages_come_again)
{
    struct cw_connection_config config = config_of_notes();
    config.max_received_messages = 10; /* 1 more is for the next in order */
    struct cw_connection *b = connection_with(&config);
    config.max_received_messages = CW_AUTO;
    struct cw_connection *a = connection_with(&config);
    for (uint32_t i = 0; i < 20; i++)
        send_note(a, 0, i, 0, 0);
    uint8_t datagram[2048];
    cw_connection_update(a, 0);
    const size_t size = transmit(a, datagram, 0);
    assert_int_equal(receive_exact(b, datagram, size, 0), CW_ERROR_RECEIVER_FULL);
    assert_int_equal(stats_of(b).packets_refused, 1);
    assert_int_equal(stats_of(b).endpoint.packets_received, 0);
    assert_int_equal(stats_of(b).messages_in_use, 11);
    round_of(b, a, 0);
    assert_int_equal(channel_of(a, 0).delivered, 0);
    /* The same datagram is no duplicate when it comes again. */
    for (uint32_t i = 0; i < 11; i++)
        expect_note(b, 0, i);
    assert_int_equal(receive_exact(b, datagram, size, 0), CW_OK);
    for (uint32_t i = 11; i < 20; i++)
        expect_note(b, 0, i);
    round_of(b, a, 0);
    assert_int_equal(channel_of(a, 0).delivered, 20);
}

TEST(test_two_ends_with_all_their_messages_under_way_receive_each_other)
{
    for (uint32_t max_messages = 1; max_messages <= 256; max_messages *= 4) {
        struct cw_connection_config config = config_of_notes();
        config.channel_count = 3;
        config.channels[2] = config.channels[0];
        config.max_messages = max_messages;
        struct pair pair = pair_open(&config, 0.05, 0.2);
        uint32_t sent[2][2] = {{0}}, received[2][2] = {{0}};
        for (int tick = 0; tick < 2000; tick++) {
            for (int i = 0; i < 2; i++) {
                const uint32_t to = (uint32_t)tick / 3 % 2;
                while (try_note(pair.sides[i], 2 * to, sent[i][to], 10, pair.now))
                    sent[i][to]++;
            }
            pair_tick(&pair);
            for (int i = 0; i < 2; i++) {
                uint32_t channel;
                for (struct cw_message *message;
                     (message = next_message(pair.sides[i], &channel)) != NULL;) {
                    assert_int_equal(number_of(message), received[i][channel / 2]);
                    received[i][channel / 2]++;
                    cw_message_release(message);
                }
            }
        }
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++)
                assert_true(received[i][j] > max_messages * 40);
        }
        pair_run(&pair, 300);
        for (int i = 0; i < 2; i++)
            drain(pair.sides[i]);
    }
}

TEST(test_what_came_out_of_order_leaves_room_for_what_is_next)
{
    struct cw_connection_config config = config_of_notes();
    struct cw_connection *a = connection_with(&config);
    config.max_received_messages = 5; /* 1 more is for the next in order */
    struct cw_connection *b = connection_with(&config);
    uint8_t datagram[2048];
    for (uint32_t i = 0; i < 10; i++) {
        send_note(a, 0, i, 0, 0);
        cw_connection_update(a, 0);
        const size_t size = transmit(a, datagram, 0);
        if (i > 0)
            assert_int_equal(receive_exact(b, datagram, size, 0),
                             i <= 5 ? CW_OK : CW_ERROR_RECEIVER_FULL);
    }
    assert_int_equal(stats_of(b).messages_in_use, 5);
    uint32_t next = 0;
    for (int i = 0; i < 600; i++) {
        round_of(b, a, i * TICK);
        round_of(a, b, i * TICK);
        take_in_order(b, &next);
    }
    assert_int_equal(next, 10);
}

TEST(test_nothing_is_sent_that_the_receiver_has_no_room_for)
{
    struct cw_connection_config config = config_of_notes();
    config.channels[0].receive_queue_size = 8;
    struct pair pair = pair_open(&config, 0.05, 0.1);
    uint32_t sent = 0, received = 0;
    for (int i = 0; i < 1000; i++) {
        while (try_note(pair.sides[0], 0, sent, 0, pair.now))
            sent++;
        pair_tick(&pair);
        take_in_order(pair.sides[1], &received);
    }
    assert_true(received > 1000);
    assert_int_equal(stats_of(pair.sides[1]).packets_refused, 0);
}

TEST(test_thousands_of_small_messages_may_be_under_way)
{
    struct cw_connection_config config = config_of_notes();
    config.max_messages = 32768;
    config.channels[0].send_queue_size = config.channels[0].receive_queue_size = 16384;
    struct pair pair = pair_open(&config, 0.3, 0);
    for (int tick = 0; tick < 300; tick++) {
        for (int i = 0; i < 800; i++) {
            struct cw_message *message = make_note(pair.sides[0], SMALL_NOTE, 1, 0);
            assert_int_equal(cw_connection_send(pair.sides[0], 0, message, pair.now), CW_OK);
        }
        pair_tick(&pair);
        drain(pair.sides[1]);
    }
    assert_int_equal(channel_of(pair.sides[0], 0).resent, 0);
    assert_true(channel_of(pair.sides[0], 0).delivered > 270 * 800);
}

TEST(test_the_delivery_latency_is_from_send_to_ack)
{
    const struct cw_connection_config config = config_of_notes();
    struct pair pair = pair_open(&config, 0.2, 0);
    for (uint32_t i = 0; i < 100; i++) {
        send_note(pair.sides[0], 0, i, 0, pair.now);
        pair_tick(&pair);
        drain(pair.sides[1]);
    }
    const double latency = channel_of(pair.sides[0], 0).delivery_latency_seconds;
    assert_true(latency >= 0.2 && latency <= 0.2 + 2 * TICK);
    assert_true(channel_of(pair.sides[1], 0).delivery_latency_seconds == 0);
}
