/* Tests of the fate of the packets that an endpoint sent: acked or lost, told once, and never
   forgotten. */
#include "fixture.h"

#include "endpoints.h"

static struct seen at_a, at_b;

BEFORE_EACH_TEST
{
    seen_clear(&at_a);
    seen_clear(&at_b);
}

TEST(test_an_ack_is_told_once_however_often_it_comes)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    pass(a, b, 0, &at_b);
    for (int i = 0; i < 40; i++)
        pass(b, a, 0, &at_a);
    assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_ACKED, 0), 1);
    assert_int_equal(at_a.count, 40 + 1);
    assert_int_equal(stats_of(a).packets_acked, 1);
}

TEST(test_the_packet_comes_before_the_acks_it_brings)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    pass(a, b, 0, &at_b);
    pass(b, a, 0, &at_a);
    assert_int_equal(at_a.count, 2);
    assert_int_equal(at_a.events[0].type, CW_ENDPOINT_EVENT_PACKET);
    assert_int_equal(at_a.events[1].type, CW_ENDPOINT_EVENT_ACKED);
}

TEST(test_each_of_the_32_packets_in_a_header_is_acked)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    for (int i = 0; i < 32; i++)
        pass(a, b, 0, &at_b);
    pass(b, a, 0, &at_a);
    for (uint16_t s = 0; s < 32; s++)
        assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_ACKED, s), 1);
    assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_LOST), 0);
}

TEST(test_a_packet_is_lost_once_after_three_later_acks)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    lose(a, 0);
    for (unsigned later = 1; later <= 10; later++) {
        pass(a, b, 0, &at_b);
        pass(b, a, 0, &at_a);
        assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_LOST, 0), later >= 3);
    }
    cw_endpoint_update(a, 100);
    seen_take(&at_a, a);
    assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_LOST), 1);
    assert_int_equal(stats_of(a).packets_lost, 1);
}

TEST(test_later_acks_in_one_header_count_each)
{
    struct cw_endpoint *a = endpoint_default();
    for (int i = 0; i < 8; i++)
        lose(a, 0);
    /* The packets 7, 5 and 4 arrived: these are too few for 6, and enough for 0 to 3. */
    receive_acks(a, 0, 7, 0xD, 0, &at_a);
    for (uint16_t s = 0; s < 8; s++) {
        assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_LOST, s), s < 4);
        assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_ACKED, s), s == 4 || s == 5 || s == 7);
    }
}

TEST(test_without_samples_a_packet_is_lost_after_a_second)
{
    struct cw_endpoint *a = endpoint_default();
    lose(a, 10);
    cw_endpoint_update(a, 10.99);
    seen_take(&at_a, a);
    assert_int_equal(at_a.count, 0);
    cw_endpoint_update(a, 11);
    cw_endpoint_update(a, 12);
    seen_take(&at_a, a);
    assert_int_equal(at_a.count, 1);
    assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_LOST, 0), 1);
}

TEST(test_the_timeout_follows_the_rtt)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    const double now = 10;
    for (int i = 0; i < 3; i++) {
        pass(a, b, i, &at_b);
        pass(b, a, i + (i == 1 ? 0.3 : 0.1), &at_a);
    }
    const struct cw_endpoint_stats stats = stats_of(a);
    assert_true(stats.rtt > 0.1 && stats.rtt_deviation > 0.05);
    const double timeout = 2 * stats.rtt + 4 * stats.rtt_deviation;
    const uint16_t lost = lose(a, now);
    cw_endpoint_update(a, now + timeout - 0.001);
    seen_take(&at_a, a);
    assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_LOST), 0);
    cw_endpoint_update(a, now + timeout + 0.001);
    seen_take(&at_a, a);
    assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_LOST, lost), 1);
}

TEST(test_the_timeout_is_never_below_its_minimum)
{
    struct cw_endpoint_config config = cw_endpoint_config_default();
    config.min_loss_timeout_seconds = 0.25;
    struct cw_endpoint *a = endpoint_with(&config), *b = endpoint_with(&config);
    for (int i = 0; i < 100; i++) {
        pass(a, b, i, &at_b);
        pass(b, a, i + 0.001, &at_a);
    }
    lose(a, 200);
    cw_endpoint_update(a, 200.249);
    seen_take(&at_a, a);
    assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_LOST), 0);
    cw_endpoint_update(a, 200.251);
    seen_take(&at_a, a);
    assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_LOST), 1);
}

