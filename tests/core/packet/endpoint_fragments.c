/* Tests of fragments that are too long, too many, too late or contradict each other. */
#include "fixture.h"

#include "endpoints.h"

static struct seen at_a, at_b;

BEFORE_EACH_TEST
{
    seen_clear(&at_a);
    seen_clear(&at_b);
}

static struct cw_endpoint *with_fragments_of_100(uint32_t max_packet_size)
{
    struct cw_endpoint_config config = cw_endpoint_config_default();
    config.max_packet_size = max_packet_size;
    config.fragment_size = 100;
    config.fragment_above = 100;
    return endpoint_with(&config);
}

TEST(test_a_fragment_of_the_wrong_length_is_refused)
{
    struct cw_endpoint *e = with_fragments_of_100(1000);
    for (size_t size = 0; size <= 300; size++) {
        const enum cw_error expected = size == 100 ? CW_OK : CW_ERROR_MALFORMED;
        assert_int_equal(receive_fragment(e, 1, 0, 3, size, &at_a), expected);
        assert_int_equal(receive_fragment(e, 1, 1, 3, size, &at_a), expected);
        cw_endpoint_reset(e);
        assert_int_equal(receive_fragment(e, 1, 2, 3, size, &at_a),
                         size <= 100 ? CW_OK : CW_ERROR_MALFORMED);
        cw_endpoint_reset(e);
    }
    assert_int_equal(at_a.count, 0);
}

TEST(test_the_header_in_the_first_fragment_is_not_payload)
{
    struct cw_endpoint *e = with_fragments_of_100(1000);
    assert_int_equal(receive_fragment(e, 0, 1, 2, 30, &at_a), CW_OK);
    assert_int_equal(receive_fragment(e, 0, 0, 2, 100, &at_a), CW_OK);
    assert_int_equal(at_a.size, 130);
    for (size_t i = 0; i < 130; i++)
        assert_int_equal(at_a.payload[i], 0xCD);
}

TEST(test_fragments_beyond_the_largest_packet_are_refused)
{
    struct cw_endpoint *e = with_fragments_of_100(250);
    assert_int_equal(receive_fragment(e, 0, 0, 4, 100, &at_a), CW_ERROR_MALFORMED);
    assert_int_equal(receive_fragment(e, 0, 3, 4, 1, &at_a), CW_ERROR_MALFORMED);
    assert_int_equal(receive_fragment(e, 0, 0, 256, 100, &at_a), CW_ERROR_MALFORMED);
    assert_int_equal(receive_fragment(e, 0, 255, 256, 1, &at_a), CW_ERROR_MALFORMED);
    assert_int_equal(receive_fragment(e, 0, 2, 3, 51, &at_a), CW_ERROR_MALFORMED);
    assert_int_equal(receive_fragment(e, 0, 2, 3, 50, &at_a), CW_OK);
    assert_int_equal(receive_fragment(e, 0, 3, 3, 50, &at_a), CW_ERROR_MALFORMED);
    assert_int_equal(receive_fragment(e, 0, 200, 3, 50, &at_a), CW_ERROR_MALFORMED);
}

TEST(test_256_fragments_make_a_packet)
{
    struct cw_endpoint *a = with_fragments_of_100(25600), *b = with_fragments_of_100(25600);
    static uint8_t payload[25600];
    struct wire wire;
    fill_payload(payload, sizeof payload, 5);
    wire_send(&wire, a, payload, sizeof payload, 0);
    assert_int_equal(wire.count, 256);
    for (size_t i = wire.count; i-- > 0;)
        assert_int_equal(receive_bytes(b, wire.datagrams[i].data, wire.datagrams[i].size, 0, &at_b),
                         CW_OK);
    assert_int_equal(at_b.size, sizeof payload);
    assert_memory_equal(at_b.payload, payload, sizeof payload);
    wire_free(&wire);
}

