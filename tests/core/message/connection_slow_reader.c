/* Tests of an application that reads slowly, or not at all: it goes on sending as if it read, it
   loses no reliable message, and of the unreliable ones it has the latest. */
#include "fixture.h"

#include "connection_pair.h"

enum { RELIABLE, UNRELIABLE };

#define EIGHT_SECONDS 480 /* ticks */

static struct pair open_pair(const struct cw_connection_config *config)
{
    struct pair pair = pair_open(config, 0.05, 0.02);
    return pair;
}

/* Reads all; reliable notes must go on from *next. Returns how many were unreliable. */
static uint32_t read_all(struct cw_connection *at, uint32_t *next)
{
    uint32_t channel, unreliable = 0;
    for (struct cw_message *message; (message = next_message(at, &channel)) != NULL;) {
        if (channel == RELIABLE) {
            assert_int_equal(number_of(message), *next);
            ++*next;
        } else {
            unreliable++;
        }
        cw_message_release(message);
    }
    return unreliable;
}

TEST(test_who_reads_nothing_for_8_seconds_sends_on)
{
    const struct cw_connection_config config = notes_config();
    struct pair pair = open_pair(&config);
    struct cw_connection *fast = pair.sides[0], *slow = pair.sides[1];
    uint32_t sent = 0, read = 0, answers = 0, answered = 0, unreliable = 0;
    for (int tick = 0; tick < EIGHT_SECONDS; tick++) {
        sent += try_note(fast, RELIABLE, sent, 20, pair.now);
        for (uint32_t i = 0; i < 2; i++)
            (void)try_note(fast, UNRELIABLE, 0, 20, pair.now);
        send_note(slow, RELIABLE, answers++, 20, pair.now);
        send_note(slow, UNRELIABLE, 0, 20, pair.now);
        pair_tick(&pair);
        unreliable += read_all(fast, &answered);
        assert_true(channel_of(slow, RELIABLE).in_flight < 30);
    }
    assert_true(answered > EIGHT_SECONDS - 30);
    assert_true(unreliable > EIGHT_SECONDS * 9 / 10);
    assert_true(stats_of(slow).packets_refused > 0);
    assert_true(stats_of(slow).messages_in_use <= 256 + 128 + 1);
    for (int tick = 0; tick < 300; tick++) {
        (void)read_all(slow, &read);
        pair_tick(&pair);
        (void)read_all(fast, &answered);
    }
    assert_int_equal(read, sent);
    assert_int_equal(answered, answers);
}

/* Neither budget takes anything from the other, whatever their shares. */
TEST(test_all_that_may_be_made_can_be_made_while_nothing_is_read)
{
    for (uint32_t most = 1; most <= 256; most *= 4) {
        for (uint32_t received = 0; received <= 256; received = received * 8 + 1) {
            struct cw_connection_config config = notes_config();
            config.channel_count = 1; /* another channel would reserve some */
            config.max_messages = most;
            config.max_received_messages = received > 0 ? received : CW_AUTO;
            struct pair pair = open_pair(&config);
            const uint32_t room = received > 0 ? received : (most + 1) / 2;
            struct cw_connection *a = pair.sides[0], *b = pair.sides[1];
            uint32_t sent = 0;
            for (int tick = 0; tick < 1200; tick++) {
                sent += try_note(a, RELIABLE, sent, 0, pair.now);
                pair_tick(&pair);
            }
            assert_int_equal(stats_of(b).messages_in_use, room < 256 ? room + 1 : room);
            struct cw_message *made[256];
            for (uint32_t i = 0; i < most; i++)
                made[i] = make_note(b, NOTE, i, 0);
            struct cw_message *more;
            assert_int_equal(cw_connection_create_message(b, NOTE, &more), CW_ERROR_POOL_EMPTY);
            for (uint32_t i = 0; i < most; i++)
                assert_int_equal(cw_connection_send(b, RELIABLE, made[i], pair.now), CW_OK);
            uint32_t read = 0;
            for (int tick = 0;
                 tick < 2000 && (read < sent || channel_of(a, RELIABLE).received < most); tick++) {
                pair_tick(&pair);
                (void)read_all(b, &read);
                uint32_t answered = (uint32_t)channel_of(a, RELIABLE).received;
                struct cw_message *message = next_message(a, NULL);
                assert_true(message || answered <= most);
                cw_message_release(message);
            }
            assert_int_equal(read, sent);
            assert_int_equal(channel_of(a, RELIABLE).received, most);
            drain(a);
        }
    }
}

