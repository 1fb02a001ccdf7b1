/* Tests of numbers that wrap, and of packets that come twice or late. */
#include "fixture.h"

#include "connections.h"

static void empty_rounds(struct cw_connection *a, struct cw_connection *b, long count, double *now)
{
    for (long i = 0; i < count; i++, *now += TICK) {
        round_of(a, b, *now);
        round_of(b, a, *now);
    }
}

/* Other libraries failed after more than 32768 packets between two reliable messages. */
TEST(test_any_number_of_packets_may_pass_between_two_messages)
{
    struct cw_connection_config config = notes_config();
    config.channels[0].blocks = true;
    static const long gaps[] = {256, 32767, 32769, 65536, 70000};
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    double now = 0;
    for (uint32_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        send_note(a, 0, i, 10, now);
        empty_rounds(a, b, 4, &now);
        expect_note(b, 0, i);
        send_parcel(a, 0, i, 3000, now);
        empty_rounds(a, b, 4, &now);
        expect_parcel(b, 0, i, 3000);
        assert_int_equal(channel_of(a, 0).in_flight, 0);
        empty_rounds(a, b, gaps[i] - 8, &now);
    }
    assert_int_equal(channel_of(a, 0).resent, 0);
    assert_int_equal(stats_of(a).endpoint.packets_lost, 0);
}

/* Nothing of one end arrives for more than a lap, while it hears the other, whose old acks must not
   count for the packets that have these numbers now. */
TEST(test_half_a_block_waits_through_a_lap_of_silence)
{
    static const long silences[] = {100, 32000, 65536};
    struct cw_connection_config config = notes_config();
    config.channels[0].blocks = true;
    for (size_t i = 0; i < sizeof silences / sizeof *silences; i++) {
        struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
        double now = 0;
        send_parcel(a, 0, 1, 8000, now);
        round_of(a, b, now); /* carries four fragments of eight */
        for (long j = 0; j < silences[i]; j++, now += TICK) {
            round_of(b, a, now);
            round_of(a, NULL, now);
        }
        assert_int_equal(channel_of(a, 0).in_flight, 1);
        /* As the numbers of a may look old, another half lap may pass until b takes them again. */
        for (long j = 0; channel_of(b, 0).received == 0; j++, now += TICK) {
            round_of(a, b, now);
            round_of(b, a, now);
            assert_true(j < 40000);
        }
        expect_parcel(b, 0, 1, 8000);
        empty_rounds(a, b, 300, &now);
        assert_int_equal(channel_of(a, 0).delivered, 1);
    }
}

/* The list of the entries that packets carried is finite too. When an ack comes so late that the
   list has gone round, it says nothing of the messages that stand there now. */
TEST(test_an_ack_from_long_ago_acks_nothing_else)
{
    struct cw_connection_config config = notes_config();
    config.channels[0].send_queue_size = config.channels[0].receive_queue_size = 128;
    config.endpoint.sent_window = 32;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    const uint32_t count = 84; /* the list begins anew in the middle of a packet's entries */
    uint8_t late[2048];
    double now = 0;
    send_note(a, 0, 0, 0, now);
    round_of(a, b, now);
    cw_connection_update(b, now);
    const size_t late_size = transmit(b, late, now);
    for (uint32_t i = 1; i < count; i++)
        send_note(a, 0, i, 0, now);
    for (uint32_t i = 1; i <= 13; i++) {
        now += 3;
        assert_int_equal(round_of(a, NULL, now), 1);
        assert_int_equal(channel_of(a, 0).in_flight, count);
    }
    assert_int_equal(channel_of(a, 0).resent, 12 * count + 1);
    assert_int_equal(receive_exact(a, late, late_size, now), CW_OK);
    empty_rounds(a, b, 60, &now);
    for (uint32_t i = 0; i < count; i++)
        expect_note(b, 0, i);
    empty_rounds(a, b, 60, &now);
    assert_int_equal(channel_of(a, 0).delivered, count);
}

/* Ids wrap as well: an ack for a packet that is a lap of ids old is none for the message that has
   the same id now. */
TEST(test_an_ack_from_a_lap_of_ids_ago_acks_no_newer_message)
{
    struct cw_connection_config config = notes_config();
    config.endpoint.sent_window = config.endpoint.received_window = 16384;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    static uint8_t late[2048];
    uint32_t sent = 0, received = 0;
    double now = 0;
    send_note(a, 0, sent++, 0, now);
    round_of(a, b, now);
    cw_connection_update(b, now);
    const size_t late_size = transmit(b, late, now);
    for (int i = 0; i < 40; i++, now += TICK) { /* then nothing else tells of that packet */
        round_of(a, b, now);
        round_of(b, NULL, now);
    }
    while (sent < 65536) {
        for (int i = 0; i < 8 && sent < 65536; i++)
            send_note(a, 0, sent++, 0, now);
        round_of(a, b, now);
        for (struct cw_message *message; (message = next_message(b, NULL)) != NULL;) {
            assert_int_equal(number_of(message), received++);
            cw_message_release(message);
        }
        round_of(b, a, now);
        now += TICK;
    }
    assert_int_equal(channel_of(a, 0).delivered, sent);
    send_note(a, 0, sent++, 0, now);
    round_of(a, NULL, now);
    assert_int_equal(receive_exact(a, late, late_size, now), CW_OK);
    assert_int_equal(channel_of(a, 0).in_flight, 1);
    empty_rounds(a, b, 60, &now);
    while (received < sent)
        expect_note(b, 0, received++);
}