TEST(test_a_late_copy_of_a_fragment_opens_nothing)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    struct wire wire;
    uint8_t payload[3000] = {1};
    wire_send(&wire, a, payload, sizeof payload, 0);
    wire_deliver(&wire, b, 0, &at_b);
    for (int i = 0; i < 70; i++) {
        const size_t j = (size_t)i % 3;
        const enum cw_error error =
            receive_bytes(b, wire.datagrams[j].data, wire.datagrams[j].size, 0, &at_b);
        assert_int_equal(error, i < 64 ? CW_ERROR_DUPLICATE : CW_ERROR_STALE);
        pass(a, b, 0, &at_b);
    }
    assert_int_equal(seen_times(&at_b, CW_ENDPOINT_EVENT_PACKET, wire.sequence), 1);
    for (int i = 0; i < 500; i++)
        pass(a, b, 0, &at_b);
    assert_int_equal(stats_of(b).packets_abandoned, 0);
    wire_free(&wire);
}

TEST(test_a_fragment_that_contradicts_the_others_is_refused)
{
    struct cw_endpoint *e = with_fragments_of_100(1000);
    assert_int_equal(receive_fragment(e, 0, 0, 3, 100, &at_a), CW_OK);
    assert_int_equal(receive_fragment(e, 0, 1, 2, 10, &at_a), CW_ERROR_MALFORMED);
    assert_int_equal(receive_fragment(e, 0, 1, 4, 100, &at_a), CW_ERROR_MALFORMED);
    assert_int_equal(receive_fragment(e, 0, 0, 3, 100, &at_a), CW_ERROR_DUPLICATE);
    assert_int_equal(receive_fragment(e, 0, 1, 3, 100, &at_a), CW_OK);
    assert_int_equal(receive_fragment(e, 0, 2, 3, 10, &at_a), CW_OK);
    assert_int_equal(at_a.size, 210);
}

TEST(test_fragments_are_refused_where_there_are_none)
{
    struct cw_endpoint_config config = cw_endpoint_config_default();
    config.max_packet_size = 1000;
    struct cw_endpoint *e = endpoint_with(&config);
    assert_int_equal(receive_fragment(e, 0, 0, 1, 10, &at_a), CW_ERROR_MALFORMED);
    assert_int_equal(receive_fragment(e, 0, 0, 2, 1024, &at_a), CW_ERROR_MALFORMED);
    assert_int_equal(receive_fragment(e, 0, 1, 2, 10, &at_a), CW_ERROR_MALFORMED);
}

/* The config's fragment_above limits what is sent, not what is received. */
TEST(test_fragments_are_received_by_an_end_that_sends_none)
{
    struct cw_endpoint_config config = cw_endpoint_config_default();
    struct cw_endpoint *a = endpoint_with(&config);
    config.fragment_above = config.max_packet_size;
    struct cw_endpoint *b = endpoint_with(&config);
    config.max_send_size = 1000;
    struct cw_endpoint *c = endpoint_with(&config);
    static uint8_t payload[4096];
    struct wire wire;
    for (size_t size = 1000; size <= sizeof payload; size += 36) {
        fill_payload(payload, size, (uint32_t)size);
        wire_send(&wire, a, payload, size, 0);
        assert_int_equal(wire.count, size <= 1024 ? 1 : (size + 1023) / 1024);
        wire_deliver(&wire, b, 0, &at_b);
        assert_int_equal(at_b.size, size);
        assert_memory_equal(at_b.payload, payload, size);
        wire_deliver(&wire, c, 0, &at_a);
        assert_int_equal(at_a.size, size);
        assert_memory_equal(at_a.payload, payload, size);
        wire_free(&wire);
    }
    wire_send(&wire, b, payload, sizeof payload, 0);
    assert_int_equal(wire.count, 1);
    wire_deliver(&wire, a, 0, &at_a);
    assert_int_equal(at_a.size, sizeof payload);
    assert_memory_equal(at_a.payload, payload, sizeof payload);
    wire_free(&wire);
}

/* Nothing on the wire forbids a packet in fragments that has only one. */
TEST(test_a_packet_in_one_fragment_is_received)
{
    struct cw_endpoint_config config = cw_endpoint_config_default();
    config.max_packet_size = 1000;
    config.fragment_size = 1024;
    config.fragment_above = 100;
    struct cw_endpoint *a = endpoint_with(&config), *b = endpoint_with(&config);
    for (size_t size = 1; size <= 1000; size += 27) {
        uint8_t payload[1000];
        struct wire wire;
        fill_payload(payload, size, (uint32_t)size);
        wire_send(&wire, a, payload, size, 0);
        assert_int_equal(wire.count, 1);
        seen_clear(&at_b);
        wire_deliver(&wire, b, 0, &at_b);
        assert_int_equal(at_b.size, size);
        assert_memory_equal(at_b.payload, payload, size);
        wire_free(&wire);
    }
}

