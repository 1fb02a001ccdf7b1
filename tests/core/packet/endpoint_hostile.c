/* Tests of datagrams that arrive again, arrive too late, or were made in bad faith. */
#include "fixture.h"

#include "endpoints.h"

static struct seen at_a, at_b;

BEFORE_EACH_TEST
{
    seen_clear(&at_a);
    seen_clear(&at_b);
}

TEST(test_nothing_is_delivered_twice_at_any_distance)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    static struct wire wires[600];
    static uint8_t large[1500];
    for (size_t i = 0; i < 600; i++) {
        wire_send(&wires[i], a, large, i % 10 ? 5 : sizeof large, 0);
        wire_deliver(&wires[i], b, 0, &at_b);
        for (size_t back = 0; back <= i; back += i % 50 ? 37 : 1) {
            const struct wire *old = &wires[i - back];
            for (size_t j = 0; j < old->count; j++) {
                const enum cw_error error =
                    receive_bytes(b, old->datagrams[j].data, old->datagrams[j].size, 0, &at_b);
                const size_t window = old->count > 1 ? 64 : 256;
                assert_int_equal(error, back < window ? CW_ERROR_DUPLICATE : CW_ERROR_STALE);
            }
        }
        seen_clear(&at_a);
        seen_take(&at_a, a);
    }
    assert_int_equal(at_b.count, 600);
    for (size_t i = 0; i < 600; i++)
        wire_free(&wires[i]);
}

TEST(test_a_packet_later_than_the_window_is_dropped)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    struct wire in_time, late;
    wire_send(&late, a, "late", 4, 0);
    wire_send(&in_time, a, "in time", 7, 0);
    for (int i = 0; i < 255; i++)
        pass(a, b, 0, &at_b);
    wire_deliver(&in_time, b, 0, &at_b);
    assert_memory_equal(at_b.payload, "in time", 7);
    assert_int_equal(receive_bytes(b, late.datagrams[0].data, late.datagrams[0].size, 0, &at_b),
                     CW_ERROR_STALE);
    wire_free(&in_time);
    wire_free(&late);
}

TEST(test_acks_of_packets_never_sent_do_nothing)
{
    struct cw_endpoint *e = endpoint_default();
    uint16_t sequence = 0;
    for (int i = 0; i < 10; i++)
        lose(e, 0);
    const uint16_t acks[] = {10, 11, 41, 42, 265, 266, 1000, 32777, 32778, 40000, 65535, 65400};
    for (size_t i = 0; i < sizeof acks / sizeof *acks; i++)
        receive_acks(e, sequence++, acks[i], 0xFFFFFFFF, 1, &at_a);
    assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_ACKED), 0);
    assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_LOST), 0);
    assert_true(stats_of(e).rtt == 0);
    /* These acks do not spoil the honest one. */
    receive_acks(e, sequence, 9, 0x3FF, 1, &at_a);
    assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_ACKED), 10);
}

TEST(test_every_header_there_is_does_no_harm)
{
    struct cw_endpoint *e = endpoint_default();
    uint32_t random = 17;
    static uint8_t fates[65536];
    memset(fates, 0, sizeof fates);
    for (uint32_t i = 0; i < 200000; i++) {
        uint8_t bytes[40];
        for (size_t j = 0; j < sizeof bytes; j++) {
            random = random * 1664525u + 1013904223u;
            bytes[j] = (uint8_t)(random >> 24);
        }
        if (random & 0x100) /* half are near the expected numbers, as nearly all others are stale */
            bytes[2] = (uint8_t)(i >> 10), bytes[4] = (uint8_t)(i >> 10);
        receive_bytes(e, bytes, random >> 16 & 15 ? random >> 20 & 15 : sizeof bytes, i, &at_a);
        if (i % 4 == 0) {
            const uint16_t sent = lose(e, i);
            assert_int_equal(sent, i / 4 % 65536);
        }
        cw_endpoint_update(e, i);
        seen_take(&at_a, e);
        for (size_t j = 0; j < at_a.count; j++) {
            if (at_a.events[j].type == CW_ENDPOINT_EVENT_PACKET)
                continue;
            const unsigned bit = at_a.events[j].type == CW_ENDPOINT_EVENT_ACKED ? 1 : 2;
            assert_false(fates[at_a.events[j].sequence] & bit);
            fates[at_a.events[j].sequence] |= (uint8_t)bit;
        }
        seen_clear(&at_a);
    }
    cw_endpoint_update(e, 1e6);
    seen_take(&at_a, e);
    for (size_t j = 0; j < at_a.count; j++)
        fates[at_a.events[j].sequence] |= 2;
    for (uint32_t s = 0; s < 50000; s++)
        assert_int_not_equal(fates[s], 0);
}

TEST(test_a_number_far_ahead_moves_the_window_at_most_half_way)
{
    struct cw_endpoint *e = endpoint_default();
    assert_int_equal(receive_crafted(e, 300, 0, &at_a), CW_OK);
    assert_int_equal(receive_crafted(e, 32814, 0, &at_a), CW_ERROR_STALE);
    assert_int_equal(receive_crafted(e, 32813, 0, &at_a), CW_OK);
    assert_int_equal(receive_crafted(e, 301, 0, &at_a), CW_ERROR_STALE);
    assert_int_equal(receive_crafted(e, 32814, 0, &at_a), CW_OK);
    assert_int_equal(stats_of(e).packets_received, 3);
}
