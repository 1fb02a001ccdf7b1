/* Tests of who owns a message: one that is not the caller's any more is refused, in every build,
   and nothing happens to it. */
#include "fixture.h"

#include "connections.h"

#define TICKS 60

struct ends {
    struct cw_connection *a, *b;
    double now;
};

static struct ends ends_with(const struct cw_connection_config *config)
{
    return (struct ends){.a = connection_with(config), .b = connection_with(config)};
}

static struct ends open_ends(void)
{
    struct cw_connection_config config = notes_config();
    config.channels[0].blocks = true;
    return ends_with(&config);
}

static void run(struct ends *ends)
{
    for (int i = 0; i < TICKS; i++, ends->now += TICK) {
        round_of(ends->a, ends->b, ends->now);
        round_of(ends->b, ends->a, ends->now);
    }
}

static void expect_not_owned(struct ends *ends, struct cw_message *message)
{
    uint8_t byte = 0;
    for (uint32_t channel = 0; channel < 2; channel++)
        assert_int_equal(cw_connection_send(ends->a, channel, message, ends->now),
                         CW_ERROR_MESSAGE_NOT_OWNED);
    assert_int_equal(cw_message_release(message), CW_ERROR_MESSAGE_NOT_OWNED);
    assert_int_equal(cw_message_acquire(message), CW_ERROR_MESSAGE_NOT_OWNED);
    assert_int_equal(cw_message_attach(message, &byte, 1, release_parcel, NULL),
                     CW_ERROR_MESSAGE_NOT_OWNED);
}

TEST(test_a_message_that_was_sent_is_not_the_senders)
{
    for (uint32_t channel = 0; channel < 2; channel++) {
        struct ends ends = open_ends();
        struct cw_message *message = make_note(ends.a, NOTE, 7, 100);
        assert_int_equal(cw_connection_send(ends.a, channel, message, ends.now), CW_OK);
        expect_not_owned(&ends, message);
        run(&ends);
        expect_not_owned(&ends, message); /* it was acked, or written, and is nobody's */
        expect_note(ends.b, channel, 7);
        assert_int_equal(drain(ends.b), 0);
        assert_int_equal(stats_of(ends.a).messages_in_use, 0);
    }
}

TEST(test_a_block_stays_with_the_message_that_was_sent)
{
    struct ends ends = open_ends();
    struct cw_message *parcel = make_parcel(ends.a, 3, 5000);
    assert_int_equal(cw_connection_send(ends.a, 0, parcel, ends.now), CW_OK);
    expect_not_owned(&ends, parcel);
    run(&ends);
    expect_parcel(ends.b, 0, 3, 5000);
    assert_int_equal(parcels_released, 1);
}

TEST(test_a_message_is_released_once)
{
    struct ends ends = open_ends();
    struct cw_message *message = make_note(ends.a, NOTE, 7, 0);
    struct cw_message *other = make_note(ends.a, NOTE, 8, 0);
    assert_int_equal(cw_message_release(message), CW_OK);
    expect_not_owned(&ends, message);
    assert_int_equal(stats_of(ends.a).messages_in_use, 1);
    assert_int_equal(cw_message_release(other), CW_OK);
    assert_int_equal(cw_message_release(NULL), CW_OK);
    assert_int_equal(stats_of(ends.a).messages_in_use, 0);
}

/* An application that acquires a message before it sends it may release it once after that, at any
   time. */
TEST(test_a_message_that_was_acquired_is_kept)
{
    for (int late = 0; late < 2; late++) {
        struct ends ends = open_ends();
        struct cw_message *message = make_note(ends.a, NOTE, 7, 0);
        assert_int_equal(cw_message_acquire(message), CW_OK);
        assert_int_equal(cw_connection_send(ends.a, 0, message, ends.now), CW_OK);
        assert_int_equal(cw_connection_send(ends.a, 0, message, ends.now),
                         CW_ERROR_MESSAGE_NOT_OWNED); /* the channel has it */
        if (late)
            run(&ends);
        assert_int_equal(number_of(message), 7);
        assert_int_equal(cw_message_release(message), CW_OK);
        expect_not_owned(&ends, message);
        if (!late)
            run(&ends);
        expect_note(ends.b, 0, 7);
        assert_int_equal(stats_of(ends.a).messages_in_use, 0);
    }
}

TEST(test_a_message_that_was_taken_is_the_takers)
{
    struct ends ends = open_ends();
    send_note(ends.b, 0, 7, 0, ends.now);
    run(&ends);
    struct cw_message *message = next_message(ends.a, NULL);
    assert_non_null(message);
    assert_int_equal(cw_connection_send(ends.a, 1, message, ends.now), CW_OK);
    expect_not_owned(&ends, message);
    run(&ends);
    expect_note(ends.b, 1, 7);

    /* A message that has arrived and was not taken belongs to the connection. */
    for (uint32_t channel = 0; channel < 2; channel++) {
        send_note(ends.b, channel, 8, 0, ends.now);
        run(&ends);
        message = next_message(ends.a, NULL);
        assert_int_equal(cw_message_release(message), CW_OK);
        send_note(ends.b, channel, 9, 0, ends.now);
        run(&ends);
        expect_not_owned(&ends, message);
        expect_note(ends.a, channel, 9);
    }
}

/* A message stays the caller's when sending fails for another reason. */
TEST(test_a_message_that_is_refused_stays_the_callers)
{
    struct ends ends = open_ends();
    struct cw_message *message = make_note(ends.a, NOTE, 7, MAX_NOTE_PADDING);
    assert_int_equal(cw_connection_send(ends.a, 0, message, ends.now), CW_ERROR_MESSAGE_TOO_LARGE);
    assert_int_equal(cw_connection_send(ends.a, 9, message, ends.now), CW_ERROR_CHANNEL);
    assert_int_equal(cw_message_release(message), CW_OK);
    assert_int_equal(stats_of(ends.a).messages_in_use, 0);
}

/* A server passes a message of one player on to another as a copy, because each connection sends
   only its own messages. */
TEST(test_a_message_is_passed_on_as_a_copy)
{
    const struct cw_connection_config config = notes_config(); /* copies need one schema */
    struct ends ends = ends_with(&config), others = ends_with(&config);
    send_note(ends.b, 0, 7, 20, ends.now);
    run(&ends);
    struct cw_message *message = next_message(ends.a, NULL), *copy;
    assert_non_null(message);
    assert_int_equal(cw_connection_send(others.a, 0, message, others.now),
                     CW_ERROR_OTHER_CONNECTION);
    assert_int_equal(cw_connection_send_value(others.a, 0, message->type, message->data, 0), CW_OK);
    assert_int_equal(cw_connection_create_message(others.a, message->type, &copy), CW_OK);
    assert_int_equal(cw_message_copy(message, copy), CW_OK);
    assert_int_equal(cw_connection_send(others.a, 0, copy, 0), CW_OK);
    assert_int_equal(cw_message_release(message), CW_OK);
    run(&others);
    expect_note(others.b, 0, 7);
    expect_note(others.b, 0, 7);
}
