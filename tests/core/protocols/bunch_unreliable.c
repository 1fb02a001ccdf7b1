/* Tests of unreliable bunches: each is sent once, arrives at most once, and waits for nothing. */
#include "bad_paths.h"
#include "bunch_rig.h"

#define PLACES 4
#define TICKS  3600

static struct bunch_pair unreliable_pair(void)
{
    struct cw_bunch_config config = bunch_config();
    config.unreliable_bunches = PLACES;
    return bunch_pair_with(&config);
}

static void send_unreliable(struct cw_bunch *bunch, uint32_t channel, const char *text)
{
    assert_ok(cw_bunch_send_unreliable(bunch, channel, (const uint8_t *)text, strlen(text)));
}

static void expect_unreliable(struct cw_bunch *bunch, uint32_t channel, const char *text)
{
    expect_event(bunch, CW_BUNCH_EVENT_UNRELIABLE, channel, text, strlen(text));
}

TEST(the_bytes_of_an_unreliable_bunch_are_as_the_text_says)
{
    struct bunch_pair pair = unreliable_pair();
    send_unreliable(pair.a, 1, "ab");
    send_unreliable(pair.a, 0, "");
    const struct parcel parcel = tick_of(&pair, pair.a);
    const uint8_t expected[] = {0x41, 0, 0, 2, 0, 'a', 'b', 0x40, 0, 0, 0, 0};
    assert_int_equal(parcel.size, 8 + sizeof expected);
    assert_memory_equal(parcel.data + 8, expected, sizeof expected);
    hand_over(pair.b, &parcel);
    expect_unreliable(pair.b, 1, "ab");
    expect_unreliable(pair.b, 0, "");
    expect_events(pair.b, ".");
    assert_int_equal(bunch_stats(pair.a).unreliable_sent, 2);
    assert_int_equal(bunch_stats(pair.b).unreliable_received, 2);
}

TEST(a_lost_one_is_not_sent_again)
{
    struct bunch_pair pair = unreliable_pair();
    send_unreliable(pair.a, 0, "lost");
    tick_of(&pair, pair.a);
    send_unreliable(pair.a, 0, "next");
    tick_to(&pair, pair.a, pair.b);
    tick_to(&pair, pair.b, pair.a); /* brings the nak */
    assert_int_equal(bunch_stats(pair.a).notify.packets_nakked, 1);
    assert_int_equal(tick_of(&pair, pair.a).size, 8);
    expect_unreliable(pair.b, 0, "next");
    expect_events(pair.b, ".");
}

TEST(it_does_not_wait_for_a_reliable_bunch_of_its_channel)
{
    struct bunch_pair pair = unreliable_pair();
    send_text(pair.a, 0, "lost");
    tick_of(&pair, pair.a);
    send_text(pair.a, 0, "waits");
    send_unreliable(pair.a, 0, "now");
    tick_to(&pair, pair.a, pair.b);
    expect_unreliable(pair.b, 0, "now");
    expect_events(pair.b, ".");
}

/* Neither a sender without bandwidth nor a slow reader keeps old ones: the newest count more. */
TEST(a_full_queue_drops_the_oldest_at_both_ends)
{
    static const char *const texts[] = {"1", "2", "3", "4", "5", "6"};
    struct bunch_pair pair = unreliable_pair();
    for (int i = 0; i < 6; i++)
        send_unreliable(pair.a, 0, texts[i]);
    assert_int_equal(bunch_stats(pair.a).unreliable_dropped, 2);
    tick_to(&pair, pair.a, pair.b);
    send_unreliable(pair.a, 0, "7");
    tick_to(&pair, pair.a, pair.b);
    assert_int_equal(bunch_stats(pair.b).unreliable_dropped, 1);
    expect_unreliable(pair.b, 0, "4");
    expect_unreliable(pair.b, 0, "5");
    expect_unreliable(pair.b, 0, "6");
    expect_unreliable(pair.b, 0, "7");
    expect_events(pair.b, ".");
    assert_int_equal(bunch_stats(pair.b).packets_refused, 0);
}

TEST(big_data_does_not_keep_it_waiting)
{
    struct bunch_pair pair = unreliable_pair();
    static const uint8_t block[60000];
    assert_ok(cw_bunch_send(pair.a, 0, block, sizeof block));
    for (int i = 0; i < 3; i++) {
        send_unreliable(pair.a, 1, "now");
        tick_to(&pair, pair.a, pair.b);
        expect_unreliable(pair.b, 1, "now");
    }
}

TEST(one_that_does_not_fit_waits_for_the_next_packet)
{
    struct cw_bunch_config config = bunch_config();
    config.unreliable_bunches = PLACES;
    config.notify.max_packet_size = 250;
    struct bunch_pair pair = bunch_pair_with(&config);
    static const char text[241] = "x";
    assert_int_equal(
        cw_bunch_send_unreliable(pair.a, 0, (const uint8_t *)text, config.max_part_size + 1),
        CW_PROTOCOL_ERROR_TOO_LARGE);
    for (int i = 0; i < 2; i++)
        assert_ok(cw_bunch_send_unreliable(pair.a, 0, (const uint8_t *)text, config.max_part_size));
    for (int i = 0; i < 2; i++) {
        tick_to(&pair, pair.a, pair.b);
        expect_event(pair.b, CW_BUNCH_EVENT_UNRELIABLE, 0, text, config.max_part_size);
        expect_events(pair.b, ".");
    }
}

