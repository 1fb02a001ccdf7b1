/* Tests of packet notification, rule by rule. a sends to b unless a test says otherwise. */
#include "notify_rig.h"

struct pair {
    struct cw_notify *a, *b;
};

static struct pair pair_from(uint16_t first_a, uint16_t first_b)
{
    struct cw_notify_config config = cw_notify_config_default();
    config.first_sequence = first_a;
    config.first_peer_sequence = first_b;
    struct pair pair = {.a = notify_with(config)};
    config.first_sequence = first_b;
    config.first_peer_sequence = first_a;
    pair.b = notify_with(config);
    return pair;
}

/* Sends `count` packets, which are delivered and taken, without telling the sender. */
static void deliver_many(struct cw_notify *from, struct cw_notify *to, int count)
{
    for (int i = 0; i < count; i++) {
        const struct datagram packet = packet_of(from, 0);
        deliver_to(to, &packet);
    }
}

static void lose_many(struct cw_notify *from, int count)
{
    for (int i = 0; i < count; i++)
        packet_of(from, 0);
}

TEST(each_packet_gets_an_ack_or_a_nak_in_order)
{
    struct pair pair = pair_from(0, 100);
    const bool arrives[] = {true, false, false, false, false, true, true, false, true};
    for (int i = 0; i < 9; i++) {
        const struct datagram packet = packet_of(pair.a, 0);
        if (arrives[i])
            deliver_to(pair.b, &packet);
    }
    const struct datagram answer = packet_of(pair.b, 7);
    arrive(pair.a, &answer);
    for (uint16_t i = 0; i < 9; i++)
        expect_event(pair.a, arrives[i] ? CW_NOTIFY_EVENT_ACK : CW_NOTIFY_EVENT_NAK, i);
    expect_events(pair.a, "p100"); /* the packet comes after the fates */
    expect_events(pair.a, ".");
    const struct datagram again = packet_of(pair.b, 7);
    deliver_to(pair.a, &again); /* the same acks are told only once */
    assert_int_equal(notify_stats(pair.a).packets_acked, 4);
    assert_int_equal(notify_stats(pair.a).packets_nakked, 5);
}

/* The fate of packets after the newest one that arrived is told later. */
TEST(the_last_packets_are_told_later)
{
    struct pair pair = pair_from(0, 0);
    deliver_many(pair.a, pair.b, 1);
    lose_many(pair.a, 2);
    pass(pair.b, pair.a);
    expect_events(pair.a, "+0 p0 .");
    pass(pair.a, pair.b);
    cw_notify_update(pair.b);
    expect_events(pair.b, "+0 p3");
    pass(pair.b, pair.a);
    expect_events(pair.a, "-1..2 +3");
}

TEST(a_packet_must_be_newer)
{
    struct pair pair = pair_from(0, 0);
    const struct datagram first = packet_of(pair.a, 0), second = packet_of(pair.a, 0);
    deliver_to(pair.b, &first);
    deliver_to(pair.b, &second);
    assert_int_equal(receive_of(pair.b, &first), CW_PROTOCOL_ERROR_STALE);
    assert_int_equal(receive_of(pair.b, &second), CW_PROTOCOL_ERROR_STALE);
    expect_events(pair.b, ".");
    assert_int_equal(notify_stats(pair.b).packets_stale, 2);

    /* Half the round is ambiguous; one less is newer. */
    struct datagram far = forged(1 + 8192, 16383, 1, 0);
    assert_int_equal(receive_of(pair.b, &far), CW_PROTOCOL_ERROR_STALE);
    far = forged(1 + 8191, 16383, 1, 0);
    arrive(pair.b, &far);
}

TEST(acks_of_packets_that_were_not_sent_are_refused)
{
    struct pair pair = pair_from(0, 0);
    lose_many(pair.b, 3);
    struct datagram packet = forged(0, 3, 1, 0xffffffff);
    assert_int_equal(receive_of(pair.b, &packet), CW_PROTOCOL_ERROR_MALFORMED);
    packet = forged(0, 16382, 1, 0xffffffff); /* a number before the first one */
    assert_int_equal(receive_of(pair.b, &packet), CW_PROTOCOL_ERROR_MALFORMED);
    packet = forged(0, 2, 1, 7);
    arrive(pair.b, &packet);
    expect_events(pair.b, "+0..2 p0");
    packet = forged(1, 1, 1, 0xffffffff); /* an ack before the last one */
    assert_int_equal(receive_of(pair.b, &packet), CW_PROTOCOL_ERROR_MALFORMED);
    expect_events(pair.b, ".");
    assert_int_equal(notify_stats(pair.b).packets_malformed, 3);
}

