/* Tests of bunches and properties, rule by rule. a sends to b. */
#include "bunch_rig.h"

#include "protocols/bunch_internal.h"

#include <math.h>
#include <stdio.h>

TEST(the_bytes_are_as_the_text_says)
{
    struct bunch_pair pair = bunch_pair_default();
    send_text(pair.a, 0, "");
    send_text(pair.a, 0, "ab");
    send_text(pair.a, 1, "c");
    set_text(pair.a, 3, "xyz");
    const struct parcel parcel = tick_of(&pair, pair.a);
    const uint8_t expected[] = {0xf0, 0xff, 3, 0, 0, 0,   0,   0,   /* packet 0 acks 16383 */
                                0x80, 3,    0, 3, 0, 'x', 'y', 'z', /* the property */
                                0x30, 0,    0, 0, 0,                /* a whole bunch */
                                0x31, 0,    0, 1, 0, 'c',           /* a bunch of channel 1 */
                                0x30, 1,    0, 2, 0, 'a', 'b'};
    assert_int_equal(parcel.size, sizeof expected);
    assert_memory_equal(parcel.data, expected, sizeof expected);
    hand_over(pair.b, &parcel);
    expect_events(pair.b, "0: 0:ab 1:c p3:xyz .");
}

TEST(long_bunches_go_in_parts)
{
    struct bunch_pair pair = bunch_pair_default();
    static uint8_t data[65536];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 24);
    const size_t sizes[] = {239, 240, 241, 480, 481, 65536};
    for (int i = 0; i < 6; i++) {
        struct parcel parcel;
        struct cw_bunch_event event;
        assert_ok(cw_bunch_send(pair.a, 1, data, sizes[i]));
        cw_bunch_update(pair.a, pair.now);
        while ((parcel = parcel_of(pair.a)).size)
            hand_over(pair.b, &parcel);
        assert_true(cw_bunch_next(pair.b, &event));
        assert_int_equal(event.size, sizes[i]);
        assert_memory_equal(event.data, data, sizes[i]);
        expect_events(pair.b, ".");
        tick_to(&pair, pair.b, pair.a); /* this brings the acks */
    }
    /* There are 1 + 1 + 2 + 2 + 3 + 274 parts, each sent once. */
    assert_int_equal(bunch_stats(pair.a).parts_sent, 283);
}

TEST(a_lost_bunch_is_sent_again_and_keeps_its_place)
{
    struct bunch_pair pair = bunch_pair_default();
    uint16_t part;
    send_text(pair.a, 0, "one");
    send_text(pair.a, 0, "two");
    tick_of(&pair, pair.a); /* this packet is lost */
    send_text(pair.a, 0, "three");
    tick_to(&pair, pair.a, pair.b);
    expect_events(pair.b, ".");
    assert_true(cw_bunch_missing(pair.b, 0, &part));
    assert_int_equal(part, 0);
    assert_false(cw_bunch_missing(pair.b, 1, &part));

    /* Nothing is sent again before the nak, and after it only what was lost. */
    assert_true(tick_of(&pair, pair.a).size == 8);
    tick_to(&pair, pair.b, pair.a);
    assert_int_equal(bunch_stats(pair.a).parts_lost, 2);
    tick_to(&pair, pair.a, pair.b);
    assert_int_equal(bunch_stats(pair.a).parts_sent, 5);
    expect_events(pair.b, "0:one 0:two 0:three");
    assert_false(cw_bunch_missing(pair.b, 0, &part));
}

TEST(channels_do_not_wait_for_each_other)
{
    struct bunch_pair pair = bunch_pair_default();
    send_text(pair.a, 0, "lost");
    tick_of(&pair, pair.a);
    send_text(pair.a, 0, "later");
    send_text(pair.a, 1, "other");
    tick_to(&pair, pair.a, pair.b);
    expect_events(pair.b, "1:other .");
}

