/* Tests of the endpoint's functions: begin, commit, transmit, receive, next, accept, reset. The
   tests of the fate of packets are in endpoint_fate.c, those of the statistics in endpoint_stats.c.
   */
#include "fixture.h"

#include "endpoints.h"

static struct seen seen;

BEFORE_EACH_TEST
{
    seen_clear(&seen);
}

TEST(test_packets_are_numbered_from_0_and_wrap)
{
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
}

TEST(test_every_size_arrives_as_it_was)
{
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
}

TEST(test_fragments_may_arrive_in_any_order)
{
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
}

TEST(test_a_payload_is_written_where_its_datagram_leaves)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    uint8_t out[1100], *place;
    uint16_t sequence = 12345;
    assert_int_equal(cw_endpoint_begin(a, 100, out, sizeof out, &place), CW_OK);
    assert_true(place > out && place + 100 < out + sizeof out);
    memcpy(place, "hello", 5); /* 5 bytes instead of 100 */
    assert_int_equal(cw_endpoint_commit(a, 5, 0, &sequence), place + 5 - out);
    assert_int_equal(sequence, 0);
    assert_int_equal(receive_bytes(b, out, (size_t)(place + 5 - out), 0, &seen), CW_OK);
    assert_int_equal(seen.size, 5);
    assert_memory_equal(seen.payload, "hello", 5);
}

TEST(test_what_is_announced_long_may_become_short)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    uint8_t out[1100], *place;
    assert_int_equal(cw_endpoint_begin(a, 4096, out, sizeof out, &place), CW_OK);
    memset(place, 'x', 4096);
    const size_t size = cw_endpoint_commit(a, 1024, 0, NULL);
    assert_int_equal(size, 8 + 1024);
    assert_int_equal(cw_endpoint_transmit(a, out, sizeof out, 0), 0);
    assert_int_equal(receive_bytes(b, out, size, 0, &seen), CW_OK);
    assert_int_equal(seen.size, 1024);
    assert_int_equal(seen.payload[1023], 'x');
}

TEST(test_only_what_has_begun_is_sent_and_once)
{
    struct cw_endpoint *a = endpoint_default();
    uint8_t out[1100], other[1100], *place;
    const struct cw_endpoint_stats before = stats_of(a);
    assert_int_equal(cw_endpoint_commit(a, 0, 0, NULL), 0);
    assert_int_equal(cw_endpoint_begin(a, 100, out, sizeof out, &place), CW_OK);
    assert_int_equal(cw_endpoint_commit(a, 101, 0, NULL), 0);
    const struct cw_endpoint_stats after = stats_of(a);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(cw_endpoint_begin(a, 50, other, sizeof other, &place), CW_OK);
    assert_true(place > other && place < other + sizeof other); /* the first place is forgotten */
    assert_int_equal(cw_endpoint_commit(a, 50, 0, NULL), place + 50 - other);
    assert_int_equal(cw_endpoint_commit(a, 50, 0, NULL), 0);
    assert_int_equal(stats_of(a).packets_sent, 1);
    assert_int_equal(cw_endpoint_next_sequence(a), 1);
}

static void assert_begin_is_refused(struct cw_endpoint *endpoint, size_t size, size_t capacity,
                                    enum cw_error error)
{
    static uint8_t out[2000];
    const struct cw_endpoint_stats before = stats_of(endpoint);
    const uint16_t next = cw_endpoint_next_sequence(endpoint);
    uint8_t *place = NULL;
    assert_int_equal(cw_endpoint_begin(endpoint, size, out, capacity, &place), error);
    assert_int_equal(cw_endpoint_commit(endpoint, 0, 9, NULL), 0);
    const struct cw_endpoint_stats after = stats_of(endpoint);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(cw_endpoint_next_sequence(endpoint), next);
    assert_null(place);
}

TEST(test_a_packet_too_large_changes_nothing)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    assert_begin_is_refused(a, 4097, 2000, CW_ERROR_PACKET_TOO_LARGE);
    assert_int_equal(pass(a, b, 0, &seen), 0);
}