/* Packets that wait are looked at again when their turn comes. */
TEST(acks_that_go_back_are_dropped_later_too)
{
    struct pair pair = pair_from(0, 0);
    lose_many(pair.b, 5);
    const struct datagram first = forged(0, 3, 1, 15), second = forged(1, 1, 1, 0),
                          third = forged(2, 4, 1, 0);
    arrive(pair.b, &first);
    arrive(pair.b, &second);
    arrive(pair.b, &third);
    expect_events(pair.b, "+0..3 p0 ."); /* now the third is early, as the second was dropped */
    cw_notify_update(pair.b);
    expect_events(pair.b, "-4 p2");
    assert_int_equal(notify_stats(pair.b).packets_malformed, 1);
}

TEST(what_is_no_packet_is_refused)
{
    struct pair pair = pair_from(0, 0);
    struct datagram packet = forged(0, 16383, 1, 0);
    for (packet.size = 1; packet.size < 8; packet.size++)
        assert_int_equal(receive_of(pair.b, &packet), CW_PROTOCOL_ERROR_MALFORMED);
    packet.size = 8 + 65; /* a byte more than agreed */
    assert_int_equal(receive_of(pair.b, &packet), CW_PROTOCOL_ERROR_MALFORMED);
    packet.size = 8 + 64;
    arrive(pair.b, &packet);
}

TEST(the_history_grows_until_it_is_known)
{
    struct pair pair = pair_from(0, 0);
    const int counts[] = {0, 1, 31, 1, 31, 1, 159};   /* in total 0, 1, 32, 33, 64, 65, 224 */
    const size_t sizes[] = {8, 8, 8, 12, 12, 16, 32}; /* 4, and 4 for each word of 32 */
    for (int i = 0; i < 7; i++) {
        deliver_many(pair.a, pair.b, counts[i]);
        assert_int_equal(packet_of(pair.b, 0).size, sizes[i] + 1);
    }
    assert_int_equal(notify_stats(pair.b).history_size, 224);

    /* Now a gets the last answer, and says so in its next packet. */
    pass(pair.b, pair.a);
    expect_events(pair.a, "+0..223 p7");
    pass(pair.a, pair.b);
    expect_events(pair.b, "-0..6 +7 p224");
    assert_int_equal(notify_stats(pair.b).history_size, 1);
    assert_int_equal(packet_of(pair.b, 0).size, 8 + 1);
}

/* A lost answer has told nothing, even when a later one is acked with it. */
TEST(only_delivered_answers_make_the_history_shorter)
{
    struct pair pair = pair_from(0, 0);
    deliver_many(pair.a, pair.b, 10);
    const struct datagram first = packet_of(pair.b, 0);
    deliver_many(pair.a, pair.b, 10);
    lose_many(pair.b, 1);
    arrive(pair.a, &first);
    expect_events(pair.a, "+0..9 p0");
    /* Next, a refuses an answer, so that its packet acks numbers 1 and 2 as lost. */
    pass(pair.b, pair.a);
    cw_notify_update(pair.a);
    expect_events(pair.a, "+10..19 p2");
    cw_notify_refuse(pair.a);
    pass(pair.a, pair.b);
    expect_events(pair.b, "+0 -1..2 p20");
    assert_int_equal(notify_stats(pair.b).history_size, 11); /* it has 10 to 20 */
}

TEST(what_is_too_old_for_the_history_was_lost)
{
    struct pair pair = pair_from(0, 0);
    lose_many(pair.a, 40);
    const struct datagram answer = forged(0, 39, 1, 0xffffffff);
    arrive(pair.a, &answer);
    expect_events(pair.a, "-0..7 +8..39");
}

TEST(a_refused_packet_gets_a_nak)
{
    struct pair pair = pair_from(0, 0);
    deliver_many(pair.a, pair.b, 2);
    cw_notify_update(pair.b);
    cw_notify_refuse(pair.b); /* the packet is delivered already */
    pass(pair.a, pair.b);
    expect_events(pair.b, "p2");
    cw_notify_refuse(pair.b);
    deliver_many(pair.a, pair.b, 1);
    assert_int_equal(notify_stats(pair.b).packets_delivered, 3);
    pass(pair.b, pair.a);
    expect_events(pair.a, "+0..1 -2 +3");
}