TEST(without_places_there_are_none)
{
    struct bunch_pair pair = bunch_pair_default(), other = unreliable_pair();
    assert_int_equal(cw_bunch_send_unreliable(pair.a, 0, (const uint8_t *)"x", 1),
                     CW_PROTOCOL_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_bunch_send_unreliable(other.a, 2, (const uint8_t *)"x", 1),
                     CW_PROTOCOL_ERROR_INVALID_ARGUMENT);
    send_unreliable(other.a, 0, "x");
    tick_to(&other, other.a, pair.b);
    expect_events(pair.b, ".");
    assert_int_equal(bunch_stats(pair.b).packets_refused, 1);
    struct cw_bunch_config config = bunch_config();
    config.unreliable_bunches = 257;
    assert_string_equal(cw_bunch_config_error_field(&config), "unreliable_bunches");
    config.unreliable_bunches = 256;
    assert_null(cw_bunch_config_error_field(&config));
}

TEST(what_breaks_the_rules_of_an_unreliable_bunch_is_refused)
{
    static const uint8_t bad[][6] = {
        {0x50, 0, 0, 1, 0, 'x'}, /* it has no parts, thus neither a first */
        {0x60, 0, 0, 1, 0, 'x'}, /* nor a last one */
        {0xc0, 0, 0, 1, 0, 'x'}, /* it is not a property too */
        {0x40, 1, 0, 1, 0, 'x'}, /* it has no number */
        {0x42, 0, 0, 1, 0, 'x'}, /* no such channel */
        {0x40, 0, 0, 2, 0, 'x'}, /* a byte is missing */
    };
    struct bunch_pair pair = unreliable_pair();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct parcel parcel = tick_of(&pair, pair.a);
        memcpy(parcel.data + parcel.size, bad[i], sizeof bad[i]);
        parcel.size += sizeof bad[i];
        hand_over(pair.b, &parcel);
        expect_events(pair.b, ".");
        assert_int_equal(bunch_stats(pair.b).packets_refused, i + 1);
    }
}

TEST(reset_forgets_them_at_both_ends)
{
    struct bunch_pair pair = unreliable_pair();
    send_unreliable(pair.a, 0, "here");
    tick_to(&pair, pair.a, pair.b);
    send_unreliable(pair.a, 0, "queued");
    cw_bunch_reset(pair.a);
    cw_bunch_reset(pair.b);
    expect_events(pair.b, ".");
    assert_int_equal(tick_of(&pair, pair.a).size, 8);
    assert_int_equal(bunch_stats(pair.a).unreliable_sent, 0);
}

/* Takes what has arrived at b. Numbers of unreliable bunches grow, and of the others each comes. */
static void take(struct cw_bunch *bunch, uint32_t *unreliable, uint32_t *reliable)
{
    struct cw_bunch_event event;
    while (cw_bunch_next(bunch, &event)) {
        uint32_t number;
        assert_int_equal(event.size, sizeof number);
        memcpy(&number, event.data, sizeof number);
        if (event.type == CW_BUNCH_EVENT_UNRELIABLE) {
            assert_true(number > *unreliable);
            *unreliable = number;
        } else {
            assert_int_equal(number, ++*reliable);
        }
    }
}

TEST(on_a_bad_network_they_keep_their_order_and_come_once)
{
    struct bad_paths paths = bad_paths(7);
    struct bunch_pair pair = unreliable_pair();
    struct cw_bunch *const ends[2] = {pair.a, pair.b};
    uint32_t unreliable = 0, reliable = 0;
    bad_paths_lose(&paths, 0.3);
    for (uint32_t tick = 1; tick <= TICKS; tick++) {
        paths.now += 1.0 / 60;
        const uint8_t *const data = (const uint8_t *)&tick;
        assert_ok(cw_bunch_send_unreliable(pair.a, tick % 2, data, sizeof tick));
        assert_ok(cw_bunch_send(pair.a, 0, data, sizeof tick));
        for (int i = 0; i < 2; i++) {
            uint8_t *exact, out[CW_NOTIFY_HEADER_SIZE + 1024];
            size_t size;
            while ((exact = bad_paths_next(&paths, !i, &size)) != NULL) {
                cw_bunch_receive(ends[i], exact, size);
                free(exact);
            }
            cw_bunch_update(ends[i], paths.now);
            take(pair.b, &unreliable, &reliable);
            while ((size = cw_bunch_transmit(ends[i], out, sizeof out)) > 0)
                assert_ok(cw_simulator_receive(paths.from[i], out, size, paths.now));
        }
    }
    const struct cw_bunch_stats sent = bunch_stats(pair.a), got = bunch_stats(pair.b);
    assert_int_equal(sent.unreliable_sent, TICKS);
    assert_true(got.unreliable_received > TICKS / 2 && got.unreliable_received < TICKS * 4 / 5);
    assert_int_equal(sent.unreliable_dropped + got.unreliable_dropped, 0);
}
