/* Tests of rounds of packets, how channels share them, fingerprints and reset. */
#include "fixture.h"

#include "connection_pair.h"

TEST(test_a_round_is_one_packet_and_more_while_messages_are_due)
{
    struct cw_connection_config config = notes_config();
    config.max_packets_per_update = 4;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    uint8_t datagram[2048];
    assert_int_equal(transmit(a, datagram, 0), 0); /* no update has come before */
    assert_int_equal(round_of(a, b, 0), 1);
    assert_int_equal(transmit(a, datagram, 0), 0);
    send_note(a, 0, 0, 0, 0);
    assert_int_equal(round_of(a, b, 0), 1);
    for (uint32_t i = 1; i < 4; i++)
        send_note(a, 0, i, 700, 0);
    assert_int_equal(round_of(a, b, 0), 3);
    for (uint32_t i = 4; i < 20; i++)
        send_note(a, 0, i, 700, 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(round_of(a, b, 0), 4);
    assert_int_equal(round_of(a, b, 0), 1);
    for (uint32_t i = 0; i < 20; i++)
        expect_note(b, 0, i);
}

static void peer_loses(struct cw_endpoint *peer, uint32_t count)
{
    uint8_t datagram[2048];
    for (uint32_t i = 0; i < count; i++) {
        size_t size;
        assert_int_equal(copy_packet(peer, "", 1, datagram, 0, &size), CW_OK);
        assert_true(size > 0);
    }
}

/* Lets packets of a peer arrive, some lost before them and between any two. Returns how many
   packets the next round of the connection has, and stores how many of the peer's they ack. */
static uint32_t acks_for(uint32_t arrive, uint32_t lost_between, uint32_t *acked)
{
    struct cw_connection_config config = notes_config();
    config.max_packets_per_update = 1;
    struct cw_connection *connection = connection_with(&config);
    struct cw_endpoint *peer = peer_of(&config);
    peer_loses(peer, 40);
    for (uint32_t i = 0; i < arrive; i++) {
        peer_loses(peer, i > 0 ? lost_between : 0);
        assert_int_equal(peer_send(peer, connection, (const uint8_t *)"", 1, 0), CW_OK);
    }
    uint8_t datagram[2048];
    uint32_t packets = 0;
    cw_connection_update(connection, 0);
    for (size_t size; (size = transmit(connection, datagram, 0)) > 0; packets++) {
        struct cw_endpoint_event event;
        assert_int_equal(cw_endpoint_receive(peer, datagram, size, 0), CW_OK);
        while (cw_endpoint_next(peer, &event))
            cw_endpoint_accept(peer, event.sequence);
    }
    struct cw_endpoint_stats stats;
    cw_endpoint_get_stats(peer, &stats);
    *acked = (uint32_t)stats.packets_acked;
    return packets;
}

/* A header acks 32 numbers. Arrived packets beyond them cost a packet more, even above
   max_packets_per_update; those that did not arrive cost none. */
TEST(test_a_round_acks_all_that_arrived)
{
    static const struct {
        uint32_t arrive, lost_between, packets;
    } cases[] = {{1, 0, 1},  {32, 0, 1},  {33, 0, 2}, {64, 0, 2}, {65, 0, 3},
                 {97, 0, 4}, {200, 0, 7}, {16, 1, 1}, {17, 1, 2}, {80, 1, 5},
                 {6, 31, 6}, {4, 50, 4},  {11, 2, 1}, {22, 2, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t acked;
        assert_int_equal(acks_for(cases[i].arrive, cases[i].lost_between, &acked),
                         cases[i].packets);
        assert_int_equal(acked, cases[i].arrive);
    }
}

/* Lets `arrive` packets of the peer arrive and returns with how many the next round answers. */
static uint32_t answers(struct cw_connection *connection, struct cw_endpoint *peer, uint32_t arrive,
                        double now)
{
    uint8_t datagram[2048];
    uint32_t packets = 0;
    for (uint32_t i = 0; i < arrive; i++)
        assert_int_equal(peer_send(peer, connection, (const uint8_t *)"", 1, now), CW_OK);
    cw_connection_update(connection, now);
    while (transmit(connection, datagram, now) > 0)
        packets++;
    return packets;
}

TEST(test_many_packets_are_acked_twice_where_some_are_lost)
{
    struct cw_connection_config config = notes_config();
    config.idle_interval_seconds = 0; /* packets without messages get an answer too */
    struct cw_connection *connection = connection_with(&config);
    struct cw_endpoint *peer = peer_of(&config);
    int round = 0;
    for (; round < 20; round++)
        assert_int_equal(answers(connection, peer, 13, round * TICK), 1);
    round += 120; /* our packets count as lost by now, as none was acked */
    answers(connection, peer, 1, round++ * TICK);
    assert_int_equal(answers(connection, peer, 13, round++ * TICK), 2);
    assert_int_equal(answers(connection, peer, 12, round++ * TICK), 1);
    assert_int_equal(answers(connection, peer, 1, round++ * TICK), 1);
}

TEST(test_who_cuts_rounds_short_acks_the_newest)
{
    const struct cw_connection_config config = notes_config();
    struct cw_connection *connection = connection_with(&config);
    struct cw_endpoint *peer = peer_of(&config);
    for (int round = 0; round < 20; round++) {
        uint8_t datagram[2048];
        for (int i = 0; i < 64; i++)
            peer_send(peer, connection, (const uint8_t *)"", 1, round * TICK);
        cw_connection_update(connection, round * TICK);
        const size_t size = transmit(connection, datagram, round * TICK);
        assert_int_equal(cw_endpoint_receive(peer, datagram, size, round * TICK), CW_OK);
        bool newest = false;
        for (struct cw_endpoint_event event; cw_endpoint_next(peer, &event);) {
            newest |= event.type == CW_ENDPOINT_EVENT_ACKED &&
                      event.sequence == (uint16_t)(cw_endpoint_next_sequence(peer) - 1);
            cw_endpoint_accept(peer, event.sequence);
        }
        assert_true(newest || round == 0);
    }
}

TEST(test_a_datagram_with_encryption_is_never_longer_than_1100_bytes)
{
    struct cw_connection_config config = notes_config();
    config.channels[0].blocks = config.channels[1].blocks = true;
    /* Packets in fragments are received, but not sent. */
    for (uint32_t max_packet_size = 1064; max_packet_size <= 4256; max_packet_size += 3192) {
        config.endpoint.max_packet_size = max_packet_size;
        struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
        size_t longest = 0;
        send_parcel(a, 0, 1, 100000, 0);
        for (uint32_t i = 0; i < 200; i++) {
            const double now = i * TICK;
            uint8_t datagram[2048];
            send_note(a, 1, i, 300 + i, now);
            send_note(a, 1, i, i, now);
            send_parcel(a, 1, i, 900, now);
            cw_connection_update(a, now);
            for (size_t size; (size = transmit(a, datagram, now)) > 0;) {
                assert_int_equal(datagram[0] & 1, 0); /* the packet is no fragment */
                longest = size > longest ? size : longest;
                receive_exact(b, datagram, size, now);
            }
            drain(b);
            round_of(b, a, now);
        }
        assert_true(longest > 1040 && longest + 25 <= 1100);
        assert_int_equal(stats_of(a).endpoint.fragments_sent, 0);
        assert_int_equal(channel_of(a, 0).delivered, 1);
    }
}

/* Sends one message a round on channel 0 and keeps other channels full; counts what one packet a
   round brings of each. */
static void share(const uint32_t *weights, uint32_t sizes[2], uint32_t received[2])
{
    struct cw_connection_config config = notes_config();
    config.max_packets_per_update = 1;
    config.channels[1] = config.channels[0];
    config.max_messages = 1024;
    for (uint32_t i = 0; i < 2; i++)
        config.channels[i].weight = weights[i];
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    uint32_t number = 0;
    for (int i = 0; i < 200; i++) {
        for (uint32_t channel = 0; channel < 2; channel++) {
            while (channel_of(a, channel).queued < 100)
                send_note(a, channel, number++, sizes[channel], i * TICK);
        }
        round_of(a, b, i * TICK);
        drain(b);
        round_of(b, a, i * TICK);
    }
    for (uint32_t channel = 0; channel < 2; channel++)
        received[channel] = (uint32_t)channel_of(b, channel).received * (sizes[channel] + 6);
}

TEST(test_channels_share_by_weight_what_cannot_hold_all)
{
    static const uint32_t weights[][2] = {{1, 1}, {3, 1}, {1, 10}, {1000, 250}};
    static const uint32_t sizes[][2] = {{60, 60}, {20, 200}, {300, 10}};
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 3; j++) {
            uint32_t both[2] = {sizes[j][0], sizes[j][1]}, received[2];
            share(weights[i], both, received);
            const double wanted = (double)weights[i][0] / weights[i][1];
            const double ratio = (double)received[0] / received[1];
            if (ratio < wanted * 0.85 || ratio > wanted / 0.85)
                fail_msg("weights %u:%u, sizes %u, %u: %u and %u bytes", weights[i][0],
                         weights[i][1], both[0], both[1], received[0], received[1]);
        }
    }
}