TEST(a_property_is_sent_once_until_it_changes)
{
    struct bunch_pair pair = bunch_pair_default();
    set_text(pair.a, 0, "old");
    set_text(pair.a, 0, "new");
    tick_to(&pair, pair.a, pair.b);
    expect_events(pair.b, "p0:new .");
    assert_int_equal(tick_of(&pair, pair.a).size, 8);
    tick_to(&pair, pair.b, pair.a); /* brings an ack, and a nak of a packet that carried nothing */
    assert_int_equal(tick_of(&pair, pair.a).size, 8);
    assert_int_equal(bunch_stats(pair.a).properties_sent, 1);
}

TEST(a_lost_property_is_sent_with_its_newest_value)
{
    struct bunch_pair pair = bunch_pair_default();
    set_text(pair.a, 2, "lost");
    tick_of(&pair, pair.a);
    tick_to(&pair, pair.a, pair.b);
    tick_to(&pair, pair.b, pair.a); /* brings the nak */
    assert_int_equal(bunch_stats(pair.a).properties_lost, 1);
    set_text(pair.a, 2, "newest");
    tick_to(&pair, pair.a, pair.b);
    expect_events(pair.b, "p2:newest .");
    assert_int_equal(bunch_stats(pair.a).properties_sent, 2);
}

TEST(a_nak_of_an_older_value_changes_nothing)
{
    struct bunch_pair pair = bunch_pair_default();
    set_text(pair.a, 2, "lost");
    tick_of(&pair, pair.a);
    set_text(pair.a, 2, "newer");
    tick_to(&pair, pair.a, pair.b);
    tick_to(&pair, pair.b, pair.a); /* brings a nak and an ack */
    assert_int_equal(tick_of(&pair, pair.a).size, 8);
    assert_int_equal(bunch_stats(pair.a).properties_lost, 0);
    assert_int_equal(bunch_stats(pair.a).properties_sent, 2);
    expect_events(pair.b, "p2:newer");
}

TEST(a_full_queue_refuses_bunches_until_parts_are_acked)
{
    struct cw_bunch_config config = bunch_config();
    config.queue_parts = 4;
    config.max_part_size = 2;
    config.max_bunch_size = 8;
    struct bunch_pair pair = bunch_pair_with(&config);
    const uint8_t data[9] = {0};
    assert_int_equal(cw_bunch_send(pair.a, 0, data, 9), CW_PROTOCOL_ERROR_TOO_LARGE);
    assert_int_equal(cw_bunch_set(pair.a, 0, data, 241), CW_PROTOCOL_ERROR_TOO_LARGE);
    send_text(pair.a, 0, "123");
    assert_int_equal(cw_bunch_send(pair.a, 0, data, 5), CW_PROTOCOL_ERROR_QUEUE_FULL);
    send_text(pair.a, 0, "4567");
    assert_int_equal(cw_bunch_send(pair.a, 0, data, 0), CW_PROTOCOL_ERROR_QUEUE_FULL);
    send_text(pair.a, 1, "other");
    tick_to(&pair, pair.a, pair.b);
    assert_int_equal(cw_bunch_send(pair.a, 0, data, 0), CW_PROTOCOL_ERROR_QUEUE_FULL);
    tick_to(&pair, pair.b, pair.a);
    send_text(pair.a, 0, "89abcdef");
    assert_int_equal(bunch_stats(pair.a).bunches_sent, 4);
}

/* The application of b takes nothing for a while. */
TEST(a_slow_reader_holds_the_sender_back)
{
    struct cw_bunch_config config = bunch_config();
    config.queue_parts = 4;
    config.max_bunch_size = 16;
    struct bunch_pair pair = bunch_pair_with(&config);
    char text[2] = "a";
    for (; text[0] < 'a' + 8; text[0]++) {
        send_text(pair.a, 0, text);
        tick_to(&pair, pair.a, pair.b);
        tick_to(&pair, pair.b, pair.a);
    }
    assert_int_equal(cw_bunch_send(pair.a, 0, (uint8_t *)text, 1), CW_PROTOCOL_ERROR_QUEUE_FULL);
    assert_true(bunch_stats(pair.b).packets_refused >= 4);
    expect_events(pair.b, "0:a 0:b 0:c 0:d .");
    tick_to(&pair, pair.a, pair.b);
    expect_events(pair.b, "0:e 0:f 0:g 0:h .");
}

