/* Tests of every statistic of an endpoint against what really happened. */
#include "fixture.h"

#include "endpoints.h"

static struct seen at_a, at_b;

BEFORE_EACH_TEST
{
    seen_clear(&at_a);
    seen_clear(&at_b);
}

static void assert_close(double value, double expected, double tolerance)
{
    if (!(value >= expected - tolerance && value <= expected + tolerance))
        fail_msg("%.9g is not %.9g +- %.9g", value, expected, tolerance);
}

TEST(test_everything_is_zero_at_first)
{
    struct cw_endpoint *endpoint = endpoint_default();
    const struct cw_endpoint_stats zero = {0}, stats = stats_of(endpoint);
    assert_memory_equal(&stats, &zero, sizeof zero);
}

TEST(test_packets_fragments_datagrams_and_bytes_are_counted)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    static const uint8_t payload[4096] = {0};
    const size_t sizes[] = {0, 10, 1024, 1025, 4096};
    uint64_t bytes = 0;
    for (size_t i = 0; i < 5; i++) {
        struct wire wire = {.count = 0};
        wire_send(&wire, a, payload, sizes[i], 0);
        for (size_t j = 0; j < wire.count; j++)
            bytes += wire.datagrams[j].size;
        wire_deliver(&wire, b, 0, &at_b);
        wire_free(&wire);
    }
    const struct cw_endpoint_stats sent = stats_of(a), received = stats_of(b);
    assert_int_equal(sent.packets_sent, 5);
    assert_int_equal(sent.fragments_sent, 2 + 4);
    assert_int_equal(sent.datagrams_sent, 3 + 2 + 4);
    assert_int_equal(sent.bytes_sent, bytes);
    assert_int_equal(received.packets_received, 5);
    assert_int_equal(received.fragments_received, 2 + 4);
    assert_int_equal(received.datagrams_received, 3 + 2 + 4);
    assert_int_equal(received.bytes_received, bytes);
    assert_int_equal(received.packets_sent, 0);
    assert_int_equal(sent.packets_acked, 0);
    pass(b, a, 0, &at_a);
    assert_int_equal(stats_of(a).packets_acked, 5);
}

TEST(test_what_is_dropped_is_counted_by_reason)
{
    struct cw_endpoint *e = endpoint_default();
    const uint8_t short_header[3] = {0};
    receive_crafted(e, 500, 10, &at_a);
    for (int i = 0; i < 2; i++)
        receive_crafted(e, 500, 10, &at_a);
    for (uint16_t s = 0; s < 3; s++)
        receive_crafted(e, s, 10, &at_a);
    for (int i = 0; i < 4; i++)
        receive_bytes(e, short_header, sizeof short_header, 0, &at_a);
    receive_fragment(e, 501, 0, 3, 1024, &at_a);
    receive_fragment(e, 501, 0, 3, 1024, &at_a); /* duplicate */
    receive_fragment(e, 501, 1, 2, 1024, &at_a); /* malformed, as the count is another */
    receive_fragment(e, 1, 0, 3, 1024, &at_a);   /* stale */
    const struct cw_endpoint_stats stats = stats_of(e);
    assert_int_equal(stats.packets_received, 1);
    assert_int_equal(stats.packets_duplicate, 2 + 1);
    assert_int_equal(stats.packets_stale, 3 + 1);
    assert_int_equal(stats.packets_malformed, 4 + 1);
    assert_int_equal(stats.fragments_received, 1);
    assert_int_equal(stats.datagrams_received, 1 + 2 + 3 + 4 + 4);
    assert_int_equal(stats.bytes_received, 6 * 19 + 4 * 3 + 3 * (13 + 1024) + 5 + 1024);
    assert_int_equal(stats.packets_abandoned, 0);
    receive_crafted(e, 600, 10, &at_a);
    assert_int_equal(stats_of(e).packets_abandoned, 1);
}

TEST(test_missed_packets_are_those_passed_by_32_later_ones)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    for (int i = 0; i < 10; i++)
        pass(a, b, 0, &at_b);
    lose(a, 0);
    struct wire late;
    wire_send(&late, a, NULL, 0, 0);
    for (int i = 0; i < 31; i++)
        pass(a, b, 0, &at_b);
    assert_int_equal(stats_of(b).packets_missed, 1); /* 32 later ones went out, the last arrived */
    wire_deliver(&late, b, 0, &at_b);
    for (int i = 0; i < 100; i++)
        pass(a, b, 0, &at_b);
    assert_int_equal(stats_of(b).packets_missed, 1);
    assert_int_equal(stats_of(b).packets_received, 10 + 31 + 1 + 100);
    wire_free(&late);
}

TEST(test_the_first_packets_are_missed_too)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    for (int i = 0; i < 50; i++)
        lose(a, 0);
    for (int i = 0; i < 32; i++)
        pass(a, b, 0, &at_b);
    assert_int_equal(stats_of(b).packets_missed, 50);
}