TEST(test_an_idle_channel_saves_nothing_up)
{
    struct cw_connection_config config = notes_config();
    config.max_packets_per_update = 1;
    config.channels[1] = config.channels[0];
    config.max_messages = 1024;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 120; i++) {
        for (uint32_t channel = 0; channel < (i < 100 ? 1 : 2); channel++) {
            while (channel_of(a, channel).queued < 100)
                send_note(a, channel, i, 60, i * TICK);
        }
        round_of(a, b, i * TICK);
        drain(b);
        round_of(b, a, i * TICK);
    }
    assert_in_range(channel_of(b, 1).received, 20 * 7, 20 * 9);
}

TEST(test_whatever_the_mix_a_packet_holds_what_was_picked)
{
    struct cw_connection_config config = notes_config();
    config.channel_count = 4;
    config.channels[2] = config.channels[0];
    for (int i = 0; i < 4; i++)
        config.channels[i].blocks = i < 2;
    uint32_t random = 99, sent = 0, received = 0;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 5000; i++) {
        for (int j = 0; j < 4; j++) {
            random = random * 1664525u + 1013904223u;
            const uint32_t channel = random >> 30, size = (random >> 8) % (1 + (random >> 4) % 700);
            struct cw_message *message = channel < 2 && random >> 28 & 1
                                             ? make_parcel(a, i, 1 + size)
                                             : make_note(a, NOTE, i, size);
            if (message->block)
                ((struct note *)message->data)->padding = (random >> 12) % 250;
            if (cw_connection_send(a, channel, message, i * TICK) == CW_OK)
                sent++;
            else
                cw_message_release(message);
        }
        round_of(a, b, i * TICK);
        received += drain(b);
        round_of(b, a, i * TICK);
    }
    for (uint32_t i = 5000; i < 6000; i++) {
        round_of(a, b, i * TICK);
        received += drain(b);
        round_of(b, a, i * TICK);
    }
    const uint32_t dropped = (uint32_t)(channel_of(a, 1).dropped + channel_of(a, 3).dropped);
    assert_int_equal(received + dropped, sent);
    assert_true(dropped < sent / 10);
    assert_int_equal(stats_of(b).packets_invalid, 0);
}

