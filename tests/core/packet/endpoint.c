/* The endpoint's face: send, transmit, receive, next, refuse, reset. What becomes
   of packets in endpoint_fate.c, the statistics in endpoint_stats.c. */
#include "endpoints.h"

static struct seen seen;

static int clear_seen(void **state)
{
    (void)state;
    seen_clear(&seen);
    return 0;
}

static void test_packets_are_numbered_from_0_and_wrap(void **state)
{
    (void)state;
    struct cw_endpoint *endpoint = endpoint_default();
    struct wire wire;
    for (uint32_t i = 0; i < 65536 + 10; i++) {
        assert_int_equal(cw_endpoint_next_sequence(endpoint), i % 65536);
        wire_send(&wire, endpoint, NULL, 0, 0);
        assert_int_equal(wire.sequence, i % 65536);
        wire_free(&wire);
        seen_clear(&seen);
        seen_take(&seen, endpoint);
    }
    assert_int_equal(cw_endpoint_send(endpoint, NULL, 0, 0, NULL), CW_OK);
    cw_endpoint_destroy(endpoint);
}

static void test_every_size_arrives_as_it_was(void **state)
{
    (void)state;
    struct cw_endpoint_config config = cw_endpoint_config_default();
    config.max_packet_size = 1000;
    config.fragment_size = 100;
    config.fragment_above = 250;
    struct cw_endpoint *a = endpoint_with(&config), *b = endpoint_with(&config);
    uint8_t payload[1000];
    struct wire wire;
    for (size_t size = 0; size <= sizeof payload; size++) {
        fill_payload(payload, size, (uint32_t)size);
        wire_send(&wire, a, payload, size, 0);
        assert_int_equal(wire.count, size <= 250 ? 1 : (size + 99) / 100);
        for (size_t i = 0; i < wire.count; i++)
            assert_true(wire.datagrams[i].size <= cw_endpoint_max_datagram_size(a));
        seen_clear(&seen);
        wire_deliver(&wire, b, 0, &seen);
        assert_int_equal(seen_count(&seen, CW_ENDPOINT_EVENT_PACKET), 1);
        assert_int_equal(seen_times(&seen, CW_ENDPOINT_EVENT_PACKET, wire.sequence), 1);
        assert_int_equal(seen.size, size);
        assert_memory_equal(seen.payload, payload, size);
        wire_free(&wire);
        pass(b, a, 0, &seen);
        seen_take(&seen, a);
    }
    cw_endpoint_destroy(a);
    cw_endpoint_destroy(b);
}

static void test_fragments_may_arrive_in_any_order(void **state)
{
    (void)state;
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    uint8_t payload[4096];
    struct wire wire;
    for (unsigned order = 0; order < 24; order++) {
        unsigned left[4] = {0, 1, 2, 3}, pick = order;
        fill_payload(payload, sizeof payload, order);
        wire_send(&wire, a, payload, sizeof payload, 0);
        assert_int_equal(wire.count, 4);
        seen_clear(&seen);
        for (unsigned n = 4; n > 0; n--) {
            assert_int_equal(seen.count, 0);
            const unsigned i = pick % n;
            const unsigned id = left[i];
            pick /= n;
            left[i] = left[n - 1];
            assert_int_equal(
                receive_bytes(b, wire.datagrams[id].data, wire.datagrams[id].size, 0, &seen),
                CW_OK);
        }
        assert_int_equal(seen.count, 1);
        assert_int_equal(seen.size, sizeof payload);
        assert_memory_equal(seen.payload, payload, sizeof payload);
        wire_free(&wire);
    }
    cw_endpoint_destroy(a);
    cw_endpoint_destroy(b);
}

static void test_send_copies_the_payload(void **state)
{
    (void)state;
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    char payload[] = "before";
    struct wire wire;
    assert_int_equal(cw_endpoint_send(a, (uint8_t *)payload, 6, 0, NULL), CW_OK);
    memcpy(payload, "after.", 6);
    wire_fill(&wire, a, 0);
    wire_deliver(&wire, b, 0, &seen);
    assert_memory_equal(seen.payload, "before", 6);
    wire_free(&wire);
    cw_endpoint_destroy(a);
    cw_endpoint_destroy(b);
}