TEST(test_too_little_room_changes_nothing)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    const size_t needed = cw_endpoint_max_datagram_size(a);
    assert_begin_is_refused(a, 1, 0, CW_ERROR_BUFFER_TOO_SMALL);
    assert_begin_is_refused(a, 1, needed - 1, CW_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(pass(a, b, 0, &seen), 0);
}

TEST(test_a_packet_before_all_is_transmitted_changes_nothing)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    uint8_t payload[2500], out[1100];
    size_t size;
    fill_payload(payload, sizeof payload, 1);
    assert_int_equal(copy_packet(a, payload, sizeof payload, out, 0, &size), CW_OK);
    for (int i = 0; i < 3; i++) {
        assert_true(size > 0);
        assert_int_equal(receive_bytes(b, out, size, 0, &seen), CW_OK);
        if (i < 2)
            assert_begin_is_refused(a, 10, 2000, CW_ERROR_TRANSMIT_PENDING);
        size = cw_endpoint_transmit(a, out, sizeof out, 0);
    }
    assert_int_equal(size, 0);
    assert_int_equal(seen.size, sizeof payload);
    assert_memory_equal(seen.payload, payload, sizeof payload);
    assert_int_equal(pass(a, b, 0, &seen), 1);
}

TEST(test_the_largest_datagram_is_told)
{
    /* The columns are max_packet_size, fragment_size, fragment_above, and the largest datagram. */
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
    }
}

#ifdef NDEBUG /* otherwise an assertion fails */
TEST(test_transmit_into_too_little_room_loses_nothing)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    uint8_t payload[2000], out[2048];
    const size_t needed = cw_endpoint_max_datagram_size(a);
    size_t size;
    fill_payload(payload, sizeof payload, 2);
    assert_int_equal(copy_packet(a, payload, sizeof payload, out, 0, &size), CW_OK);
    assert_int_equal(receive_bytes(b, out, size, 0, &seen), CW_OK);
    const struct cw_endpoint_stats before = stats_of(a);
    memset(out, 0x77, sizeof out);
    assert_int_equal(cw_endpoint_transmit(a, out, 0, 0), 0);
    assert_int_equal(cw_endpoint_transmit(a, out, needed - 1, 0), 0);
    assert_int_equal(out[0], 0x77);
    const struct cw_endpoint_stats after = stats_of(a);
    assert_memory_equal(&before, &after, sizeof before);
    size = cw_endpoint_transmit(a, out, needed, 0);
    assert_int_equal(receive_bytes(b, out, size, 0, &seen), CW_OK);
    assert_memory_equal(seen.payload, payload, sizeof payload);
}
#endif

TEST(test_the_acks_in_a_datagram_are_those_of_its_begin)
{
    struct cw_endpoint *endpoint = endpoint_default();
    uint8_t out[2048], *place;
    const uint8_t nothing_received[] = {0x3E, 0, 0, 1, 0, 0, 0, 0, 'x'};
    const uint8_t received_0[] = {0x3E, 1, 0, 1, 1, 0, 0, 0, 'x'};
    assert_int_equal(cw_endpoint_begin(endpoint, 1, out, sizeof out, &place), CW_OK);
    *place = 'x';
    assert_int_equal(receive_crafted(endpoint, 0, 1, &seen), CW_OK);
    assert_int_equal(cw_endpoint_commit(endpoint, 1, 0, NULL), 9);
    assert_memory_equal(out, nothing_received, 9);
    assert_int_equal(cw_endpoint_begin(endpoint, 1, out, sizeof out, &place), CW_OK);
    *place = 'x';
    assert_int_equal(cw_endpoint_commit(endpoint, 1, 0, NULL), 9);
    assert_memory_equal(out, received_0, 9);
}

TEST(test_receive_waits_for_the_packet_to_be_taken)
{
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
}