TEST(test_ids_wrap_many_times_under_loss)
{
    struct cw_connection_config config = notes_config();
    config.max_messages = 4096;
    config.channels[0].send_queue_size = config.channels[0].receive_queue_size = 1024;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    uint32_t sent = 0, received = 0, random = 1;
    const uint32_t count = 3 * 65536 + 100;
    for (double now = 0; received < count; now += TICK) {
        while (sent < count) {
            struct cw_message *message = make_note(a, SMALL_NOTE, sent / 3 % 2, 0);
            if (cw_connection_send(a, 0, message, now) != CW_OK) {
                cw_message_release(message);
                break;
            }
            sent++;
        }
        random = random * 1664525u + 1013904223u;
        round_of(a, random >> 28 ? b : NULL, now);
        round_of(b, random >> 24 & 15 ? a : NULL, now);
        for (struct cw_message *message; (message = next_message(b, NULL)) != NULL;) {
            assert_int_equal(message->id, received & 0xFFFF);
            assert_int_equal(number_of(message), received / 3 % 2);
            received++;
            cw_message_release(message);
        }
        assert_true(now < 3600);
    }
    assert_null(next_message(b, NULL));
}

TEST(test_almost_nothing_arrives_while_numbers_wrap)
{
    const struct cw_connection_config config = notes_config();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    uint32_t sent = 0, received = 0, random = 5;
    double now = 0;
    for (long i = 0; i < 80000; i++, now += TICK) {
        if (i % 50 == 0 && channel_of(a, 0).queued + channel_of(a, 0).in_flight < 100)
            send_note(a, 0, sent++, 30, now);
        random = random * 1664525u + 1013904223u;
        round_of(a, (random >> 16) % 20 == 0 ? b : NULL, now);
        round_of(b, (random >> 8) % 20 == 0 ? a : NULL, now);
        struct cw_message *message;
        while ((message = next_message(b, NULL)) != NULL) {
            assert_int_equal(number_of(message), received++);
            cw_message_release(message);
        }
    }
    assert_true(received > 500);
    empty_rounds(a, b, 600, &now);
    while (received < sent)
        expect_note(b, 0, received++);
    assert_int_equal(stats_of(a).messages_in_use + stats_of(b).messages_in_use, 0);
}

/* Other libraries delivered a duplicate inside the window twice. */
TEST(test_a_datagram_that_comes_again_is_not_taken_again)
{
    struct cw_connection_config config = notes_config();
    config.channels[0].blocks = config.channels[1].blocks = true;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    static struct {
        uint8_t data[2048];
        size_t size;
    } wires[400];
    static uint8_t none[2048];
    for (uint32_t i = 0; i < 400; i++) {
        const double now = i * TICK;
        send_note(a, 0, i, 1, now);
        send_note(a, 1, i, 2, now);
        if (i % 20 == 0)
            send_parcel(a, 1, i, 300, now);
        cw_connection_update(a, now);
        wires[i].size = transmit(a, wires[i].data, now);
        assert_int_equal(transmit(a, none, now), 0);
        assert_int_equal(receive_exact(b, wires[i].data, wires[i].size, now), CW_OK);
        assert_int_equal(drain(b), 2 + (i % 20 == 0));
        round_of(b, a, now);
        for (uint32_t back = 0; back <= i; back += i % 50 ? 61 : 1) {
            const enum cw_error error =
                receive_exact(b, wires[i - back].data, wires[i - back].size, now);
            assert_int_equal(error, back < 256 ? CW_ERROR_DUPLICATE : CW_ERROR_STALE);
            assert_null(next_message(b, NULL));
        }
    }
    assert_int_equal(channel_of(b, 1).received, 420);
}

/* The acks of a packet count also when the application of the other end takes nothing for a long
   time, and when the packet holds nothing else. */
TEST(test_acks_come_through_whatever_the_packet_holds)
{
    struct cw_connection_config config = notes_config();
    config.channels[0].receive_queue_size = 4;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    double now = 0;
    for (uint32_t i = 0; i < 8; i++)
        send_note(b, 0, i, 0, now);
    empty_rounds(b, a, 3, &now); /* a is full from here on, and refuses what b sends */
    uint32_t sent = 0;
    for (int i = 0; i < 100; i++, now += TICK) {
        send_note(a, 0, sent++, 0, now);
        round_of(a, b, now);
        assert_int_equal(drain(b), 1);
        round_of(b, a, now);
        assert_int_equal(channel_of(a, 0).delivered, sent);
    }
    assert_true(stats_of(a).packets_refused > 0);
    for (uint32_t i = 0; i < 8; i++) {
        expect_note(a, 0, i);
        empty_rounds(b, a, 4, &now);
    }
}