static void assert_send_changes_nothing(struct cw_endpoint *endpoint, size_t size,
                                        enum cw_error error)
{
    static const uint8_t payload[5000] = {0};
    const struct cw_endpoint_stats before = stats_of(endpoint);
    const uint16_t next = cw_endpoint_next_sequence(endpoint);
    uint16_t sequence = 12345;
    assert_int_equal(cw_endpoint_send(endpoint, payload, size, 9, &sequence), error);
    const struct cw_endpoint_stats after = stats_of(endpoint);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(cw_endpoint_next_sequence(endpoint), next);
    assert_int_equal(sequence, 12345);
}

static void test_a_packet_too_large_changes_nothing(void **state)
{
    (void)state;
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    assert_send_changes_nothing(a, 4097, CW_ERROR_PACKET_TOO_LARGE);
    struct wire wire;
    wire_fill(&wire, a, 0);
    assert_int_equal(wire.count, 0);
    assert_int_equal(pass(a, b, 0, &seen), 0);
    cw_endpoint_destroy(a);
    cw_endpoint_destroy(b);
}

static void test_a_send_before_all_is_transmitted_changes_nothing(void **state)
{
    (void)state;
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    uint8_t payload[2500], out[1100];
    fill_payload(payload, sizeof payload, 1);
    assert_int_equal(cw_endpoint_send(a, payload, sizeof payload, 0, NULL), CW_OK);
    for (int i = 0; i < 3; i++) {
        assert_send_changes_nothing(a, 10, CW_ERROR_TRANSMIT_PENDING);
        const size_t size = cw_endpoint_transmit(a, out, sizeof out, 0);
        assert_true(size > 0);
        assert_int_equal(receive_bytes(b, out, size, 0, &seen), CW_OK);
    }
    assert_int_equal(cw_endpoint_transmit(a, out, sizeof out, 0), 0);
    assert_int_equal(seen.size, sizeof payload);
    assert_memory_equal(seen.payload, payload, sizeof payload);
    assert_int_equal(pass(a, b, 0, &seen), 1);
    cw_endpoint_destroy(a);
    cw_endpoint_destroy(b);
}

static void test_the_largest_datagram_is_told(void **state)
{
    (void)state;
    /* {max_packet_size, fragment_size, fragment_above}, and what that makes */
    const uint32_t sizes[][4] = {
        {4096, 1024, 1024, 1024 + 9 + 5},
        {1000, 1024, 1024, 1000 + 9},
        {4096, 500, 1200, 1200 + 9},
        {4096, 1200, 500, 1200 + 9 + 5},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct cw_endpoint_config config = cw_endpoint_config_default();
        config.max_packet_size = sizes[i][0];
        config.fragment_size = sizes[i][1];
        config.fragment_above = sizes[i][2];
        struct cw_endpoint *endpoint = endpoint_with(&config);
        assert_int_equal(cw_endpoint_max_datagram_size(endpoint), sizes[i][3]);
        /* An ack far away needs the longest header. */
        for (unsigned j = 0; j < 32; j += 8)
            receive_acks(endpoint, (uint16_t)(30000 + j), 0, 0, 0, &seen);
        uint8_t *payload = calloc(1, config.max_packet_size);
        size_t longest = 0;
        for (uint32_t size = 0; size <= config.max_packet_size; size++) {
            struct wire wire;
            wire_send(&wire, endpoint, payload, size, 0);
            for (size_t j = 0; j < wire.count; j++)
                longest = wire.datagrams[j].size > longest ? wire.datagrams[j].size : longest;
            wire_free(&wire);
            seen_clear(&seen);
            seen_take(&seen, endpoint);
        }
        assert_int_equal(longest, sizes[i][3]);
        free(payload);
        cw_endpoint_destroy(endpoint);
    }
}