TEST(test_a_late_ack_follows_the_loss)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    struct wire late;
    wire_send(&late, a, "late", 4, 0);
    for (int i = 0; i < 5; i++)
        pass(a, b, 0, &at_b);
    pass(b, a, 0, &at_a);
    assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_LOST, 0), 1);
    assert_int_equal(stats_of(a).packets_lost, 1);
    wire_deliver(&late, b, 0, &at_b);
    pass(b, a, 0, &at_a);
    pass(b, a, 0, &at_a);
    assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_LOST, 0), 1);
    assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_ACKED, 0), 1);
    assert_int_equal(stats_of(a).packets_lost, 0);
    assert_int_equal(stats_of(a).packets_acked, 6);
    wire_free(&late);
}

TEST(test_a_packet_that_leaves_the_window_is_lost)
{
    struct cw_endpoint *a = endpoint_default();
    for (int i = 0; i < 256; i++)
        lose(a, 0);
    seen_take(&at_a, a);
    assert_int_equal(at_a.count, 0);
    lose(a, 0);
    seen_take(&at_a, a);
    assert_int_equal(at_a.count, 1);
    assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_LOST, 0), 1);
    /* The ack of packet 0 comes too late to be told. */
    receive_acks(a, 0, 0, 1, 0, &at_a);
    assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_ACKED), 0);
}

TEST(test_10000_packets_without_an_ack_are_all_told)
{
    struct cw_endpoint *a = endpoint_default();
    for (int i = 0; i < 10000; i++) {
        lose(a, i / 60.0);
        cw_endpoint_update(a, i / 60.0);
        seen_take(&at_a, a);
    }
    cw_endpoint_update(a, 1000);
    seen_take(&at_a, a);
    assert_int_equal(at_a.count, 10000);
    for (uint16_t s = 0; s < 10000; s++) {
        assert_int_equal(at_a.events[s].type, CW_ENDPOINT_EVENT_LOST);
        assert_int_equal(at_a.events[s].sequence, s);
    }
}

/* Sends until it is refused; the packets arrive, but not their acks. */
static unsigned send_until_refused(struct cw_endpoint *from, struct cw_endpoint *to)
{
    struct wire wire;
    for (unsigned sent = 0; sent < 100000; sent++) {
        const struct cw_endpoint_stats before = stats_of(from);
        const uint16_t next = cw_endpoint_next_sequence(from);
        const enum cw_error error = wire_try(&wire, from, "x", 1, 0);
        if (error == CW_ERROR_EVENTS_PENDING) {
            const struct cw_endpoint_stats after = stats_of(from);
            assert_memory_equal(&before, &after, sizeof before);
            assert_int_equal(cw_endpoint_next_sequence(from), next);
            return sent;
        }
        assert_int_equal(error, CW_OK);
        wire_deliver(&wire, to, 0, &at_b);
        wire_free(&wire);
    }
    fail_msg("never refused");
    return 0;
}

TEST(test_a_slow_application_is_held_back_and_goes_on_after_draining)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    size_t sent = 0;
    for (int round = 0; round < 20; round++) {
        const unsigned accepted = send_until_refused(a, b);
        assert_in_range(accepted, 256, 4 * 256);
        sent += accepted;
        seen_take(&at_a, a);
        assert_int_equal(cw_endpoint_next_sequence(a), sent % 65536);
    }
    cw_endpoint_update(a, 100);
    seen_take(&at_a, a);
    assert_int_equal(at_a.count, sent);
    for (size_t s = 0; s < sent; s++) {
        assert_int_equal(at_a.events[s].type, CW_ENDPOINT_EVENT_LOST);
        assert_int_equal(at_a.events[s].sequence, s);
    }
}

TEST(test_acks_wait_for_as_long_as_it_takes)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    for (int i = 0; i < 250; i++) {
        struct wire wire;
        struct cw_endpoint_event event;
        pass(a, b, i, &at_b);
        wire_send(&wire, b, NULL, 0, i);
        assert_int_equal(cw_endpoint_receive(a, wire.datagrams[0].data, wire.datagrams[0].size, i),
                         CW_OK);
        assert_true(cw_endpoint_next(a, &event));
        assert_int_equal(event.type, CW_ENDPOINT_EVENT_PACKET);
        cw_endpoint_accept(a, event.sequence);
        cw_endpoint_update(a, i);
        wire_free(&wire);
    }
    seen_take(&at_a, a);
    assert_int_equal(at_a.count, 250);
    for (uint16_t s = 0; s < 250; s++) {
        assert_int_equal(at_a.events[s].type, CW_ENDPOINT_EVENT_ACKED);
        assert_int_equal(at_a.events[s].sequence, s);
    }
}

/* The application takes events only when send refuses, while packets, acks and time pass in every
   way. */