TEST(test_a_packet_whole_is_not_copied)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    struct cw_endpoint_event event;
    struct wire wire;
    wire_send(&wire, a, "hello", 5, 0);
    const uint8_t *data = wire.datagrams[0].data;
    assert_int_equal(cw_endpoint_receive(b, data, wire.datagrams[0].size, 0), CW_OK);
    assert_true(cw_endpoint_next(b, &event));
    assert_ptr_equal(event.payload, data + wire.datagrams[0].size - 5);
    wire_free(&wire);
}

TEST(test_a_packet_in_fragments_stays_until_the_next_receive)
{
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
}

TEST(test_each_reason_to_drop_is_told_and_delivers_nothing)
{
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
}

/* Returns the ack_bits that the endpoint would send now. */
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

TEST(test_a_packet_that_is_not_accepted_is_not_acked_and_comes_again)
{
    struct cw_endpoint *endpoint = endpoint_default();
    uint16_t ack;
    for (uint16_t s = 0; s < 3; s++) {
        seen.refuses = s == 2;
        assert_int_equal(receive_crafted(endpoint, s, 1, &seen), CW_OK);
    }
    assert_int_equal(stats_of(endpoint).packets_received, 2);
    assert_int_equal(acks_of(endpoint, &ack), 0x6);
    assert_int_equal(ack, 2);
    seen.refuses = false;
    assert_int_equal(receive_crafted(endpoint, 2, 1, &seen), CW_OK);
    assert_int_equal(seen_times(&seen, CW_ENDPOINT_EVENT_PACKET, 2), 2);
    assert_int_equal(acks_of(endpoint, &ack), 0x7);
    assert_int_equal(stats_of(endpoint).packets_received, 3);
    cw_endpoint_accept(endpoint, 2); /* the second call changes nothing */
    assert_int_equal(stats_of(endpoint).packets_received, 3);
}

TEST(test_a_packet_in_fragments_that_is_not_accepted_comes_again)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    struct wire wire;
    uint8_t payload[3000];
    fill_payload(payload, sizeof payload, 3);
    wire_send(&wire, a, payload, sizeof payload, 0);
    seen.refuses = true;
    for (size_t round = 1; round <= 10; round++) {
        wire_deliver(&wire, b, 0, &seen);
        assert_int_equal(seen.count, round);
        assert_memory_equal(seen.payload, payload, sizeof payload);
        memset(seen.payload, 0, sizeof payload);
    }
    assert_int_equal(stats_of(b).packets_received, 0);
    wire_free(&wire);
}

TEST(test_only_the_packet_that_arrived_last_can_be_accepted)
{
    struct cw_endpoint *endpoint = endpoint_default();
    uint16_t ack;
    seen.refuses = true;
    assert_int_equal(receive_crafted(endpoint, 0, 1, &seen), CW_OK);
    assert_int_equal(receive_crafted(endpoint, 1, 1, &seen), CW_OK);
    cw_endpoint_accept(endpoint, 0); /* another packet has come since */
    cw_endpoint_accept(endpoint, 7); /* a packet that never came */
    assert_int_equal(acks_of(endpoint, &ack), 0);
    cw_endpoint_accept(endpoint, 1); /* packets sent meanwhile do not matter */
    assert_int_equal(acks_of(endpoint, &ack), 0x1);
    assert_int_equal(receive_crafted(endpoint, 1, 1, &seen), CW_ERROR_DUPLICATE);
    assert_int_equal(receive_crafted(endpoint, 2, 1, &seen), CW_OK);
    assert_int_equal(receive_crafted(endpoint, 1, 1, &seen), CW_ERROR_DUPLICATE);
    cw_endpoint_accept(endpoint, 2); /* a dropped datagram has come since */
    assert_int_equal(acks_of(endpoint, &ack), 0x2);
    assert_int_equal(stats_of(endpoint).packets_received, 1);
}

TEST(test_the_oldest_incomplete_packet_gives_way)
{
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
}