#ifdef NDEBUG /* else it is an assertion */
static void test_transmit_into_too_little_room_loses_nothing(void **state)
{
    (void)state;
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    uint8_t out[2048];
    const size_t needed = cw_endpoint_max_datagram_size(a);
    assert_int_equal(cw_endpoint_send(a, (const uint8_t *)"hello", 5, 0, NULL), CW_OK);
    const struct cw_endpoint_stats before = stats_of(a);
    memset(out, 0x77, sizeof out);
    assert_int_equal(cw_endpoint_transmit(a, out, 0, 0), 0);
    assert_int_equal(cw_endpoint_transmit(a, out, needed - 1, 0), 0);
    assert_int_equal(out[0], 0x77);
    const struct cw_endpoint_stats after = stats_of(a);
    assert_memory_equal(&before, &after, sizeof before);
    const size_t size = cw_endpoint_transmit(a, out, needed, 0);
    assert_int_equal(receive_bytes(b, out, size, 0, &seen), CW_OK);
    assert_memory_equal(seen.payload, "hello", 5);
    cw_endpoint_destroy(a);
    cw_endpoint_destroy(b);
}
#endif

static void test_the_acks_in_a_datagram_are_those_of_its_transmit(void **state)
{
    (void)state;
    struct cw_endpoint *endpoint = endpoint_default();
    uint8_t out[2048];
    const uint8_t nothing_received[] = {0x3E, 0, 0, 1, 0, 0, 0, 0, 'x'};
    const uint8_t received_0[] = {0x3E, 1, 0, 1, 1, 0, 0, 0, 'x'};
    assert_int_equal(cw_endpoint_send(endpoint, (const uint8_t *)"x", 1, 0, NULL), CW_OK);
    assert_int_equal(cw_endpoint_transmit(endpoint, out, sizeof out, 0), 9);
    assert_memory_equal(out, nothing_received, 9);
    assert_int_equal(cw_endpoint_send(endpoint, (const uint8_t *)"x", 1, 0, NULL), CW_OK);
    assert_int_equal(receive_crafted(endpoint, 0, 1, &seen), CW_OK);
    assert_int_equal(cw_endpoint_transmit(endpoint, out, sizeof out, 0), 9);
    assert_memory_equal(out, received_0, 9);
    cw_endpoint_destroy(endpoint);
}

static void test_receive_waits_for_the_packet_to_be_taken(void **state)
{
    (void)state;
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    struct wire first, second;
    wire_send(&first, a, "first", 5, 0);
    wire_send(&second, a, "second", 6, 0);
    assert_int_equal(cw_endpoint_receive(b, first.datagrams[0].data, first.datagrams[0].size, 0),
                     CW_OK);
    const struct cw_endpoint_stats before = stats_of(b);
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            cw_endpoint_receive(b, second.datagrams[0].data, second.datagrams[0].size, 0),
            CW_ERROR_EVENTS_PENDING);
    const struct cw_endpoint_stats after = stats_of(b);
    assert_memory_equal(&before, &after, sizeof before);
    seen_take(&seen, b);
    assert_int_equal(seen.count, 1);
    assert_memory_equal(seen.payload, "first", 5);
    wire_deliver(&second, b, 0, &seen);
    assert_memory_equal(seen.payload, "second", 6);
    wire_free(&first);
    wire_free(&second);
    cw_endpoint_destroy(a);
    cw_endpoint_destroy(b);
}

static void test_a_packet_whole_is_not_copied(void **state)
{
    (void)state;
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    struct cw_endpoint_event event;
    struct wire wire;
    wire_send(&wire, a, "hello", 5, 0);
    const uint8_t *data = wire.datagrams[0].data;
    assert_int_equal(cw_endpoint_receive(b, data, wire.datagrams[0].size, 0), CW_OK);
    assert_true(cw_endpoint_next(b, &event));
    assert_ptr_equal(event.payload, data + wire.datagrams[0].size - 5);
    wire_free(&wire);
    cw_endpoint_destroy(a);
    cw_endpoint_destroy(b);
}

