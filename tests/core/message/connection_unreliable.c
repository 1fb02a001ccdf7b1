/* Tests of the unreliable channel: a message goes once, if there is room, or not at all. */
#include "fixture.h"

#include "connection_pair.h"

static struct cw_connection_config config_of_notes(void)
{
    struct cw_connection_config config = notes_config();
    config.channel_count = 1;
    config.channels[0].kind = CW_CHANNEL_UNRELIABLE;
    return config;
}

TEST(test_what_finds_no_room_in_a_round_is_dropped_and_counted)
{
    struct cw_connection_config config = config_of_notes();
    config.max_packets_per_update = 2;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 5; i++)
        send_note(a, 0, i, 900, 0);
    send_note(a, 0, 5, 50, 0); /* this one fits beside a large one */
    assert_int_equal(channel_of(a, 0).queued, 6);
    assert_int_equal(round_of(a, b, 0), 2);
    assert_int_equal(channel_of(a, 0).queued, 0);
    assert_int_equal(channel_of(a, 0).dropped, 3);
    assert_int_equal(channel_of(a, 0).sent, 6);
    assert_int_equal(stats_of(a).messages_in_use, 0);
    expect_note(b, 0, 0);
    expect_note(b, 0, 5);
    expect_note(b, 0, 1);
    assert_null(next_message(b, NULL));
    /* Dropped messages are not sent later. */
    round_of(a, b, 1);
    assert_null(next_message(b, NULL));
    assert_int_equal(channel_of(b, 0).received, 3);
}

/* An application that transmits one packet per update never ends a round, so that messages without
   room wait. */
TEST(test_only_messages_that_wait_take_room_in_the_queue)
{
    struct cw_connection_config config = config_of_notes();
    config.max_packets_per_update = 4;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    uint32_t sent = 0, received = 0;
    for (uint32_t i = 0; i < 200; i++) {
        uint8_t datagram[2048];
        const double now = i * TICK;
        for (uint32_t j = 0; j < 6; j++)
            send_note(a, 0, sent++, 200, now);
        cw_connection_update(a, now);
        const size_t size = transmit(a, datagram, now);
        assert_int_equal(receive_exact(b, datagram, size, now), CW_OK);
        for (uint32_t j = 0; j < 5; j++)
            expect_note(b, 0, received++);
        assert_null(next_message(b, NULL));
        assert_int_equal(channel_of(a, 0).queued, i + 1);
        round_of(b, a, now);
    }
    round_of(a, b, 200 * TICK);
    assert_int_equal(channel_of(a, 0).queued, 0);
    assert_int_equal(channel_of(a, 0).dropped, 180);
}

TEST(test_a_packet_holds_no_more_messages_than_agreed)
{
    struct cw_connection_config config = config_of_notes();
    config.channels[0].max_messages_per_packet = 4;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 10; i++)
        send_note(a, 0, i, 0, 0);
    assert_int_equal(round_of(a, b, 0), 3);
    for (uint32_t i = 0; i < 10; i++)
        expect_note(b, 0, i);
}

TEST(test_a_lost_message_stays_lost)
{
    const struct cw_connection_config config = config_of_notes();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    send_note(a, 0, 0, 50, 0);
    round_of(a, NULL, 0);
    for (uint32_t i = 1; i < 300; i++) {
        round_of(a, b, i * TICK);
        round_of(b, a, i * TICK);
    }
    assert_null(next_message(b, NULL));
    assert_int_equal(channel_of(a, 0).resent, 0);
    assert_int_equal(stats_of(a).messages_in_use, 0);
}

