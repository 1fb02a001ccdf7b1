/* Tests of sequence numbers that wrap, again and again, also while next to nothing arrives. */
#include "fixture.h"

#include "endpoints.h"

static struct seen at_a, at_b;

BEFORE_EACH_TEST
{
    seen_clear(&at_a);
    seen_clear(&at_b);
}

static void send_large(struct cw_endpoint *from, struct cw_endpoint *to, uint32_t seed)
{
    struct wire wire;
    uint8_t payload[3333];
    fill_payload(payload, sizeof payload, seed);
    wire_send(&wire, from, payload, sizeof payload, 0);
    seen_clear(&at_b);
    wire_deliver(&wire, to, 0, &at_b);
    assert_int_equal(seen_times(&at_b, CW_ENDPOINT_EVENT_PACKET, wire.sequence), 1);
    assert_int_equal(at_b.size, sizeof payload);
    assert_memory_equal(at_b.payload, payload, sizeof payload);
    wire_free(&wire);
}

TEST(test_fragments_after_any_number_of_whole_packets)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    const uint32_t gaps[] = {32767, 32768, 32769, 65535, 65536, 65537, 100, 70000};
    for (uint32_t i = 0; i < 8; i++) {
        send_large(a, b, i);
        for (uint32_t j = 0; j < gaps[i]; j++) {
            seen_clear(&at_b);
            pass(a, b, 0, &at_b);
            assert_int_equal(seen_count(&at_b, CW_ENDPOINT_EVENT_PACKET), 1);
            seen_clear(&at_a);
            seen_take(&at_a, a);
        }
    }
    send_large(a, b, 99);
    assert_int_equal(stats_of(b).packets_stale, 0);
}

TEST(test_a_half_packet_does_not_survive_the_wrap)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    struct wire old, young;
    uint8_t old_payload[2000], young_payload[2000];
    memset(old_payload, 0x11, sizeof old_payload);
    memset(young_payload, 0x22, sizeof young_payload);
    wire_send(&old, a, old_payload, sizeof old_payload, 0);
    receive_bytes(b, old.datagrams[0].data, old.datagrams[0].size, 0, &at_b);
    for (uint32_t i = 0; i < 65535; i++) {
        seen_clear(&at_b);
        pass(a, b, 0, &at_b);
        seen_clear(&at_a);
        seen_take(&at_a, a);
    }
    assert_int_equal(stats_of(b).packets_abandoned, 1);
    /* A packet with the same number comes: only its own fragments make it whole. */
    wire_send(&young, a, young_payload, sizeof young_payload, 0);
    assert_int_equal(young.sequence, old.sequence);
    seen_clear(&at_b);
    receive_bytes(b, young.datagrams[1].data, young.datagrams[1].size, 0, &at_b);
    assert_int_equal(at_b.count, 0);
    receive_bytes(b, young.datagrams[0].data, young.datagrams[0].size, 0, &at_b);
    assert_int_equal(at_b.count, 1);
    assert_memory_equal(at_b.payload, young_payload, sizeof young_payload);
    wire_free(&old);
    wire_free(&young);
}

/* Reassemblies that are never completed do not use up the slots. */
TEST(test_half_packets_do_not_leak)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    uint8_t payload[2000] = {0};
    for (uint32_t i = 0; i < 70000; i++) {
        struct wire wire;
        wire_send(&wire, a, payload, sizeof payload, 0);
        seen_clear(&at_b);
        if (i % 3 == 0) {
            wire_deliver(&wire, b, 0, &at_b);
            assert_int_equal(seen_count(&at_b, CW_ENDPOINT_EVENT_PACKET), 1);
        } else {
            assert_int_equal(
                receive_bytes(b, wire.datagrams[0].data, wire.datagrams[0].size, 0, &at_b), CW_OK);
        }
        wire_free(&wire);
        seen_clear(&at_a);
        seen_take(&at_a, a);
    }
    assert_in_range(stats_of(b).packets_abandoned, 46662, 46666);
}

/* Both ways lose over 90 % over many laps: all that is acked and received is of this lap. */
TEST(test_the_previous_lap_is_forgotten_under_heavy_loss)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    static uint32_t arrived_in_lap[65536];
    uint32_t random = 3, delivered = 0, acked = 0;
    memset(arrived_in_lap, 0xFF, sizeof arrived_in_lap);
    for (uint32_t i = 0; i < 5 * 65536; i++) {
        struct wire wire;
        uint8_t payload[4] = {(uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 16), 0};
        wire_send(&wire, a, payload, sizeof payload, i / 60.0);
        random = random * 1664525u + 1013904223u;
        if (random >> 16 < 0x10000 / 20) {
            seen_clear(&at_b);
            wire_deliver(&wire, b, 0, &at_b); /* fails for a duplicate or stale packet */
            assert_memory_equal(at_b.payload, payload, sizeof payload);
            arrived_in_lap[(uint16_t)i] = i / 65536;
            delivered++;
            random = random * 1664525u + 1013904223u;
            seen_clear(&at_a);
            if (random >> 16 < 0x10000 / 20)
                pass(b, a, i / 60.0, &at_a);
            else
                lose(b, i / 60.0);
        }
        wire_free(&wire);
        cw_endpoint_update(a, i / 60.0);
        cw_endpoint_update(b, i / 60.0);
        seen_take(&at_a, a);
        for (size_t j = 0; j < at_a.count; j++) {
            if (at_a.events[j].type != CW_ENDPOINT_EVENT_ACKED)
                continue;
            const uint16_t s = at_a.events[j].sequence;
            const uint32_t sent_at = i - (uint16_t)(i - s);
            assert_int_equal(arrived_in_lap[s], sent_at / 65536);
            acked++;
        }
        seen_clear(&at_a);
        seen_clear(&at_b);
    }
    assert_true(delivered > 10000 && acked > 100);
}