static void test_a_packet_in_fragments_stays_until_the_next_receive(void **state)
{
    (void)state;
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    struct cw_endpoint_event event;
    struct wire wire;
    uint8_t payload[4000];
    fill_payload(payload, sizeof payload, 4);
    wire_send(&wire, a, payload, sizeof payload, 0);
    for (size_t i = 0; i < wire.count; i++)
        assert_int_equal(cw_endpoint_receive(b, wire.datagrams[i].data, wire.datagrams[i].size, 0),
                         CW_OK);
    wire_free(&wire);
    assert_true(cw_endpoint_next(b, &event));
    lose(b, 0);
    cw_endpoint_update(b, 5);
    assert_int_equal(event.size, sizeof payload);
    assert_memory_equal(event.payload, payload, sizeof payload);
    cw_endpoint_destroy(a);
    cw_endpoint_destroy(b);
}

static void test_each_reason_to_drop_is_told_and_delivers_nothing(void **state)
{
    (void)state;
    struct cw_endpoint *endpoint = endpoint_default();
    static const uint8_t long_payload[9 + 4097] = {0x1E, 5};
    assert_int_equal(receive_crafted(endpoint, 1000, 3, &seen), CW_OK);
    seen_clear(&seen);
    assert_int_equal(receive_crafted(endpoint, 1000, 3, &seen), CW_ERROR_DUPLICATE);
    assert_int_equal(receive_crafted(endpoint, 744, 3, &seen), CW_ERROR_STALE);
    assert_int_equal(receive_bytes(endpoint, long_payload, 0, 0, &seen), CW_ERROR_MALFORMED);
    assert_int_equal(receive_bytes(endpoint, long_payload, 3, 0, &seen), CW_ERROR_MALFORMED);
    assert_int_equal(receive_bytes(endpoint, long_payload, 8, 0, &seen), CW_ERROR_MALFORMED);
    assert_int_equal(receive_bytes(endpoint, long_payload, sizeof long_payload, 0, &seen),
                     CW_ERROR_MALFORMED);
    assert_int_equal(seen.count, 0);
    assert_int_equal(receive_crafted(endpoint, 745, 4096, &seen), CW_OK);
    assert_int_equal(seen.count, 1);
    cw_endpoint_destroy(endpoint);
}

/* The ack_bits that the endpoint would send now. */
static uint32_t acks_of(struct cw_endpoint *endpoint, uint16_t *ack)
{
    struct wire wire;
    wire_send(&wire, endpoint, NULL, 0, 0);
    const uint8_t *p = wire.datagrams[0].data;
    const uint8_t prefix = *p;
    const uint16_t sequence = (uint16_t)(p[1] | p[2] << 8);
    *ack = prefix & 0x20 ? (uint16_t)(sequence - p[3]) : (uint16_t)(p[3] | p[4] << 8);
    p += prefix & 0x20 ? 4 : 5;
    uint32_t bits = 0;
    for (unsigned n = 0; n < 4; n++)
        bits |= (uint32_t)(prefix & (2 << n) ? *p++ : 0xFF) << (8 * n);
    wire_free(&wire);
    return bits;
}

static void test_a_refused_packet_is_not_acked_and_comes_again(void **state)
{
    (void)state;
    struct cw_endpoint *endpoint = endpoint_default();
    uint16_t ack;
    for (uint16_t s = 0; s < 3; s++)
        assert_int_equal(receive_crafted(endpoint, s, 1, &seen), CW_OK);
    cw_endpoint_refuse(endpoint, 2);
    assert_int_equal(stats_of(endpoint).packets_received, 2);
    cw_endpoint_refuse(endpoint, 2); /* once is enough */
    assert_int_equal(stats_of(endpoint).packets_received, 2);
    assert_int_equal(acks_of(endpoint, &ack), 0x6);
    assert_int_equal(ack, 2);
    assert_int_equal(receive_crafted(endpoint, 2, 1, &seen), CW_OK);
    assert_int_equal(seen_times(&seen, CW_ENDPOINT_EVENT_PACKET, 2), 2);
    assert_int_equal(acks_of(endpoint, &ack), 0x7);
    assert_int_equal(stats_of(endpoint).packets_received, 3);
    cw_endpoint_destroy(endpoint);
}