TEST(parts_wrap_around)
{
    struct cw_bunch_config config = bunch_config();
    config.queue_parts = 2;
    config.max_bunch_size = 16;
    struct bunch_pair pair = bunch_pair_with(&config);
    for (int i = 0; i < 70000; i++) {
        char text[8];
        snprintf(text, sizeof text, "%d", i);
        send_text(pair.a, 0, text);
        tick_to(&pair, pair.a, pair.b);
        expect_event(pair.b, CW_BUNCH_EVENT_BUNCH, 0, text, strlen(text));
        tick_to(&pair, pair.b, pair.a);
    }
}

/* Big data does not keep a message or a property waiting. */
TEST(all_that_waits_takes_turns)
{
    struct bunch_pair pair = bunch_pair_default();
    static const uint8_t block[60000];
    assert_ok(cw_bunch_send(pair.a, 0, block, sizeof block));
    tick_of(&pair, pair.a); /* is lost: parts of the block then take turns of their own */
    tick_to(&pair, pair.a, pair.b);
    tick_to(&pair, pair.b, pair.a);
    send_text(pair.a, 1, "message");
    set_text(pair.a, 0, "property");
    tick_to(&pair, pair.a, pair.b);
    expect_events(pair.b, "1:message p0:property .");
}

/* Properties that are set all the time take turns among themselves. */
TEST(no_property_is_starved)
{
    struct cw_bunch_config config = bunch_config();
    config.notify.max_packet_size = 300; /* a packet holds one property */
    config.max_part_size = 200;
    struct bunch_pair pair = bunch_pair_with(&config);
    const uint8_t value[200] = {0};
    unsigned seen = 0;
    for (int i = 0; i < 4; i++) {
        struct cw_bunch_event event;
        for (uint32_t property = 0; property < 4; property++)
            assert_ok(cw_bunch_set(pair.a, property, value, sizeof value));
        tick_to(&pair, pair.a, pair.b);
        while (cw_bunch_next(pair.b, &event))
            seen |= 1u << event.number;
    }
    assert_int_equal(seen, 15);
}

TEST(the_bandwidth_has_a_limit)
{
    struct cw_bunch_config config = bunch_config();
    config.bytes_per_second = 50000;
    struct bunch_pair pair = bunch_pair_with(&config);
    static const uint8_t block[65536];
    size_t bytes = 0;
    for (int tick = 0; tick < 60; tick++) {
        struct parcel parcel;
        cw_bunch_send(pair.a, 0, block, sizeof block);
        cw_bunch_send(pair.a, 1, block, sizeof block);
        pair.now += 1.0 / 60;
        cw_bunch_update(pair.a, pair.now);
        while ((parcel = parcel_of(pair.a)).size)
            bytes += parcel.size;
    }
    assert_true(bytes > 49000 && bytes < 54000); /* with the first burst */

    /* After a pause the saved bytes do not go all at once. */
    bytes = 0;
    pair.now += 10;
    cw_bunch_update(pair.a, pair.now);
    for (struct parcel parcel; (parcel = parcel_of(pair.a)).size;)
        bytes += parcel.size;
    assert_true(bytes > 1000 && bytes < 4000);
}

TEST(each_update_sends_one_packet_at_least)
{
    struct bunch_pair pair = bunch_pair_default();
    assert_int_equal(parcel_of(pair.a).size, 0);
    uint8_t out[CW_NOTIFY_HEADER_SIZE + 1024];
    cw_bunch_update(pair.a, pair.now);
    assert_int_equal(cw_bunch_transmit(pair.a, out, sizeof out - 1), 0);
    assert_int_equal(parcel_of(pair.a).size, 8);
    assert_int_equal(parcel_of(pair.a).size, 0);
}