TEST(test_messages_as_large_as_a_packet_get_their_share)
{
    struct cw_connection_config config = notes_config();
    config.max_packets_per_update = 1;
    config.channel_count = 4;
    config.max_messages = 2048;
    for (int i = 1; i < 4; i++)
        config.channels[i] = config.channels[0];
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 1000; i++) {
        const double now = i * TICK;
        for (uint32_t channel = 0; channel < 3; channel++) {
            while (channel_of(a, channel).queued < 100)
                send_note(a, channel, i, 60, now);
        }
        if (channel_of(a, 3).queued == 0)
            send_note(a, 3, i, 1030, now);
        round_of(a, b, now);
        drain(b);
        round_of(b, a, now);
    }
    assert_in_range(channel_of(b, 3).received, 200, 300);
}

TEST(test_a_channel_keeps_to_its_packet_budget)
{
    struct cw_connection_config config = notes_config();
    config.max_packets_per_update = 1;
    config.channels[0].packet_budget = 200;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 100; i++)
        send_note(a, 0, i, 20, 0);
    uint8_t datagram[2048];
    cw_connection_update(a, 0);
    size_t size = transmit(a, datagram, 0);
    assert_true(size > 170 && size <= 209); /* the budget, and the packet's header */
    receive_exact(b, datagram, size, 0);
    /* The room that one channel may not use is there for the other. */
    for (uint32_t i = 0; i < 20; i++)
        send_note(a, 1, i, 20, 0);
    cw_connection_update(a, 0);
    size = transmit(a, datagram, 0);
    receive_exact(b, datagram, size, 0);
    assert_int_equal(channel_of(b, 1).received, 20);
    assert_int_equal(channel_of(b, 0).received, 14);
}

TEST(test_next_gives_the_messages_of_all_channels)
{
    struct cw_connection_config config = notes_config();
    config.channel_count = CW_MAX_CHANNELS;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 2 * CW_MAX_CHANNELS; i++)
        send_note(a, i % CW_MAX_CHANNELS, i, 0, 0);
    round_of(a, b, 0);
    bool seen[2 * CW_MAX_CHANNELS] = {false};
    uint32_t channel, count = 0;
    for (struct cw_message *message; (message = next_message(b, &channel)) != NULL; count++) {
        const uint32_t number = number_of(message);
        assert_int_equal(channel, number % CW_MAX_CHANNELS);
        assert_true(number < CW_MAX_CHANNELS || seen[number - CW_MAX_CHANNELS]);
        seen[number] = true;
        cw_message_release(message);
    }
    assert_int_equal(count, 2 * CW_MAX_CHANNELS);
    struct cw_channel_stats stats;
    assert_int_equal(cw_connection_get_channel_stats(b, CW_MAX_CHANNELS, &stats), CW_ERROR_CHANNEL);
}

