/* Tests of what the reader of headers accepts and refuses, rule by rule; the table is in
   core/PROTOCOL.md. */
#include "fixture.h"

#include "endpoints.h"

#define SENT      10 /* packets sent before each test */
#define FRAGMENT  100
#define LARGEST   350
#define FRAGMENTS 4

static struct seen seen;
static struct cw_endpoint *e;

BEFORE_EACH_TEST
{
    struct cw_endpoint_config config = cw_endpoint_config_default();
    config.fragment_size = FRAGMENT;
    config.max_packet_size = LARGEST;
    e = endpoint_with(&config);
    for (int i = 0; i < SENT; i++)
        lose(e, 0);
    seen_clear(&seen);
}

static enum cw_error give(const uint8_t *bytes, size_t size)
{
    return receive_bytes(e, bytes, size, 0, &seen);
}

static size_t acked(void)
{
    return seen_count(&seen, CW_ENDPOINT_EVENT_ACKED);
}

static size_t arrived(void)
{
    return seen_count(&seen, CW_ENDPOINT_EVENT_PACKET);
}

#define GIVE(...) give((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

TEST(test_a_header_that_is_cut_short_is_malformed)
{
    const uint8_t longest[9] = {0x1E, 0, 0, 9, 0, 1, 0, 0, 0};
    for (size_t size = 0; size < sizeof longest; size++)
        assert_int_equal(give(longest, size), CW_ERROR_MALFORMED);
    assert_int_equal(GIVE(0x20, 0, 0), CW_ERROR_MALFORMED);
    assert_int_equal(GIVE(0x22, 0, 0, 1), CW_ERROR_MALFORMED);
    assert_int_equal(arrived() + acked(), 0);
    assert_int_equal(give(longest, sizeof longest), CW_OK);
    assert_int_equal(stats_of(e).packets_malformed, 9 + 2);
}

TEST(test_a_form_that_is_longer_than_needed_is_accepted)
{
    /* The header has both bytes of an ack where one would do, and bytes of ack_bits that are ff. */
    assert_int_equal(GIVE(0x1E, 0, 0, 9, 0, 0xFF, 0x03, 0, 0), CW_OK);
    assert_int_equal(acked(), SENT);
    assert_int_equal(arrived(), 1);
}

TEST(test_the_two_highest_bits_of_the_prefix_are_ignored)
{
    assert_int_equal(GIVE(0xC0 | 0x3E, 0, 0, 0, 1, 0, 0, 0), CW_OK);
    assert_int_equal(GIVE(0x80 | 0x3E, 1, 0, 0, 2, 0, 0, 0), CW_OK);
    assert_int_equal(arrived(), 2);
    assert_int_equal(seen_times(&seen, CW_ENDPOINT_EVENT_ACKED, 0), 1);
}

TEST(test_an_ack_in_one_byte_counts_back_from_the_sequence)
{
    assert_int_equal(GIVE(0x3E, 5, 0, 1, 1, 0, 0, 0), CW_OK);
    assert_int_equal(seen_times(&seen, CW_ENDPOINT_EVENT_ACKED, 4), 1);
    /* The ack counts back beyond 0 to 65,531, which was never sent. */
    assert_int_equal(GIVE(0x3E, 6, 0, 11, 1, 0, 0, 0), CW_OK);
    assert_int_equal(acked(), 1);
    assert_int_equal(arrived(), 2);
}

TEST(test_an_absent_byte_of_ack_bits_acks_eight)
{
    assert_int_equal(GIVE(0x1C, 0, 0, 9, 0, 0, 0, 0), CW_OK);
    for (uint16_t sequence = 0; sequence < SENT; sequence++)
        assert_int_equal(seen_times(&seen, CW_ENDPOINT_EVENT_ACKED, sequence), sequence >= 2);
}

/* The reference takes each bit for itself. No honest end acks packets that were not sent, so no ack
   of such a header counts. */
TEST(test_no_ack_counts_when_ack_was_never_sent)
{
    assert_int_equal(receive_acks(e, 0, SENT, 0xFFFFFFFF, 0, &seen), CW_OK);
    assert_int_equal(receive_acks(e, 1, 1000, 0xFFFFFFFF, 0, &seen), CW_OK);
    assert_int_equal(receive_acks(e, 2, UINT16_MAX, 0xFFFFFFFF, 0, &seen), CW_OK);
    assert_int_equal(acked(), 0);
    assert_int_equal(arrived(), 3);
}