/* Nothing is lost in a silence of two minutes. */
TEST(a_full_window_sends_nothing)
{
    struct bunch_pair pair = bunch_pair_default();
    for (int i = 0; i < CW_NOTIFY_WINDOW - 1; i++)
        tick_of(&pair, pair.a);
    tick_to(&pair, pair.a, pair.b);
    send_text(pair.a, 0, "late");
    cw_bunch_update(pair.a, pair.now);
    assert_int_equal(parcel_of(pair.a).size, 0);
    tick_to(&pair, pair.b, pair.a);
    tick_to(&pair, pair.a, pair.b);
    expect_events(pair.b, "0:late");
}

/* Gives b a packet with these items, which a did not write. */
static void forge(struct bunch_pair *pair, const uint8_t *items, size_t size)
{
    struct parcel parcel = tick_of(pair, pair->a);
    memcpy(parcel.data + parcel.size, items, size);
    parcel.size += size;
    hand_over(pair->b, &parcel);
}

TEST(what_breaks_the_rules_is_refused_as_a_whole)
{
    struct bunch_pair pair = bunch_pair_default();
    const struct {
        size_t size;
        uint8_t bytes[6];
    } bad[] = {
        {4, {0x30, 0, 0, 0}},    /* the head is cut off */
        {5, {0x30, 0, 0, 1, 0}}, /* a byte is missing */
        {5, {0x70, 0, 0, 0, 0}}, /* a bit that is always zero */
        {5, {0xb0, 0, 0, 0, 0}}, /* a property has no such bits */
        {5, {0x32, 0, 0, 0, 0}}, /* no such channel */
        {5, {0x80, 4, 0, 0, 0}}, /* no such property */
        {5, {0x30, 0, 2, 0, 0}}, /* 512 is beyond the queue */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t items[16] = {0x80, 0, 0, 1, 0, 'x'}; /* a good item, but before a bad one */
        memcpy(items + 6, bad[i].bytes, bad[i].size);
        forge(&pair, items, 6 + bad[i].size);
        expect_events(pair.b, ".");
        assert_int_equal(bunch_stats(pair.b).packets_refused, i + 1);
    }
    uint8_t items[5 + 241] = {0x80, 0, 0, 241};
    forge(&pair, items, sizeof items); /* the value is too long */
    items[0] = 0x30;
    forge(&pair, items, sizeof items); /* the part is too long */
    assert_int_equal(bunch_stats(pair.b).packets_refused, 9);
    expect_events(pair.b, ".");

    /* All these packets were told as lost, and all that follows arrives. */
    tick_to(&pair, pair.b, pair.a);
    assert_int_equal(bunch_stats(pair.a).notify.packets_nakked, 9);
    send_text(pair.a, 0, "fine");
    tick_to(&pair, pair.a, pair.b);
    expect_events(pair.b, "0:fine");
}

TEST(an_item_is_read_within_its_bytes)
{
    const struct cw_bunch_config config = {.channels = 1, .max_part_size = 3};
    const uint8_t bytes[8] = {0x30, 0, 0, 3, 0, 'a', 'b', 'c'};
    for (size_t size = 1; size <= sizeof bytes; size++) {
        struct cw_bunch_item item;
        uint8_t *exact = malloc(size);
        memcpy(exact, bytes, size);
        assert_int_equal(cw_bunch_item_read(exact, size, &config, &item), size == 8 ? 8 : 0);
        free(exact);
    }
}

TEST(parts_that_make_no_bunch_are_dropped)
{
    struct cw_bunch_config config = bunch_config();
    config.max_bunch_size = 3;
    struct bunch_pair pair = bunch_pair_with(&config);
    const uint8_t items[] = {
        0x20, 0, 0, 1, 0, 'a',                                /* a last part without a first */
        0x10, 1, 0, 1, 0, 'b',                                /* a first part without a last */
        0x10, 2, 0, 2, 0, 'c', 'd',                           /* a bunch that is too long */
        0x20, 3, 0, 2, 0, 'e', 'f',  0x20, 4, 0, 1, 0,   'g', /* more of the long one */
        0x10, 5, 0, 1, 0, 'h',                                /* the first of a bunch */
        0x20, 6, 0, 1, 0, 'i', 0x20, 7,    0, 1, 0, 'j',      /* its last, and one more */
    };
    forge(&pair, items, sizeof items);
    expect_events(pair.b, "0:hi .");
}