TEST(test_the_fingerprint_is_of_what_both_ends_must_agree_on)
{
    const struct cw_connection_config good = notes_config();
    const uint64_t fingerprint = cw_connection_fingerprint(&good);
    struct cw_connection_config config;
#define AFTER(change)    (config = good, (void)(change), cw_connection_fingerprint(&config))
#define CHANGES(change)  assert_true(AFTER(change) != fingerprint)
#define DOES_NOT(change) assert_true(AFTER(change) == fingerprint)
    DOES_NOT(0);
    CHANGES(config.channel_count = 1);
    CHANGES(config.channels[0].kind = CW_CHANNEL_UNRELIABLE);
    CHANGES(config.channels[1].kind = CW_CHANNEL_RELIABLE_ORDERED);
    CHANGES(config.channels[1].max_messages_per_packet = 64);
    CHANGES(config.channels[0].receive_queue_size = 512);
    CHANGES(config.channels[0].blocks = true);
    CHANGES(config.channels[0].recovery = CW_RECOVERY_CODED);
    CHANGES(config.endpoint.max_packet_size = 4096);
    CHANGES(config.endpoint.fragment_size = 1000);
    DOES_NOT(config.channels[0].max_block_size = 1); /* counts only with blocks */
    DOES_NOT(config.channels[0].block_fragment_size = 1);
    DOES_NOT(config.channels[2].receive_queue_size = 512); /* the channel is not used */
    DOES_NOT(config.channels[0].send_queue_size = 512);
    DOES_NOT(config.channels[0].packet_budget = 100);
    DOES_NOT(config.channels[0].weight = 2);
    DOES_NOT(config.channels[0].recovery = CW_RECOVERY_COPIES);
    DOES_NOT(config.channels[0].extra_bytes = 1);
    DOES_NOT(config.max_messages = 1);
    DOES_NOT(config.max_received_messages = 1);
    DOES_NOT(config.max_packets_per_update = 1);
    DOES_NOT(config.endpoint.max_send_size = 1000);
    DOES_NOT(config.endpoint.fragment_above = 1000);
    DOES_NOT(config.endpoint.max_reassemblies = 8);
    DOES_NOT(config.endpoint.sent_window = 512);
    DOES_NOT(config.endpoint.rtt_smoothing = 0.5);
    struct cw_connection_config blocks = good;
    blocks.channels[0].blocks = true;
    const uint64_t with_blocks = cw_connection_fingerprint(&blocks);
    blocks.channels[0].max_block_size--;
    assert_true(cw_connection_fingerprint(&blocks) != with_blocks);
    blocks.channels[0].max_block_size++;
    blocks.channels[0].block_fragment_size--;
    assert_true(cw_connection_fingerprint(&blocks) != with_blocks);

    const struct cw_field fields[] = {{.name = "x", .kind = CW_KIND_UINT, .max = 7}};
    const struct cw_message_type type = {.name = "move", .fields = fields, .field_count = 1};
    const struct cw_schema_config schema_config = {.types = &type, .count = 1};
    CHANGES(config.schema = schema_with(&schema_config));
}

/* A reset leaves nothing of the old life, unlike in other libraries, where statistics survived it.
 */