TEST(test_no_ack_counts_when_ack_has_left_the_window)
{
    for (int i = 0; i < 256; i++) {
        lose(e, 0);
        seen_take(&seen, e);
    }
    seen_clear(&seen);
    assert_int_equal(receive_acks(e, 0, SENT - 1, 0xFFFFFFFF, 0, &seen), CW_OK);
    assert_int_equal(acked(), 0);
    assert_int_equal(receive_acks(e, 1, SENT, 0xFFFFFFFF, 0, &seen), CW_OK);
    assert_int_equal(acked(), 1); /* the other bits are of packets that left the window */
}

TEST(test_bits_of_what_was_never_sent_are_left_out)
{
    assert_int_equal(receive_acks(e, 0, 3, 0xFFFFFFFF, 0, &seen), CW_OK);
    assert_int_equal(acked(), 4);
}

TEST(test_ack_itself_counts_only_by_its_bit)
{
    assert_int_equal(receive_acks(e, 0, 9, 0x2, 0, &seen), CW_OK);
    assert_int_equal(seen_times(&seen, CW_ENDPOINT_EVENT_ACKED, 8), 1);
    assert_int_equal(acked(), 1);
}

TEST(test_an_ack_is_never_taken_back)
{
    assert_int_equal(receive_acks(e, 0, 9, 0x3FF, 0, &seen), CW_OK);
    assert_int_equal(receive_acks(e, 1, 9, 0, 0, &seen), CW_OK);
    assert_int_equal(receive_acks(e, 2, 9, 0x3FF, 0, &seen), CW_OK);
    assert_int_equal(acked(), SENT);
    assert_int_equal(stats_of(e).packets_acked, SENT);
}

TEST(test_acks_that_come_out_of_order_count)
{
    assert_int_equal(receive_acks(e, 1, 9, 0x1, 0, &seen), CW_OK);
    assert_int_equal(receive_acks(e, 0, 4, 0x1F, 0, &seen), CW_OK);
    assert_int_equal(acked(), 6);
}

TEST(test_acks_of_duplicates_and_of_stale_packets_do_not_count)
{
    assert_int_equal(receive_acks(e, 300, UINT16_MAX, 0, 0, &seen), CW_OK);
    assert_int_equal(receive_acks(e, 300, 9, 0x3FF, 0, &seen), CW_ERROR_DUPLICATE);
    assert_int_equal(receive_acks(e, 44, 9, 0x3FF, 0, &seen), CW_ERROR_STALE);
    assert_int_equal(acked(), 0);
    assert_int_equal(receive_acks(e, 45, 9, 0x3FF, 0, &seen), CW_OK);
    assert_int_equal(acked(), SENT);
}

/* In the reference these acks count only when the application takes the packet. Here a receiver
   that is full must not keep its own messages from being acked. */
TEST(test_acks_count_of_a_packet_that_is_not_accepted)
{
    seen.refuses = true;
    assert_int_equal(receive_acks(e, 0, 9, 0x3FF, 0, &seen), CW_OK);
    assert_int_equal(acked(), SENT);
    assert_int_equal(stats_of(e).packets_received, 0);
    assert_int_equal(receive_acks(e, 0, 9, 0x3FF, 0, &seen), CW_OK); /* the packet may come again */
    assert_int_equal(acked(), SENT);
}

TEST(test_a_payload_may_be_empty_and_as_long_as_agreed)
{
    assert_int_equal(receive_crafted(e, 0, 0, &seen), CW_OK);
    assert_int_equal(receive_crafted(e, 1, LARGEST, &seen), CW_OK);
    assert_int_equal(seen.size, LARGEST);
    assert_int_equal(receive_crafted(e, 2, LARGEST + 1, &seen), CW_ERROR_MALFORMED);
}

TEST(test_a_fragment_has_one_prefix_and_whole_head)
{
    static uint8_t bytes[5 + FRAGMENT] = {0x01, 0, 0, 1, FRAGMENTS - 1};
    for (unsigned prefix = 3; prefix < 256; prefix += 2) {
        bytes[0] = (uint8_t)prefix;
        assert_int_equal(give(bytes, sizeof bytes), CW_ERROR_MALFORMED);
    }
    bytes[0] = 1;
    for (size_t size = 1; size < 5; size++)
        assert_int_equal(give(bytes, size), CW_ERROR_MALFORMED);
    assert_int_equal(give(bytes, sizeof bytes), CW_OK);
}