/* Parts come twice when a nak was wrong. */
TEST(parts_that_come_twice_count_once)
{
    struct bunch_pair pair = bunch_pair_default();
    const uint8_t first[] = {0x30, 0, 0, 1, 0, 'a', 0x30, 2, 0, 1, 0, 'c'};
    const uint8_t again[] = {0x30, 0, 0, 1, 0, 'x', 0x30, 2, 0, 1, 0, 'x', 0x30, 1, 0, 1, 0, 'b'};
    forge(&pair, first, sizeof first);
    expect_events(pair.b, "0:a");
    forge(&pair, again, sizeof again);
    expect_events(pair.b, "0:b 0:c .");
    uint16_t part;
    assert_false(cw_bunch_missing(pair.b, 0, &part)); /* b keeps no part */
}

TEST(a_config_that_cannot_work_is_refused)
{
    const struct cw_bunch_config good = cw_bunch_config_default();
    struct cw_bunch *bunch = NULL;
    assert_null(cw_bunch_config_error_field(&good));
#define REFUSED(member, value, field)                                                              \
    do {                                                                                           \
        struct cw_bunch_config config = good;                                                      \
        config.member = (value);                                                                   \
        assert_string_equal(cw_bunch_config_error_field(&config), field);                          \
        assert_int_equal(cw_bunch_create(&config, &bunch), CW_PROTOCOL_ERROR_CONFIG);              \
        assert_int_equal(cw_bunch_memory(&config), 0);                                             \
    } while (0)
    REFUSED(notify.max_packet_size, 5, "max_part_size");
    REFUSED(queue_parts, 8192, "queue_parts");
    REFUSED(max_part_size, 1020, "max_part_size");
    REFUSED(max_bunch_size, 512 * 240 + 1, "max_bunch_size");
    REFUSED(max_property_size, 1020, "max_property_size");
#undef REFUSED
    assert_null(bunch);
}

TEST(reset_begins_anew)
{
    struct bunch_pair pair = bunch_pair_default(), fresh = bunch_pair_default();
    send_text(pair.a, 0, "one");
    set_text(pair.a, 1, "value");
    tick_to(&pair, pair.a, pair.b);
    send_text(pair.a, 0, "two");
    set_text(pair.a, 1, "value");
    cw_bunch_reset(pair.a);
    cw_bunch_reset(pair.b);
    expect_events(pair.b, ".");
    assert_int_equal(parcel_of(pair.a).size, 0);
    set_text(pair.a, 1, "same");
    set_text(fresh.a, 1, "same");
    send_text(pair.a, 0, "three");
    send_text(fresh.a, 0, "three");
    const struct parcel one = tick_of(&pair, pair.a), other = tick_of(&fresh, fresh.a);
    assert_int_equal(one.size, other.size);
    assert_memory_equal(one.data, other.data, one.size);
    const struct cw_bunch_stats before = bunch_stats(fresh.a), after = bunch_stats(pair.a);
    assert_memory_equal(&before, &after, sizeof after);
    hand_over(pair.b, &one);
    expect_events(pair.b, "0:three p1:same");
}

TEST(without_a_time_nothing_is_sent_but_what_waits)
{
    const double no_times[] = {(double)NAN, (double)INFINITY, (double)-INFINITY};
    struct bunch_pair pair = bunch_pair_default();
    for (int i = 0; i < 3; i++)
        cw_bunch_update(pair.a, no_times[i]);
    assert_int_equal(parcel_of(pair.a).size, 0);
    assert_ok(cw_bunch_send(pair.a, 0, NULL, 0));
    assert_ok(cw_bunch_set(pair.a, 0, NULL, 0));
    assert_int_equal(cw_bunch_set(pair.a, 4, (const uint8_t *)"x", 1),
                     CW_PROTOCOL_ERROR_INVALID_ARGUMENT);
    assert_int_equal(parcel_of(pair.a).size, 8 + 5 + 5);
    assert_int_equal(parcel_of(pair.a).size, 0);
}