TEST(test_reset_leaves_nothing)
{
    struct cw_connection_config config = notes_config();
    config.channel_count = 3;
    config.channels[2] = config.channels[0];
    config.channels[0].blocks = config.channels[2].blocks = true;
    config.channels[0].packet_budget = 500;
    config.max_packets_per_update = 2;
    struct cw_connection *fresh[2], *used[2];
    for (int i = 0; i < 2; i++) {
        fresh[i] = connection_with(&config);
        used[i] = connection_with(&config);
    }
    for (uint32_t i = 0; i < 100; i++) {
        send_note(used[0], 0, i, i % 50, i * TICK);
        send_note(used[1], 1, i, 1000, i * TICK);
        if (i % 10 == 0)
            send_parcel(used[0], 2, i, 30000, i * TICK);
        round_of(used[0], i % 3 ? used[1] : NULL, i * TICK);
        round_of(used[1], i % 4 ? used[0] : NULL, i * TICK);
        receive_exact(used[0], (const uint8_t *)"\x3e\x00", 2, i * TICK);
        if (i % 20 == 0)
            drain(used[1]);
    }
    drain(used[0]); /* now it has taken from channel 1 last */
    for (int i = 0; i < 2; i++) {
        uint8_t datagram[2048];
        cw_connection_update(used[i], 100 * TICK);
        cw_connection_reset(used[i]);
        assert_int_equal(transmit(used[i], datagram, 100 * TICK), 0);
        const struct cw_connection_stats stats = stats_of(used[i]), none = stats_of(fresh[i]);
        assert_memory_equal(&stats, &none, sizeof stats);
        assert_int_equal(stats.messages_in_use, 0);
        for (uint32_t channel = 0; channel < 3; channel++) {
            const struct cw_channel_stats after = channel_of(used[i], channel);
            const struct cw_channel_stats before = channel_of(fresh[i], channel);
            assert_memory_equal(&after, &before, sizeof before);
        }
        assert_null(next_message(used[i], NULL));
    }
    assert_int_equal(parcels_released, 10);
    /* From here on a used connection does what a fresh one does, byte by byte. */
    for (uint32_t i = 0; i < 200; i++) {
        const double now = 1000 + i * TICK;
        uint8_t datagrams[2][2048];
        for (int side = 0; side < 2; side++) {
            for (uint32_t channel = 0; channel < 3; channel++) {
                send_note(fresh[side], channel, i, 300, now);
                send_note(used[side], channel, i, 300, now);
            }
            if (i % 10 == 0) {
                send_parcel(fresh[side], 2, i, 3000, now);
                send_parcel(used[side], 2, i, 3000, now);
            }
            cw_connection_update(fresh[side], now);
            cw_connection_update(used[side], now);
            size_t size;
            do {
                size = transmit(fresh[side], datagrams[0], now);
                assert_int_equal(transmit(used[side], datagrams[1], now), size);
                assert_memory_equal(datagrams[0], datagrams[1], size);
                if (size > 0 && i % 5 < 4) {
                    receive_exact(fresh[!side], datagrams[0], size, now);
                    receive_exact(used[!side], datagrams[0], size, now);
                }
            } while (size > 0);
            uint32_t at[2];
            struct cw_message *message;
            while ((message = next_message(fresh[side], &at[0])) != NULL) {
                cw_message_release(message);
                message = next_message(used[side], &at[1]);
                assert_non_null(message);
                cw_message_release(message);
                assert_int_equal(at[0], at[1]);
            }
            assert_null(next_message(used[side], NULL));
        }
    }
    for (int i = 0; i < 2; i++) {
        const struct cw_connection_stats a = stats_of(used[i]), b = stats_of(fresh[i]);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

/* Returns a hash over what two ends send, and may send, over a path that loses every fifth packet.
 */
static uint64_t course_from(double start)
{
    struct cw_connection_config config = notes_config();
    struct cw_connection *sides[2] = {connection_with(&config), connection_with(&config)};
    uint64_t hash = 0;
    for (uint32_t i = 0; i < 600; i++) {
        const double now = start + i / 64.0; /* is exact at every start */
        for (int side = 0; side < 2; side++) {
            uint8_t datagram[2048];
            if (i % 3 == 0)
                send_note(sides[side], 0, i, i % 90, now);
            cw_connection_update(sides[side], now);
            hash = hash * 31 + (uint64_t)stats_of(sides[side]).congestion_window_bytes;
            for (size_t size; (size = transmit(sides[side], datagram, now)) > 0;) {
                for (size_t j = 0; j < size; j++)
                    hash = hash * 31 + datagram[j];
                if (i > 100 && i % 5 > 0)
                    receive_exact(sides[!side], datagram, size, now + 1.0 / 256);
            }
            drain(sides[side]);
        }
    }
    return hash;
}

TEST(test_a_clock_may_begin_anywhere)
{
    const uint64_t course = course_from(0);
    assert_true(course_from(5) == course);
    assert_true(course_from(100000) == course);
    assert_true(course_from(-4) == course);
    assert_true(course_from(-100000) == course);
}

TEST(test_messages_that_the_application_holds_outlive_a_reset)
{
    const struct cw_connection_config config = notes_config();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    send_note(a, 0, 77, 5, 0);
    round_of(a, b, 0);
    struct cw_message *kept = next_message(b, NULL);
    cw_connection_reset(b);
    assert_int_equal(number_of(kept), 77);
    assert_int_equal(stats_of(b).messages_in_use, 1);
    cw_message_release(kept);
    assert_int_equal(stats_of(b).messages_in_use, 0);
}