TEST(test_the_numbers_of_a_fragment_must_fit)
{
    assert_int_equal(receive_fragment(e, 0, 2, 2, FRAGMENT, &seen), CW_ERROR_MALFORMED);
    assert_int_equal(receive_fragment(e, 0, 1, FRAGMENTS + 1, FRAGMENT, &seen), CW_ERROR_MALFORMED);
    assert_int_equal(receive_fragment(e, 0, 1, FRAGMENTS, FRAGMENT, &seen), CW_OK);
    /* This fragment has another count for the same packet. */
    assert_int_equal(receive_fragment(e, 0, 2, FRAGMENTS - 1, FRAGMENT, &seen), CW_ERROR_MALFORMED);
    assert_int_equal(receive_fragment(e, 0, 1, FRAGMENTS, FRAGMENT, &seen), CW_ERROR_DUPLICATE);
}

TEST(test_the_size_of_a_fragment_must_be_exact)
{
    const unsigned last = FRAGMENTS - 1;
    assert_int_equal(receive_fragment(e, 0, 1, FRAGMENTS, FRAGMENT - 1, &seen), CW_ERROR_MALFORMED);
    assert_int_equal(receive_fragment(e, 0, 1, FRAGMENTS, FRAGMENT + 1, &seen), CW_ERROR_MALFORMED);
    /* Only the longest packet limits the length of the last fragment. */
    assert_int_equal(receive_fragment(e, 0, last, FRAGMENTS, LARGEST % FRAGMENT + 1, &seen),
                     CW_ERROR_MALFORMED);
    assert_int_equal(receive_fragment(e, 0, last, FRAGMENTS, LARGEST % FRAGMENT, &seen), CW_OK);
    assert_int_equal(receive_fragment(e, 1, 1, 2, 0, &seen), CW_OK);
    assert_int_equal(receive_fragment(e, 1, 0, 2, FRAGMENT, &seen), CW_OK);
    assert_int_equal(seen.size, FRAGMENT);
}

TEST(test_one_fragment_makes_a_packet)
{
    assert_int_equal(receive_fragment(e, 0, 0, 1, 7, &seen), CW_OK);
    assert_int_equal(receive_fragment(e, 1, 0, 1, 0, &seen), CW_OK);
    assert_int_equal(arrived(), 2);
}

TEST(test_the_header_in_fragment_0_is_the_shortest_and_of_the_same_packet)
{
    assert_int_equal(GIVE(1, 0, 0, 0, 0, 0x3E, 1, 0, 1, 0, 0, 0, 0), CW_ERROR_MALFORMED);
    assert_int_equal(GIVE(1, 0, 0, 0, 0, 0x1E, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0), CW_ERROR_MALFORMED);
    assert_int_equal(GIVE(1, 0, 0, 0, 0, 0x7E, 0, 0, 1, 0, 0, 0, 0), CW_ERROR_MALFORMED);
    assert_int_equal(GIVE(1, 0, 0, 0, 0, 0x3E, 0, 0, 1, 0xFF, 0, 0, 0), CW_ERROR_MALFORMED);
    assert_int_equal(GIVE(1, 0, 0, 0, 0, 0x3E, 0, 0, 1, 0, 0, 0, 0), CW_OK);
    assert_int_equal(arrived(), 1);
}

TEST(test_acks_of_a_packet_in_fragments_count_when_it_is_whole)
{
    static uint8_t first[5 + 7 + FRAGMENT] = {1, 9, 0, 0, 1, 0x3C, 9, 0, 0, 0, 0, 0};
    assert_int_equal(give(first, sizeof first), CW_OK);
    assert_int_equal(acked(), 0);
    assert_int_equal(receive_fragment(e, 9, 1, 2, 3, &seen), CW_OK);
    assert_int_equal(acked(), 8);
}

TEST(test_windows)
{
    /* A fresh end takes numbers up to 32,511, and those from 65,280 on, which are just before 0. */
    assert_int_equal(receive_crafted(e, 32512, 0, &seen), CW_ERROR_STALE);
    assert_int_equal(receive_crafted(e, 65279, 0, &seen), CW_ERROR_STALE);
    assert_int_equal(receive_crafted(e, 65280, 0, &seen), CW_OK);
    assert_int_equal(receive_crafted(e, 1000, 0, &seen), CW_OK);
    /* Whole packets may be 255 behind the newest, fragments 63. */
    assert_int_equal(receive_crafted(e, 745, 0, &seen), CW_OK);
    assert_int_equal(receive_crafted(e, 744, 0, &seen), CW_ERROR_STALE);
    assert_int_equal(receive_fragment(e, 937, 1, 2, 1, &seen), CW_OK);
    assert_int_equal(receive_fragment(e, 936, 1, 2, 1, &seen), CW_ERROR_STALE);
    assert_int_equal(receive_crafted(e, 1000 + 32513, 0, &seen), CW_OK);
}