TEST(test_rtt_smoothing_minimum_deviation_and_jitter)
{
    struct cw_endpoint_config config = cw_endpoint_config_default();
    config.rtt_smoothing = 0.2;
    struct cw_endpoint *a = endpoint_with(&config), *b = endpoint_with(&config);
    const double samples[] = {0.1, 0.2, 0.05, 0.05, 0.4};
    double rtt = 0, deviation = 0, jitter = 0, min = 1;
    for (int i = 0; i < 5; i++) {
        pass(a, b, i, &at_b);
        pass(b, a, i + samples[i], &at_a);
        if (i == 0) {
            rtt = samples[0];
            deviation = samples[0] / 2;
        } else {
            const double off = samples[i] > rtt ? samples[i] - rtt : rtt - samples[i];
            const double step = samples[i] > samples[i - 1] ? samples[i] - samples[i - 1]
                                                            : samples[i - 1] - samples[i];
            deviation += (off - deviation) / 4;
            jitter += (step - jitter) / 16;
            rtt += (samples[i] - rtt) * 0.2;
        }
        min = samples[i] < min ? samples[i] : min;
        const struct cw_endpoint_stats stats = stats_of(a);
        assert_close(stats.rtt, rtt, 1e-9);
        assert_close(stats.rtt_min, min, 1e-9);
        assert_close(stats.rtt_deviation, deviation, 1e-9);
        assert_close(stats.jitter, jitter, 1e-9);
    }
    assert_true(stats_of(b).rtt > 0); /* acks came with the next packet, a second later */
}

TEST(test_rtt_runs_from_commit)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    static const uint8_t payload[2000] = {0};
    uint8_t out[1100];
    size_t size;
    assert_int_equal(copy_packet(a, payload, sizeof payload, out, 6, &size), CW_OK);
    receive_bytes(b, out, size, 6, &at_b);
    size = cw_endpoint_transmit(a, out, sizeof out, 7);
    receive_bytes(b, out, size, 7, &at_b);
    pass(b, a, 7.5, &at_a);
    assert_close(stats_of(a).rtt, 1.5, 1e-9);
}

TEST(test_time_that_runs_backwards_is_a_sample_of_0)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    pass(a, b, 10, &at_b);
    pass(b, a, 9, &at_a);
    assert_close(stats_of(a).rtt, 0, 0);
    assert_close(stats_of(a).rtt_min, 0, 0);
}

TEST(test_rtt_says_what_the_wait_of_the_other_end_adds)
{
    const double path = 0.04, tick = 0.1;
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    for (int i = 0; i < 300; i++) {
        /* The other end answers half of the packets at once, and the others with the next tick. */
        const double now = i, wait = i % 2 ? tick : 0;
        pass(a, b, now, &at_b);
        pass(b, a, now + path + wait, &at_a);
    }
    const struct cw_endpoint_stats stats = stats_of(a);
    assert_true(stats.rtt_min > path - 1e-9 && stats.rtt_min < path + 1e-9);
    assert_true(stats.rtt > path + tick * 0.4 && stats.rtt < path + tick * 0.6);
}

/* Packets that were acked only because a later one was have waited, so they tell no RTT. */
TEST(test_rtt_takes_no_sample_from_acks_that_came_later)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    for (int i = 0; i < 10; i++)
        pass(a, b, i, &at_b);
    pass(b, a, 9.05, &at_a);
    assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_ACKED), 10);
    const struct cw_endpoint_stats stats = stats_of(a);
    assert_true(stats.rtt > 0.0499 && stats.rtt < 0.0501);
    assert_true(stats.jitter == 0);
}

/* The path has a constant delay and random loss both ways, at 100 packets a second, each answered
   at once. The counts are exact, the latest shares within what 128 packets can tell. */
TEST(test_rtt_and_loss_on_a_lossy_path)
{
    for (unsigned percent = 0; percent <= 50; percent += 10) {
        struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
        uint32_t random = 7, lost_there = 0, lost_back = 0, told_lost = 0;
        double seen_loss = 0, seen_missed = 0;
        for (int i = 0; i < 10000; i++) {
            const double now = i * 0.01;
            struct wire wire = {.count = 0};
            wire_send(&wire, a, "x", 1, now);
            random = random * 1664525u + 1013904223u;
            const bool there = (random >> 16) % 100 >= percent;
            random = random * 1664525u + 1013904223u;
            const bool back = (random >> 16) % 100 >= percent;
            if (there) {
                wire_deliver(&wire, b, now + 0.0035, &at_b);
                if (back)
                    pass(b, a, now + 0.007, &at_a);
                else
                    lose(b, now + 0.0035);
            }
            lost_there += !there;
            lost_back += there && !back;
            wire_free(&wire);
            cw_endpoint_update(a, now + 0.007);
            cw_endpoint_update(b, now + 0.007);
            seen_clear(&at_b);
            seen_take(&at_a, a);
            told_lost += (uint32_t)seen_count(&at_a, CW_ENDPOINT_EVENT_LOST);
            seen_clear(&at_a);
            if (i >= 1000) {
                seen_loss += stats_of(a).loss_sent / 9000;
                seen_missed += stats_of(b).loss_received / 9000;
            }
        }
        const struct cw_endpoint_stats here = stats_of(a), there = stats_of(b);
        const double truth = lost_there / 10000.0;
        assert_close((double)here.packets_lost / 10000, truth, 0.01);
        assert_close((double)there.packets_missed / 10000, truth, 0.01);
        assert_close((double)here.packets_missed / (10000.0 - lost_there),
                     lost_back / (10000.0 - lost_there), 0.01);
        assert_close(seen_loss, truth, 0.01);
        assert_close(seen_missed, truth, 0.01);
        assert_true(here.loss_sent >= 0 && here.loss_sent <= 1);
        assert_close(here.rtt_min, 0.007, 0.007 * 0.05);
        assert_close(here.rtt, 0.007, 0.007 * 0.05);
        assert_true(told_lost >= here.packets_lost);
    }
}