TEST(test_no_event_is_lost_when_they_are_taken_late)
{
    struct cw_endpoint_config config = cw_endpoint_config_default();
    config.sent_window = 32;
    struct cw_endpoint *a = endpoint_with(&config), *b = endpoint_with(&config);
    struct cw_endpoint_event event;
    struct wire wire[4];
    static uint8_t arrived[65536], acked[65536], lost[65536];
    memset(arrived, 0, sizeof arrived);
    memset(acked, 0, sizeof acked);
    memset(lost, 0, sizeof lost);
    uint32_t random = 1, refused = 0, sent = 0;
    double now = 0;
    for (size_t i = 0; i < 4; i++)
        wire[i].count = 0;
    while (sent < 60000) {
        random = random * 1664525u + 1013904223u;
        now += (random >> 24) / 2560.0;
        /* Each place keeps a packet back, so that it arrives late or never. */
        struct wire *slot = &wire[random >> 8 & 3];
        wire_free(slot);
        if (wire_try(slot, a, "x", 1, now) == CW_ERROR_EVENTS_PENDING) {
            refused++;
            while (cw_endpoint_next(a, &event)) {
                assert_int_not_equal(event.type, CW_ENDPOINT_EVENT_PACKET);
                uint8_t *fates = event.type == CW_ENDPOINT_EVENT_ACKED ? acked : lost;
                assert_int_equal(fates[event.sequence]++, 0);
                if (event.type == CW_ENDPOINT_EVENT_ACKED)
                    assert_true(arrived[event.sequence]);
                else
                    assert_false(acked[event.sequence]);
            }
            continue;
        }
        sent++;
        slot = &wire[random >> 10 & 3];
        if (slot->count && cw_endpoint_receive(b, slot->datagrams[0].data, slot->datagrams[0].size,
                                               now) == CW_OK) {
            arrived[slot->sequence] = 1;
            seen_clear(&at_b);
            seen_take(&at_b, b);
        }
        if (random >> 12 & 1) {
            struct wire back;
            wire_send(&back, b, NULL, 0, now);
            if (random >> 13 & 1) {
                assert_int_equal(
                    cw_endpoint_receive(a, back.datagrams[0].data, back.datagrams[0].size, now),
                    CW_OK);
                assert_true(cw_endpoint_next(a, &event)); /* the packet comes first */
                assert_int_equal(event.type, CW_ENDPOINT_EVENT_PACKET);
                cw_endpoint_accept(a, event.sequence);
            }
            wire_free(&back);
        }
        seen_take(&at_b, b);
        cw_endpoint_update(a, now);
    }
    cw_endpoint_update(a, now + 100);
    while (cw_endpoint_next(a, &event))
        (event.type == CW_ENDPOINT_EVENT_ACKED ? acked : lost)[event.sequence]++;
    size_t both = 0;
    for (uint32_t s = 0; s < sent; s++) {
        assert_true(acked[s] <= 1 && lost[s] <= 1 && acked[s] + lost[s] >= 1);
        both += acked[s] && lost[s];
    }
    assert_true(refused > 100);
    assert_true(both > 100);
    for (size_t i = 0; i < 4; i++)
        wire_free(&wire[i]);
}

TEST(test_acks_missed_in_one_header_come_with_the_next)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    for (int i = 0; i < 320; i++) {
        pass(a, b, 0, &at_b);
        if (i % 16 == 15)
            pass(b, a, 0, &at_a);
        else
            lose(b, 0);
    }
    assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_ACKED), 320);
    assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_LOST), 0);
}

TEST(test_headers_that_arrive_in_the_wrong_order_tell_the_same)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    struct wire back[50];
    for (int i = 0; i < 50; i++) {
        if (i % 5)
            pass(a, b, 0, &at_b);
        else
            lose(a, 0);
        wire_send(&back[i], b, NULL, 0, 0);
    }
    for (int i = 0; i < 50; i++)
        wire_deliver(&back[(i * 17 + 5) % 50], a, 0, &at_a);
    for (uint16_t s = 0; s < 50; s++) {
        assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_ACKED, s), s % 5 != 0);
        assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_LOST, s), s % 5 == 0);
        wire_free(&back[s]);
    }
}

TEST(test_a_header_that_comes_late_still_acks_what_only_it_knows)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    struct wire early;
    early.count = 0;
    for (int i = 0; i <= 50; i++) {
        pass(a, b, 0, &at_b);
        if (i == 30)
            wire_send(&early, b, NULL, 0, 0);
    }
    pass(b, a, 0, &at_a);
    assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_ACKED), 32);
    assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_LOST), 19);
    wire_deliver(&early, a, 0, &at_a);
    for (uint16_t s = 0; s <= 50; s++)
        assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_ACKED, s), 1);
    wire_free(&early);
}