/* While b gets all packets, a gets none, so that the history of b becomes full. */
TEST(a_full_history_waits_until_it_is_known)
{
    struct pair pair = pair_from(0, 0);
    deliver_many(pair.a, pair.b, 256);
    for (int i = 0; i < 300; i++) {
        pass(pair.a, pair.b);
        expect_events(pair.b, "."); /* nothing is delivered */
    }
    assert_int_equal(notify_stats(pair.b).packets_overflowed, 300);
    assert_int_equal(notify_stats(pair.b).history_size, 256);

    /* The path from b is back. Exactly the packets that were delivered are told as such. */
    const struct datagram answer = packet_of(pair.b, 0);
    assert_int_equal(answer.size, CW_NOTIFY_HEADER_SIZE + 1);
    arrive(pair.a, &answer);
    expect_events(pair.a, "+0..255 p0 .");

    /* Now b learns that, and delivers the packet that tells it. All others were lost. */
    pass(pair.a, pair.b);
    expect_events(pair.b, "+0 p556");
    const struct datagram second = packet_of(pair.b, 0);
    assert_int_equal(second.size, 8 + 1);
    arrive(pair.a, &second);
    expect_events(pair.a, "-256..555 +556");
}

/* While b waits, it reports arriving packets as lost, as far as the history reaches. */
TEST(a_full_history_tells_the_rest_as_lost)
{
    struct pair pair = pair_from(0, 0);
    deliver_many(pair.a, pair.b, 200);
    lose_many(pair.a, 100);
    pass(pair.a, pair.b);
    expect_events(pair.b, ".");
    pass(pair.b, pair.a);
    expect_events(pair.a, "+0..199 -200..255 p0 .");
}

/* Two packets cross each other, so that neither end knows that the other has what it acked. Then
   nothing arrives for more than 256 packets. */
TEST(two_full_histories_do_not_wait_for_each_other)
{
    struct pair pair = pair_from(0, 0);
    const struct datagram from_a = packet_of(pair.a, 0), from_b = packet_of(pair.b, 0);
    deliver_to(pair.a, &from_b);
    deliver_to(pair.b, &from_a);
    lose_many(pair.a, 299);
    lose_many(pair.b, 299);

    /* The history of b is full. The history of a would be full, but b says that it waits as well.
     */
    struct datagram packet = pass(pair.a, pair.b);
    expect_events(pair.b, "+0 .");
    packet = packet_of(pair.b, 0);
    assert_int_equal(packet.size, CW_NOTIFY_HEADER_SIZE + 1);
    arrive(pair.a, &packet);
    expect_events(pair.a, "+0 -1..255 p300 .");

    pass(pair.a, pair.b);
    expect_events(pair.b, "-1..299 +300 p301 .");
}

TEST(numbers_wrap_again_and_again)
{
    struct pair pair = pair_from(16382, 8190);
    uint16_t a_told = 16382, b_told = 8190;
    for (uint32_t i = 0; i < 100000; i++) {
        struct datagram packet = packet_of(pair.a, (uint8_t)i);
        if (i % 3) {
            struct cw_notify_event event;
            arrive(pair.b, &packet);
            cw_notify_update(pair.b);
            while (cw_notify_next(pair.b, &event) && event.type != CW_NOTIFY_EVENT_PACKET) {
                assert_int_equal(event.sequence, b_told);
                assert_int_equal(event.type, CW_NOTIFY_EVENT_ACK);
                b_told = cw_notify_after(b_told, 1);
            }
            assert_int_equal(event.sequence, (16382 + i) % 16384);
        }
        packet = packet_of(pair.b, (uint8_t)i);
        assert_true(packet.size <= 8 + 1);
        arrive(pair.a, &packet);
        struct cw_notify_event event;
        while (cw_notify_next(pair.a, &event) && event.type != CW_NOTIFY_EVENT_PACKET) {
            assert_int_equal(event.sequence, a_told);
            const uint32_t number = (a_told + 16384u - 16382u) % 16384 + (i + 1) / 16384 * 16384;
            const uint32_t real = number > i ? number - 16384 : number;
            assert_int_equal(event.type, real % 3 ? CW_NOTIFY_EVENT_ACK : CW_NOTIFY_EVENT_NAK);
            a_told = cw_notify_after(a_told, 1);
        }
        assert_int_equal(event.sequence, (8190 + i) % 16384);
    }
    assert_int_equal(notify_stats(pair.a).packets_acked, 66666);
}