TEST(test_loss_follows_a_change_within_some_hundred_packets)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    double now = 0;
    for (int i = 0; i < 1000; i++, now += 0.01) {
        pass(a, b, now, &at_b);
        pass(b, a, now, &at_a);
    }
    assert_close(stats_of(a).loss_sent, 0, 0);
    assert_close(stats_of(b).loss_received, 0, 0);
    for (int i = 0; i < 600; i++, now += 0.01) {
        if (i % 2)
            pass(a, b, now, &at_b);
        else
            lose(a, now);
        pass(b, a, now, &at_a);
    }
    assert_close(stats_of(a).loss_sent, 0.5, 0.05);
    assert_close(stats_of(b).loss_received, 0.5, 0.05);
    for (int i = 0; i < 1000; i++, now += 0.01) {
        pass(a, b, now, &at_b);
        pass(b, a, now, &at_a);
    }
    assert_close(stats_of(a).loss_sent, 0, 0.01);
    assert_close(stats_of(b).loss_received, 0, 0.01);
}

TEST(test_bandwidths_are_those_of_about_the_last_second)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    static const uint8_t payload[996] = {0};
    double now = 0;
    for (int i = 0; i < 1000; i++, now += 0.01) {
        struct wire wire = {.count = 0};
        wire_send(&wire, a, payload, sizeof payload, now);
        if (i % 2 || i < 10)
            wire_deliver(&wire, b, now, &at_b);
        const double header = (double)wire.datagrams[0].size - 996;
        assert_true(header <= 9);
        wire_free(&wire);
        pass(b, a, now, &at_a);
        cw_endpoint_update(a, now);
        cw_endpoint_update(b, now);
    }
    assert_close(stats_of(a).sent_bytes_per_second, 100 * 1002, 100 * 8);
    assert_close(stats_of(b).received_bytes_per_second, 50 * 1002, 2 * 1002);
    assert_close(stats_of(a).acked_bytes_per_second, 50 * 1002, 2 * 1002);
    assert_close(stats_of(a).received_bytes_per_second, stats_of(b).sent_bytes_per_second, 100);
    for (int i = 0; i < 500; i++, now += 0.01)
        cw_endpoint_update(a, now);
    assert_close(stats_of(a).sent_bytes_per_second, 0, 100 * 1002 * 0.01);
    assert_close(stats_of(a).acked_bytes_per_second, 0, 100 * 1002 * 0.01);
}

TEST(test_the_bandwidth_acked_has_all_fragments_in_it)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    static const uint8_t payload[4096] = {0};
    for (int i = 0; i < 100; i++) {
        struct wire wire = {.count = 0};
        wire_send(&wire, a, payload, sizeof payload, i * 0.1);
        wire_deliver(&wire, b, i * 0.1, &at_b);
        wire_free(&wire);
        pass(b, a, i * 0.1, &at_a);
        cw_endpoint_update(a, i * 0.1);
    }
    assert_close(stats_of(a).acked_bytes_per_second, stats_of(a).sent_bytes_per_second, 1);
    assert_close(stats_of(a).acked_bytes_per_second, 10 * 4120, 10 * 20);
}

/* After a header that was lost, the next one brings late acks; one in 16 such samples in a row
   counts. */
TEST(test_rtt_takes_few_samples_from_headers_after_a_gap)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    pass(a, b, 0, &at_b);
    pass(b, a, 0.1, &at_a);
    for (int i = 1; i <= 15; i++) {
        pass(a, b, i, &at_b);
        lose(b, i + 0.1);
        pass(b, a, i + 0.2, &at_a);
        assert_close(stats_of(a).rtt, 0.1, 1e-9);
    }
    pass(a, b, 16, &at_b);
    lose(b, 16.1);
    pass(b, a, 16.2, &at_a);
    assert_close(stats_of(a).rtt, 0.11, 1e-9);
}