TEST(test_nothing_arrives_twice_or_changed_over_a_bad_path)
{
    const struct cw_connection_config config = config_of_notes();
    struct pair pair = pair_open(&config, 0.1, 0.2);
    struct cw_simulator_path path = path_of(0.1, 0.2);
    path.jitter_seconds = 0.1;
    path.duplicate = 0.5;
    path.reorder = 0.2;
    path.reorder_delay_seconds = 0.3;
    assert_int_equal(cw_simulator_change(pair.paths[0], &path), CW_OK);
    static bool seen[5000];
    memset(seen, 0, sizeof seen);
    uint32_t received = 0;
    for (uint32_t i = 0; i < 5100; i++) {
        if (i < 5000)
            send_note(pair.sides[0], 0, i, i % 300, pair.now);
        pair_tick(&pair);
        for (struct cw_message *message; (message = next_message(pair.sides[1], NULL)) != NULL;
             received++) {
            const struct note *note = message->data;
            assert_int_equal(note->padding, note->number % 300);
            assert_true(note->number <= i && note->number < 5000);
            assert_false(seen[note->number]);
            seen[note->number] = true;
            cw_message_release(message);
        }
    }
    assert_in_range(received, 3800, 4200);
    assert_int_equal(channel_of(pair.sides[1], 0).received, received);
}

TEST(test_a_reader_who_does_not_read_loses_the_oldest_and_no_more)
{
    struct cw_connection_config config = config_of_notes();
    config.channels[0].receive_queue_size = 16;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 1000; i++) {
        send_note(a, 0, i, 0, i * TICK);
        round_of(a, b, i * TICK);
        round_of(b, a, i * TICK);
    }
    assert_int_equal(stats_of(b).messages_in_use, 16);
    assert_int_equal(stats_of(b).packets_refused, 0);
    assert_int_equal(channel_of(b, 0).received, 1000);
    assert_int_equal(channel_of(b, 0).dropped, 984);
    for (uint32_t i = 984; i < 1000; i++)
        expect_note(b, 0, i);
    assert_null(next_message(b, NULL));
    send_note(a, 0, 1000, 0, 100);
    round_of(a, b, 100);
    expect_note(b, 0, 1000);
}

TEST(test_unreliable_messages_do_not_take_the_last_of_the_pool)
{
    struct cw_connection_config config = config_of_notes();
    config.channel_count = 2;
    config.channels[1] = cw_channel_config_default(CW_CHANNEL_RELIABLE_ORDERED);
    struct cw_connection *a = connection_with(&config);
    config.max_received_messages = 5; /* 1 more is for the next in order */
    struct cw_connection *b = connection_with(&config);
    uint32_t next = 0;
    for (uint32_t i = 0; i < 200; i++) {
        for (uint32_t j = 0; j < 8; j++)
            send_note(a, 0, 1000, 0, i * TICK);
        if (i < 10)
            send_note(a, 1, i, 0, i * TICK);
        round_of(a, b, i * TICK);
        uint32_t channel;
        for (struct cw_message *message; (message = next_message(b, &channel)) != NULL;) {
            if (channel == 1)
                assert_int_equal(number_of(message), next++);
            cw_message_release(message);
        }
        round_of(b, a, i * TICK);
    }
    assert_int_equal(next, 10);
}

/* When any part of a packet is wrong, its other messages must not be taken either, nor the pool
   lose one. */
TEST(test_a_packet_that_is_refused_gives_all_back)
{
    struct cw_connection_config config = config_of_notes();
    config.channels[0].blocks = true;
    struct cw_connection *b = connection_with(&config), *a = connection_with(&config);
    struct cw_endpoint *peer = peer_of(&config);
    send_note(a, 0, 1, 3, 0);
    send_parcel(a, 0, 2, 100, 0);
    send_note(a, 0, 3, 3, 0);
    uint8_t datagram[2048];
    cw_connection_update(a, 0);
    const size_t size = transmit(a, datagram, 0), header = 8;
    for (size_t length = 0; length < size - header; length++) {
        if (peer_send(peer, b, datagram + header, length, 0) != CW_ERROR_MALFORMED)
            fail_msg("%zu bytes of %zu were taken", length, size - header);
        assert_int_equal(stats_of(b).messages_in_use, 0);
    }
    assert_int_equal(peer_send(peer, b, datagram + header, size - header, 0), CW_OK);
    assert_int_equal(drain(b), 3);
}