TEST(the_window_ends_before_numbers_are_ambiguous)
{
    struct pair pair = pair_from(16000, 0);
    assert_int_equal(cw_notify_room(pair.a), CW_NOTIFY_WINDOW);
    lose_many(pair.a, CW_NOTIFY_WINDOW - 1);
    const struct datagram last = packet_of(pair.a, 0);
    assert_int_equal(cw_notify_room(pair.a), 0);
    assert_int_equal(cw_notify_send(pair.a, NULL, 0, NULL), CW_PROTOCOL_ERROR_EVENTS_PENDING);
    deliver_to(pair.b, &last);
    pass(pair.b, pair.a);
    assert_int_equal(cw_notify_send(pair.a, NULL, 0, NULL), CW_PROTOCOL_ERROR_EVENTS_PENDING);
    for (int i = 0; i < CW_NOTIFY_WINDOW - 1; i++)
        expect_event(pair.a, CW_NOTIFY_EVENT_NAK, cw_notify_after(16000, i));
    expect_event(pair.a, CW_NOTIFY_EVENT_ACK, last.sequence);
    expect_events(pair.a, "p0");
    assert_int_equal(cw_notify_room(pair.a), CW_NOTIFY_WINDOW);
}

TEST(a_packet_is_transmitted_once)
{
    struct pair pair = pair_from(0, 0);
    uint8_t out[CW_NOTIFY_HEADER_SIZE + 64], payload[65] = {0};
    assert_int_equal(cw_notify_transmit(pair.a, out, sizeof out), 0);
    assert_int_equal(cw_notify_send(pair.a, payload, 65, NULL), CW_PROTOCOL_ERROR_TOO_LARGE);
    assert_ok(cw_notify_send(pair.a, payload, 64, NULL));
    assert_int_equal(cw_notify_send(pair.a, payload, 64, NULL), CW_PROTOCOL_ERROR_TRANSMIT_PENDING);
    assert_int_equal(cw_notify_transmit(pair.a, out, sizeof out - 1), 0);
    assert_int_equal(cw_notify_transmit(pair.a, out, sizeof out), 8 + 64);
    assert_int_equal(cw_notify_transmit(pair.a, out, sizeof out), 0);
    assert_int_equal(cw_notify_next_sequence(pair.a), 1);
    assert_int_equal(notify_stats(pair.a).packets_sent, 1);
}

TEST(a_config_that_cannot_work_is_refused)
{
    const struct cw_notify_config good = cw_notify_config_default();
    struct cw_notify *notify = NULL;
    assert_null(cw_notify_config_error_field(&good));
#define REFUSED(field, value)                                                                      \
    do {                                                                                           \
        struct cw_notify_config config = good;                                                     \
        config.field = (value);                                                                    \
        assert_string_equal(cw_notify_config_error_field(&config), #field);                        \
        assert_int_equal(cw_notify_create(&config, &notify), CW_PROTOCOL_ERROR_CONFIG);            \
        assert_int_equal(cw_notify_memory(&config), 0);                                            \
    } while (0)
    REFUSED(first_sequence, 16384);
    REFUSED(first_peer_sequence, 16384);
    REFUSED(max_missing, 33);
#undef REFUSED
    assert_null(notify);
}

TEST(reset_begins_anew)
{
    struct pair pair = pair_from(5, 6), fresh = pair_from(5, 6);
    deliver_many(pair.a, pair.b, 40);
    struct datagram packet = packet_of(pair.a, 0);
    packet = packet_of(pair.a, 0);
    arrive(pair.b, &packet); /* waits for the one before */
    assert_ok(cw_notify_send(pair.b, NULL, 0, NULL));
    cw_notify_reset(pair.a);
    cw_notify_reset(pair.b);
    expect_events(pair.b, ".");
    const struct cw_notify_stats before = notify_stats(fresh.b), after = notify_stats(pair.b);
    assert_memory_equal(&before, &after, sizeof after);
    deliver_many(pair.a, pair.b, 3);
    deliver_many(fresh.a, fresh.b, 3);
    const struct datagram one = packet_of(pair.b, 0), other = packet_of(fresh.b, 0);
    assert_int_equal(one.sequence, 6);
    assert_int_equal(one.size, other.size);
    assert_memory_equal(one.data, other.data, one.size);
}
