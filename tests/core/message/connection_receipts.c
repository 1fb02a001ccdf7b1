/* Tests of receipts: the sender learns what became of each message that it asked about, once. */
#include "fixture.h"

#include "config_error.h"
#include "connection_pair.h"

enum { RELIABLE, UNRELIABLE };

static enum cw_error ask(struct cw_connection *from, uint32_t channel, uint32_t number,
                         uint32_t padding, double now)
{
    struct cw_message *message = make_note(from, NOTE, number, padding);
    message->receipt = number;
    const enum cw_error error = cw_connection_send(from, channel, message, now);
    if (error != CW_OK)
        cw_message_release(message);
    return error;
}

static void expect_receipt(struct cw_connection *at, uint32_t number, bool acked)
{
    struct cw_connection_event event;
    assert_true(cw_connection_receipt_waits(at));
    assert_true(cw_connection_next(at, &event));
    assert_int_equal(event.type, acked ? CW_CONNECTION_EVENT_ACKED : CW_CONNECTION_EVENT_LOST);
    assert_int_equal(event.receipt, number);
    assert_null(event.message);
}

static void expect_no_receipt(struct cw_connection *at)
{
    assert_false(cw_connection_receipt_waits(at));
}

TEST(test_an_ack_tells_which_messages_arrived)
{
    const struct cw_connection_config config = notes_config();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    assert_int_equal(ask(a, UNRELIABLE, 7, 10, 0), CW_OK);
    send_note(a, UNRELIABLE, 8, 10, 0);
    assert_int_equal(ask(a, UNRELIABLE, 0xFFFFFFFF, 10, 0), CW_OK);
    assert_int_equal(ask(a, RELIABLE, 9, 10, 0), CW_OK);
    round_of(a, b, 0);
    struct cw_message *received = next_message(b, NULL);
    assert_int_equal(received->receipt, 0); /* receipts are the sender's own */
    cw_message_release(received);
    expect_no_receipt(a);
    round_of(b, a, TICK);
    expect_receipt(a, 7, true);
    expect_receipt(a, 0xFFFFFFFF, true);
    expect_receipt(a, 9, true);
    expect_no_receipt(a);
    expect_no_receipt(b);
}

TEST(test_an_unreliable_message_is_told_lost_once_and_a_reliable_one_never)
{
    const struct cw_connection_config config = notes_config();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    uint8_t late[2048];
    assert_int_equal(ask(a, UNRELIABLE, 1, 10, 0), CW_OK);
    assert_int_equal(ask(a, RELIABLE, 2, 10, 0), CW_OK);
    cw_connection_update(a, 0);
    const size_t size = transmit(a, late, 0);
    assert_true(size > 0);
    assert_int_equal(transmit(a, late + size, 0), 0);
    round_of(a, NULL, 1.5); /* the time of the first message is up */
    expect_receipt(a, 1, false);
    expect_no_receipt(a);
    /* The message was only late. The sender is not told so any more, but the reliable message is
       acked. */
    receive_exact(b, late, size, 1.6);
    round_of(b, a, 1.6);
    expect_receipt(a, 2, true);
    expect_no_receipt(a);
}

TEST(test_what_found_no_room_in_a_packet_is_lost)
{
    struct cw_connection_config config = notes_config();
    config.max_packets_per_update = 1;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t number = 1; number <= 3; number++)
        assert_int_equal(ask(a, UNRELIABLE, number, 600, 0), CW_OK);
    round_of(a, b, 0);
    expect_receipt(a, 2, false);
    expect_receipt(a, 3, false);
    expect_no_receipt(a);
    round_of(b, a, TICK);
    expect_receipt(a, 1, true);
    expect_no_receipt(a);
}

TEST(test_a_block_is_acked_when_all_of_it_arrived)
{
    struct cw_connection_config config = notes_config();
    config.channels[RELIABLE].blocks = true;
    config.max_packets_per_update = 1;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    struct cw_message *parcel = make_parcel(a, 5, 3000);
    parcel->receipt = 5;
    assert_int_equal(cw_connection_send(a, RELIABLE, parcel, 0), CW_OK);
    for (int i = 0; i < 3; i++) {
        expect_no_receipt(a);
        round_of(a, b, 2 * i * TICK);
        round_of(b, a, (2 * i + 1) * TICK);
    }
    expect_receipt(a, 5, true);
    expect_no_receipt(a);
}

TEST(test_no_news_is_lost_when_it_is_not_taken)
{
    struct cw_connection_config config = notes_config();
    config.max_receipts = 4;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t number = 1; number <= 4; number++)
        assert_int_equal(ask(a, number % 2, number, 10, 0), CW_OK);
    assert_int_equal(ask(a, RELIABLE, 5, 10, 0), CW_ERROR_RECEIPTS_FULL);
    assert_int_equal(ask(a, UNRELIABLE, 5, 10, 0), CW_ERROR_RECEIPTS_FULL);
    assert_int_equal(channel_of(a, UNRELIABLE).sent, 2);
    send_note(a, UNRELIABLE, 6, 10, 0); /* a message without a receipt needs no room */
    round_of(a, b, 0);
    round_of(b, a, TICK);
    assert_int_equal(ask(a, UNRELIABLE, 5, 10, 0), CW_ERROR_RECEIPTS_FULL);
    struct cw_connection_event event;
    uint32_t reported = 0;
    assert_true(cw_connection_next(a, &event));
    reported |= 1u << event.receipt;
    assert_int_equal(ask(a, UNRELIABLE, 5, 10, TICK), CW_OK);
    assert_int_equal(ask(a, UNRELIABLE, 7, 10, TICK), CW_ERROR_RECEIPTS_FULL);
    while (cw_connection_next(a, &event)) {
        assert_int_equal(event.type, CW_CONNECTION_EVENT_ACKED);
        reported |= 1u << event.receipt;
    }
    assert_int_equal(reported, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4);
    round_of(a, b, 2 * TICK);
    round_of(b, a, 3 * TICK);
    expect_receipt(a, 5, true);
}