TEST(test_an_embedded_header_must_be_that_of_the_fragment)
{
    struct cw_endpoint *e = with_fragments_of_100(1000);
    /* The first has sequence 7, fragment 0 of 2, and acks nothing; the others have sequence 8
       inside, a header that is not the shortest one, and a fragment inside. */
    uint8_t good[113] = {0x01, 7, 0, 0, 1, 0x3E, 7, 0, 8};
    uint8_t other[113] = {0x01, 7, 0, 0, 1, 0x3E, 8, 0, 9};
    uint8_t longer[114] = {0x01, 7, 0, 0, 1, 0x1E, 7, 0, 0xFF, 0xFF};
    uint8_t nested[113] = {0x01, 7, 0, 0, 1, 0x01, 7, 0, 0, 1};
    assert_int_equal(receive_bytes(e, other, sizeof other, 0, &at_a), CW_ERROR_MALFORMED);
    assert_int_equal(receive_bytes(e, longer, sizeof longer, 0, &at_a), CW_ERROR_MALFORMED);
    assert_int_equal(receive_bytes(e, nested, sizeof nested, 0, &at_a), CW_ERROR_MALFORMED);
    for (size_t size = 0; size < 13; size++)
        assert_int_equal(receive_bytes(e, good, size, 0, &at_a), CW_ERROR_MALFORMED);
    assert_int_equal(receive_bytes(e, good, sizeof good, 0, &at_a), CW_OK);
}

TEST(test_the_acks_of_a_packet_in_fragments_count_in_any_order)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    static const uint8_t payload[3000] = {0};
    for (size_t first = 0; first < 3; first++) {
        struct wire wire;
        const uint16_t sequence = pass(a, b, 0, &at_b);
        wire_send(&wire, b, payload, sizeof payload, 0);
        for (size_t i = 0; i < 3; i++) {
            const size_t j = (first + i) % 3;
            assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_ACKED, sequence), 0);
            receive_bytes(a, wire.datagrams[j].data, wire.datagrams[j].size, 0, &at_a);
        }
        assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_ACKED, sequence), 1);
        wire_free(&wire);
    }
}

TEST(test_the_first_fragment_moves_the_ack_and_only_the_last_one_sets_its_bit)
{
    struct cw_endpoint *e = with_fragments_of_100(1000);
    uint8_t out[200];
    size_t size;
    const uint8_t moved[] = {0x1E, 0, 0, 10, 0, 0, 0, 0, 0}; /* the ack is 10 */
    const uint8_t whole[] = {0x1E, 1, 0, 10, 0, 1, 0, 0, 0};
    assert_int_equal(receive_fragment(e, 10, 1, 2, 3, &at_a), CW_OK);
    assert_int_equal(copy_packet(e, NULL, 0, out, 0, &size), CW_OK);
    assert_int_equal(size, 9);
    assert_memory_equal(out, moved, 9);
    assert_int_equal(receive_fragment(e, 10, 0, 2, 100, &at_a), CW_OK);
    assert_int_equal(copy_packet(e, NULL, 0, out, 0, &size), CW_OK);
    assert_int_equal(size, 9);
    assert_memory_equal(out, whole, 9);
}

TEST(test_a_half_packet_is_given_up_when_64_later_ones_began)
{
    struct cw_endpoint *e = with_fragments_of_100(1000);
    assert_int_equal(receive_fragment(e, 10, 0, 2, 100, &at_a), CW_OK);
    assert_int_equal(receive_fragment(e, 73, 0, 2, 100, &at_a), CW_OK);
    assert_int_equal(stats_of(e).packets_abandoned, 0);
    assert_int_equal(receive_fragment(e, 74, 0, 2, 100, &at_a), CW_OK);
    assert_int_equal(stats_of(e).packets_abandoned, 1);
    assert_int_equal(receive_fragment(e, 10, 1, 2, 100, &at_a), CW_ERROR_STALE);
    assert_int_equal(at_a.count, 0);
}