static void test_a_refused_packet_in_fragments_comes_again(void **state)
{
    (void)state;
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    struct wire wire;
    uint8_t payload[3000];
    fill_payload(payload, sizeof payload, 3);
    wire_send(&wire, a, payload, sizeof payload, 0);
    for (size_t round = 1; round <= 10; round++) {
        wire_deliver(&wire, b, 0, &seen);
        assert_int_equal(seen.count, round);
        assert_memory_equal(seen.payload, payload, sizeof payload);
        memset(seen.payload, 0, sizeof payload);
        cw_endpoint_refuse(b, wire.sequence);
    }
    assert_int_equal(stats_of(b).packets_received, 0);
    wire_free(&wire);
    cw_endpoint_destroy(a);
    cw_endpoint_destroy(b);
}

static void test_refuse_does_nothing_when_it_is_too_late(void **state)
{
    (void)state;
    struct cw_endpoint *endpoint = endpoint_default();
    uint16_t ack;
    assert_int_equal(receive_crafted(endpoint, 0, 1, &seen), CW_OK);
    assert_int_equal(receive_crafted(endpoint, 1, 1, &seen), CW_OK);
    cw_endpoint_refuse(endpoint, 0); /* not the last one */
    cw_endpoint_refuse(endpoint, 7); /* never received */
    assert_int_equal(acks_of(endpoint, &ack), 0x3);
    cw_endpoint_refuse(endpoint, 1); /* its ack is on the wire */
    assert_int_equal(acks_of(endpoint, &ack), 0x3);
    assert_int_equal(receive_crafted(endpoint, 2, 1, &seen), CW_OK);
    assert_int_equal(receive_crafted(endpoint, 1, 1, &seen), CW_ERROR_DUPLICATE);
    cw_endpoint_refuse(endpoint, 2); /* something was received since */
    assert_int_equal(acks_of(endpoint, &ack), 0x7);
    assert_int_equal(stats_of(endpoint).packets_received, 3);
    cw_endpoint_destroy(endpoint);
}

static void test_the_oldest_incomplete_packet_gives_way(void **state)
{
    (void)state;
    struct cw_endpoint *endpoint = endpoint_default();
    for (uint16_t s = 10; s < 14; s++)
        assert_int_equal(receive_fragment(endpoint, s, 0, 2, 1024, &seen), CW_OK);
    assert_int_equal(receive_fragment(endpoint, 9, 0, 2, 1024, &seen), CW_ERROR_STALE);
    assert_int_equal(stats_of(endpoint).packets_abandoned, 0);
    assert_int_equal(receive_fragment(endpoint, 14, 0, 2, 1024, &seen), CW_OK);
    assert_int_equal(stats_of(endpoint).packets_abandoned, 1);
    for (uint16_t s = 11; s < 15; s++)
        assert_int_equal(receive_fragment(endpoint, s, 1, 2, 5, &seen), CW_OK);
    assert_int_equal(seen.count, 4);
    for (uint16_t s = 0; s < 4; s++)
        assert_int_equal(seen.events[s].sequence, 11 + s);
    cw_endpoint_destroy(endpoint);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, clear_seen)
    const struct CMUnitTest tests[] = {
        TEST(test_packets_are_numbered_from_0_and_wrap),
        TEST(test_every_size_arrives_as_it_was),
        TEST(test_fragments_may_arrive_in_any_order),
        TEST(test_send_copies_the_payload),
        TEST(test_a_packet_too_large_changes_nothing),
        TEST(test_a_send_before_all_is_transmitted_changes_nothing),
        TEST(test_the_largest_datagram_is_told),
#ifdef NDEBUG
        TEST(test_transmit_into_too_little_room_loses_nothing),
#endif
        TEST(test_the_acks_in_a_datagram_are_those_of_its_transmit),
        TEST(test_receive_waits_for_the_packet_to_be_taken),
        TEST(test_a_packet_whole_is_not_copied),
        TEST(test_a_packet_in_fragments_stays_until_the_next_receive),
        TEST(test_each_reason_to_drop_is_told_and_delivers_nothing),
        TEST(test_a_refused_packet_is_not_acked_and_comes_again),
        TEST(test_a_refused_packet_in_fragments_comes_again),
        TEST(test_refuse_does_nothing_when_it_is_too_late),
        TEST(test_the_oldest_incomplete_packet_gives_way),
    };
    return cmocka_run_group_tests_name("endpoint", tests, NULL, NULL);
}