TEST(test_of_unreliable_messages_the_latest_wait)
{
    struct cw_connection_config config = notes_config();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 1000; i++) {
        send_note(a, UNRELIABLE, i, 0, i * TICK);
        round_of(a, b, i * TICK);
        round_of(b, a, i * TICK);
    }
    /* This is the most that may arrive. */
    assert_int_equal(stats_of(b).messages_in_use, 128);
    assert_int_equal(channel_of(b, UNRELIABLE).received, 1000);
    assert_int_equal(channel_of(b, UNRELIABLE).dropped, 1000 - 128);
    assert_int_equal(stats_of(b).packets_refused, 0);
    for (uint32_t i = 1000 - 128; i < 1000; i++)
        expect_note(b, UNRELIABLE, i);
    assert_null(next_message(b, NULL));

    /* A message that the application keeps is not dropped for a newer one. */
    struct cw_message *kept[128];
    for (uint32_t i = 0; i < 128; i++) {
        send_note(a, UNRELIABLE, i, 0, 100);
        round_of(a, b, 100);
        assert_non_null(kept[i] = next_message(b, NULL));
    }
    send_note(a, UNRELIABLE, 200, 0, 100);
    round_of(a, b, 100);
    assert_null(next_message(b, NULL));
    assert_int_equal(channel_of(b, UNRELIABLE).dropped, 1000 - 128 + 1);
    for (uint32_t i = 0; i < 128; i++) {
        assert_int_equal(number_of(kept[i]), i);
        cw_message_release(kept[i]);
    }
}

TEST(test_unreliable_messages_make_room_for_reliable_ones)
{
    struct cw_connection_config config = notes_config();
    config.channel_count = 3;
    config.max_received_messages = 100;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 60; i++) {
        send_note(a, UNRELIABLE, i, 0, 0);
        round_of(a, b, 0);
    }
    for (uint32_t i = 0; i < 40; i++) {
        send_note(a, 2, i, 0, 0);
        round_of(a, b, 0);
    }
    for (uint32_t i = 0; i < 30; i++)
        send_note(a, RELIABLE, i, 0, 0);
    round_of(a, b, 0);
    /* The channel with the most messages drops first. */
    assert_int_equal(channel_of(b, RELIABLE).received, 30);
    assert_int_equal(channel_of(b, UNRELIABLE).dropped, 25);
    assert_int_equal(channel_of(b, 2).dropped, 5);
    assert_int_equal(stats_of(b).packets_refused, 0);
    assert_int_equal(stats_of(b).messages_in_use, 100);
    drain(b);
}

TEST(test_of_unreliable_blocks_the_latest_8_wait)
{
    struct cw_connection_config config = notes_config();
    config.channels[UNRELIABLE].blocks = true;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 50; i++) {
        send_note(a, UNRELIABLE, i, 0, 0);
        send_parcel(a, UNRELIABLE, 100 + i, 10 + i, 0);
        round_of(a, b, 0);
    }
    assert_int_equal(channel_of(b, UNRELIABLE).received, 100);
    assert_int_equal(channel_of(b, UNRELIABLE).dropped, 42);
    for (uint32_t i = 0; i < 50; i++) {
        expect_note(b, UNRELIABLE, i);
        if (i >= 42)
            expect_parcel(b, UNRELIABLE, 100 + i, 10 + i);
    }
    assert_null(next_message(b, NULL));
}

/* More arrives than the application reads, and yet reliable messages do not wait behind the rest.
 */
TEST(test_who_reads_a_message_a_tick_reads_of_each_channel_in_turn)
{
    const struct cw_connection_config config = notes_config();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    uint32_t next = 0, unreliable = 0, sent = 0;
    for (uint32_t tick = 0; tick < 600; tick++) {
        for (uint32_t i = 0; i < 3; i++)
            send_note(a, UNRELIABLE, i, 0, tick * TICK);
        if (tick % 4 == 0)
            send_note(a, RELIABLE, sent++, 0, tick * TICK);
        round_of(a, b, tick * TICK);
        round_of(b, a, tick * TICK);
        uint32_t channel = UNRELIABLE;
        struct cw_message *message = next_message(b, &channel);
        if (channel == RELIABLE)
            assert_int_equal(number_of(message), next++);
        else
            unreliable++;
        cw_message_release(message);
    }
    assert_true(next >= sent - 1 && next + unreliable == 600);
    drain(b);
}

TEST(test_a_message_that_arrived_can_be_sent_back)
{
    const struct cw_connection_config config = notes_config();
    struct pair pair = open_pair(&config);
    uint32_t sent = 0, back = 0;
    for (int tick = 0; tick < 400; tick++) {
        if (sent < 300)
            send_note(pair.sides[0], RELIABLE, sent++, 10, pair.now);
        pair_tick(&pair);
        for (struct cw_message *message; (message = next_message(pair.sides[1], NULL));)
            assert_int_equal(cw_connection_send(pair.sides[1], RELIABLE, message, pair.now), CW_OK);
        (void)read_all(pair.sides[0], &back);
    }
    assert_int_equal(back, 300);
    assert_int_equal(stats_of(pair.sides[1]).messages_in_use, 0);
}