/* Packets leave the window before an answer or a timeout tells of them. */
TEST(test_a_packet_that_leaves_the_window_is_lost)
{
    struct cw_connection_config config = notes_config();
    config.endpoint.sent_window = 32;
    struct cw_connection *a = connection_with(&config);
    for (uint32_t number = 1; number <= 32; number++) {
        assert_int_equal(ask(a, UNRELIABLE, number, 10, 0), CW_OK);
        round_of(a, NULL, 0);
        expect_no_receipt(a);
    }
    for (uint32_t number = 1; number <= 32; number++) {
        round_of(a, NULL, 0);
        expect_receipt(a, number, false);
        expect_no_receipt(a);
    }
}

TEST(test_a_reset_forgets_what_is_still_to_come)
{
    struct cw_connection_config config = notes_config();
    config.max_receipts = 3;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (int lap = 0; lap < 2; lap++) {
        assert_int_equal(ask(a, UNRELIABLE, 1, 10, 0), CW_OK);
        assert_int_equal(ask(a, RELIABLE, 2, 10, 0), CW_OK);
        round_of(a, b, 0);
        round_of(b, a, TICK);                                  /* receipts of both messages wait */
        assert_int_equal(ask(a, UNRELIABLE, 3, 10, 0), CW_OK); /* this message waits to be sent */
        cw_connection_reset(a);
        cw_connection_reset(b);
        expect_no_receipt(a);
    }
}

/* A slow reader takes one message at a time, and yet hears of its own messages at once. */
TEST(test_receipts_come_before_messages)
{
    const struct cw_connection_config config = notes_config();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    struct cw_connection_event event;
    assert_int_equal(ask(a, UNRELIABLE, 7, 10, 0), CW_OK);
    assert_int_equal(ask(a, RELIABLE, 9, 10, 0), CW_OK);
    round_of(a, b, 0);
    send_note(b, UNRELIABLE, 1, 10, TICK);
    send_note(b, RELIABLE, 2, 10, TICK);
    round_of(b, a, TICK);
    expect_receipt(a, 7, true);
    expect_receipt(a, 9, true);
    for (uint32_t left = 2; left > 0; left--) {
        expect_no_receipt(a);
        assert_true(cw_connection_next(a, &event));
        assert_int_equal(event.type, CW_CONNECTION_EVENT_MESSAGE);
        assert_int_equal(number_of(event.message), event.channel == UNRELIABLE ? 1 : 2);
        assert_int_equal(event.receipt, 0);
        cw_message_release(event.message);
    }
    const struct cw_connection_event before = event;
    assert_false(cw_connection_next(a, &event));
    assert_memory_equal(&event, &before, sizeof event);
}

TEST(test_the_config_says_how_many)
{
    struct cw_connection_config config = notes_config();
    config.max_receipts = 0;
    struct cw_connection *a = connection_with(&config);
    assert_int_equal(ask(a, RELIABLE, 1, 10, 0), CW_ERROR_RECEIPTS_FULL);
    send_note(a, RELIABLE, 1, 10, 0);
    config.max_receipts = 32769;
    assert_error_names(cw_connection_config_check(&config), "max_receipts");
}

/* A message that the receiver had is acked, and one that it did not have is lost, except where only
   the ack did not come back in time. */
TEST(test_receipts_are_true_over_a_bad_path)
{
    enum { TICKS = 70000, LAST = 400 };
    const struct cw_connection_config config = notes_config();
    struct pair pair = pair_open(&config, 0.1, 0.2);
    static bool arrived[2][TICKS + 1], reported[2][TICKS + 1];
    uint32_t acked = 0, lost = 0, false_losses = 0;
    memset(arrived, 0, sizeof arrived);
    memset(reported, 0, sizeof reported);
    for (uint32_t tick = 1; tick <= TICKS + LAST; tick++) {
        struct cw_message *message;
        struct cw_connection_event event;
        uint32_t channel;
        if (tick <= TICKS) {
            const uint32_t reliable = tick % 4 == 0;
            assert_int_equal(
                ask(pair.sides[0], reliable ? RELIABLE : UNRELIABLE, tick, 10, pair.now), CW_OK);
        } else {
            pair_set_loss(&pair, 0, 0.1);
        }
        pair_tick(&pair);
        while ((message = next_message(pair.sides[1], &channel)) != NULL) {
            arrived[channel][number_of(message)] = true;
            cw_message_release(message);
        }
        while (cw_connection_next(pair.sides[0], &event)) {
            const bool was_acked = event.type == CW_CONNECTION_EVENT_ACKED;
            const uint32_t of = event.receipt % 4 == 0 ? RELIABLE : UNRELIABLE;
            assert_false(reported[of][event.receipt]);
            reported[of][event.receipt] = true;
            acked += was_acked;
            lost += !was_acked;
            if (!was_acked) {
                assert_int_equal(of, UNRELIABLE);
                false_losses += arrived[of][event.receipt];
            } else if (of == UNRELIABLE) {
                assert_true(arrived[of][event.receipt]);
            }
        }
    }
    assert_int_equal(acked + lost, TICKS);
    assert_in_range(lost, TICKS * 3 / 4 * 18 / 100, TICKS * 3 / 4 * 22 / 100);
    assert_in_range(false_losses, 0, lost / 100);
}