TEST(test_silence_for_any_time_leaves_no_false_ack)
{
    const uint32_t silences[] = {1,     31,    32,    33,    255,   256,   257,    32767,
                                 32768, 32769, 65535, 65536, 65600, 65900, 131072, 200000};
    for (size_t i = 0; i < sizeof silences / sizeof *silences; i++) {
        struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
        for (int j = 0; j < 300; j++) {
            pass(a, b, 0, &at_b);
            pass(b, a, 0, &at_a);
        }
        seen_clear(&at_a);
        for (uint32_t j = 0; j < silences[i]; j++) {
            lose(a, 0);
            seen_take(&at_a, a);
            if (at_a.count > MAX_SEEN - 1000)
                seen_clear(&at_a);
        }
        assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_ACKED), 0);
        seen_clear(&at_a);
        /* b still acks what it knows; none of the new packets has that number. */
        pass(b, a, 0, &at_a);
        assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_ACKED), 0);
        seen_clear(&at_a);
        /* Acks go on as soon as packets arrive that b does not take for old ones. */
        uint32_t more = 0;
        while (seen_count(&at_a, CW_ENDPOINT_EVENT_ACKED) == 0 && more++ < 40000) {
            seen_clear(&at_a);
            struct wire wire;
            wire_send(&wire, a, NULL, 0, 0);
            receive_bytes(b, wire.datagrams[0].data, wire.datagrams[0].size, 0, &at_b);
            wire_free(&wire);
            seen_clear(&at_b);
            pass(b, a, 0, &at_a);
        }
        assert_true(more < 33100);
        seen_clear(&at_a);
        seen_clear(&at_b);
    }
}

/* The other end has received nothing for a lap, and goes on acking what it had. These acks must not
   count for the packets that have these numbers now. */
TEST(test_acks_of_the_lap_before_are_not_believed)
{
    for (uint32_t more = 0; more < 300; more = more * 3 + 1) {
        struct cw_endpoint *a = endpoint_default();
        for (int i = 0; i < 40; i++)
            lose(a, 0);
        receive_acks(a, 0, 39, 0xFFFFFFFF, 0, &at_a);
        assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_ACKED), 32);
        for (uint32_t i = 0; i < 65536 + more; i++) {
            lose(a, 0);
            seen_clear(&at_a);
            seen_take(&at_a, a);
        }
        seen_clear(&at_a);
        receive_acks(a, 1, 39, 0xFFFFFFFF, 0, &at_a);
        assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_ACKED), 0);
        /* Then a packet arrives, and its ack comes with those of the lap before. */
        const uint16_t arrived = lose(a, 0);
        const uint32_t ahead = (uint32_t)(arrived - 39);
        receive_acks(a, 2, arrived, ahead < 32 ? 0xFFFFFFFF << ahead | 1 : 1, 0, &at_a);
        assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_ACKED), 1);
        assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_ACKED, arrived), 1);
        seen_clear(&at_a);
    }
}

TEST(test_every_window_size_works_over_the_wrap)
{
    for (uint32_t window = 32; window <= 16384; window *= 2) {
        struct cw_endpoint_config config = cw_endpoint_config_default();
        config.sent_window = config.received_window = window;
        struct cw_endpoint *a = endpoint_with(&config), *b = endpoint_with(&config);
        for (uint32_t i = 0; i < 2 * 65536 + 100; i++) {
            seen_clear(&at_a);
            seen_clear(&at_b);
            if (i % 8 == 7) {
                lose(a, 0);
            } else {
                pass(a, b, 0, &at_b);
                pass(b, a, 0, &at_a);
                assert_int_equal(seen_times(&at_b, CW_ENDPOINT_EVENT_PACKET, (uint16_t)i), 1);
                assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_ACKED, (uint16_t)i), 1);
                assert_int_equal(seen_count(&at_a, CW_ENDPOINT_EVENT_LOST), i > 8 && i % 8 == 2);
            }
        }
        assert_int_equal(stats_of(a).packets_lost, stats_of(a).packets_sent / 8);
    }
}

/* A slot of the window is used only once in a lap, so what it held then has the same number. */
TEST(test_a_number_is_no_duplicate_of_the_lap_before)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    for (uint32_t i = 0; i < 4 * 65536; i++) {
        if (i % 256 == 5 && i % 65536 != 5)
            lose(a, 0);
        else
            pass(a, b, 0, &at_b);
        seen_clear(&at_b);
        seen_take(&at_a, a);
        seen_clear(&at_a);
    }
    assert_int_equal(stats_of(b).packets_duplicate, 0);
}
