/* Tests of the two kinds of channels that yojimbo does not have: unreliable but never going back,
   and reliable without waiting for older messages. */
#include "fixture.h"

#include "connection_pair.h"

#include <math.h>

static struct cw_connection_config config_of(enum cw_channel_kind kind)
{
    struct cw_connection_config config = notes_config();
    config.channel_count = 1;
    config.channels[0] = cw_channel_config_default(kind);
    return config;
}

/* A packet of a round, to be delivered later. */
struct packet {
    uint8_t data[2048];
    size_t size;
};

static struct packet packet_of(struct cw_connection *from, double now)
{
    struct packet packet;
    cw_connection_update(from, now);
    packet.size = transmit(from, packet.data, now);
    assert_true(packet.size > 0);
    return packet;
}

static void deliver(const struct packet *packet, struct cw_connection *to)
{
    assert_int_equal(receive_exact(to, packet->data, packet->size, 0), CW_OK);
}

TEST(sequenced_drops_what_is_older_than_the_latest)
{
    const struct cw_connection_config config = config_of(CW_CHANNEL_UNRELIABLE_SEQUENCED);
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    struct packet packets[6];
    for (uint32_t i = 0; i < 6; i++) {
        send_note(a, 0, 2 * i, 0, i * TICK);
        send_note(a, 0, 2 * i + 1, 0, i * TICK);
        packets[i] = packet_of(a, i * TICK);
    }
    static const uint32_t order[] = {1, 0, 4, 3, 2, 5};
    for (uint32_t i = 0; i < 6; i++)
        deliver(&packets[order[i]], b);
    static const uint32_t expected[] = {2, 3, 8, 9, 10, 11};
    for (uint32_t i = 0; i < 6; i++)
        expect_note(b, 0, expected[i]);
    assert_null(next_message(b, NULL));
    assert_int_equal(channel_of(b, 0).received, 6);
    assert_int_equal(channel_of(b, 0).dropped, 6);
    assert_int_equal(stats_of(b).messages_in_use, 0);
}

/* A message that found no room in a packet goes before those that would still fit, or is dropped.
 */
TEST(sequenced_sends_in_order)
{
    const struct cw_connection_config config = config_of(CW_CHANNEL_UNRELIABLE_SEQUENCED);
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 8; i++)
        send_note(a, 0, i, i % 2 ? 20 : 700, 0);
    assert_int_equal(round_of(a, b, 0), 4);
    for (uint32_t i = 0; i < 8; i++)
        expect_note(b, 0, i);
    assert_int_equal(channel_of(b, 0).dropped, 0);
}

/* The numbers wrap while the channel is in use, and while it is silent. */
TEST(sequenced_survives_the_wrap)
{
    struct cw_connection_config config = config_of(CW_CHANNEL_UNRELIABLE_SEQUENCED);
    config.channel_count = 2;
    config.idle_interval_seconds = 0;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    uint32_t number = 0;
    for (uint32_t i = 0; i < 140000; i++) {
        const double now = i * TICK;
        /* Channel 0 sends in every packet for a while, then now and then. */
        if (i < 70000 || i % 33333 == 0)
            send_note(a, 0, number, 0, now);
        else
            send_note(a, 1, 0, 0, now);
        round_of(a, b, now);
        round_of(b, a, now);
        if (i < 70000 || i % 33333 == 0)
            expect_note(b, 0, number++);
        drain(b);
    }
    assert_int_equal(channel_of(b, 0).dropped, 0);
}

/* The numbers only ever rise, also over a bad path. */
TEST(sequenced_never_goes_back)
{
    struct cw_connection_config config = config_of(CW_CHANNEL_UNRELIABLE_SEQUENCED);
    struct pair pair = pair_open(&config, 0.1, 0.1);
    struct cw_simulator_path path = path_of(0.1, 0.1);
    path.jitter_seconds = 0.1;
    path.duplicate = 0.2;
    path.reorder = 0.3;
    path.reorder_delay_seconds = 0.2;
    assert_int_equal(cw_simulator_change(pair.paths[0], &path), CW_OK);
    uint32_t received = 0, next = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        send_note(pair.sides[0], 0, i, 0, pair.now);
        pair_tick(&pair);
        for (struct cw_message *message; (message = next_message(pair.sides[1], NULL)) != NULL;) {
            assert_true(number_of(message) >= next);
            next = number_of(message) + 1;
            received++;
            cw_message_release(message);
        }
    }
    printf("%u of 3000 arrived in order, %u were late\n", received,
           (uint32_t)channel_of(pair.sides[1], 0).dropped);
    assert_in_range(received, 500, 2700);
    assert_true(channel_of(pair.sides[1], 0).dropped > 100);
}

TEST(unordered_waits_for_no_older_message)
{
    const struct cw_connection_config config = config_of(CW_CHANNEL_RELIABLE_UNORDERED);
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    struct packet packets[4];
    for (uint32_t i = 0; i < 4; i++) {
        send_note(a, 0, i, 0, i * TICK);
        packets[i] = packet_of(a, i * TICK);
    }
    deliver(&packets[2], b);
    expect_note(b, 0, 2);
    deliver(&packets[3], b);
    deliver(&packets[1], b);
    expect_note(b, 0, 3);
    expect_note(b, 0, 1);
    assert_null(next_message(b, NULL));
    deliver(&packets[0], b);
    expect_note(b, 0, 0);
    assert_int_equal(channel_of(b, 0).received, 4);
    /* A message that is sent again is not delivered again. */
    for (uint32_t i = 4; i < 200; i++) {
        round_of(a, b, i * TICK);
        round_of(b, a, i * TICK);
    }
    assert_null(next_message(b, NULL));
    assert_int_equal(channel_of(a, 0).delivered, 4);
    assert_int_equal(stats_of(a).messages_in_use, 0);
}

/* A missing message holds up those that are receive_queue_size behind it, and no others. */
TEST(unordered_has_a_bounded_window)
{
    struct cw_connection_config config = config_of(CW_CHANNEL_RELIABLE_UNORDERED);
    config.channels[0].receive_queue_size = 8;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 20; i++)
        send_note(a, 0, i, 0, 0);
    round_of(a, NULL, 0); /* 0 to 7 leave, and are lost */
    assert_int_equal(channel_of(a, 0).in_flight, 8);
    uint32_t taken = 0;
    for (uint32_t i = 1; taken < 20 && i < 200; i++) {
        round_of(a, b, i * TICK);
        round_of(b, a, i * TICK);
        assert_true(channel_of(a, 0).in_flight <= 8);
        taken += drain(b);
    }
    assert_int_equal(taken, 20);
}

/* A reader that takes nothing holds the sender back, as on an ordered channel. */
TEST(unordered_holds_the_sender_back)
{
    struct cw_connection_config config = config_of(CW_CHANNEL_RELIABLE_UNORDERED);
    config.channels[0].receive_queue_size = 16;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    uint32_t sent = 0;
    for (uint32_t i = 0; i < 600; i++) {
        while (try_note(a, 0, sent, 0, i * TICK))
            sent++;
        round_of(a, b, i * TICK);
        round_of(b, a, i * TICK);
    }
    assert_int_equal(channel_of(b, 0).received, 16);
    assert_int_equal(stats_of(b).messages_in_use, 16);
    for (uint32_t i = 0; i < 16; i++)
        expect_note(b, 0, i);
    cw_connection_reset(b);
    assert_int_equal(stats_of(b).messages_in_use, 0);
}

/* A reset also forgets which messages were taken before older ones. */
TEST(unordered_is_as_new_after_a_reset)
{
    const struct cw_connection_config config = config_of(CW_CHANNEL_RELIABLE_UNORDERED);
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 10; i++)
            send_note(a, 0, i, 0, 0);
        round_of(a, b, 0);
        for (uint32_t i = 0; i < 10; i++)
            expect_note(b, 0, i);
        send_note(a, 0, 10, 0, TICK);
        round_of(a, NULL, TICK);
        send_note(a, 0, 11, 0, 2 * TICK);
        send_note(a, 0, 12, 0, 2 * TICK);
        round_of(a, b, 2 * TICK);
        expect_note(b, 0, 11); /* 12 waits until the reset */
        cw_connection_reset(a);
        cw_connection_reset(b);
        assert_null(next_message(b, NULL));
        assert_int_equal(stats_of(b).messages_in_use, 0);
    }
}

/* A block goes through, between messages before and behind it. */
TEST(blocks_go_through_unordered)
{
    struct cw_connection_config config = config_of(CW_CHANNEL_RELIABLE_UNORDERED);
    config.channels[0].blocks = true;
    struct pair pair = pair_open(&config, 0.1, 0.1);
    send_note(pair.sides[0], 0, 0, 0, 0);
    send_parcel(pair.sides[0], 0, 1, 50000, 0);
    send_parcel(pair.sides[0], 0, 2, 3000, 0);
    send_note(pair.sides[0], 0, 3, 0, 0);
    for (uint32_t next = 0; next < 4;) {
        pair_tick(&pair);
        assert_true(pair.ticks < 3000);
        for (struct cw_message *message; (message = next_message(pair.sides[1], NULL)) != NULL;) {
            if (next == 1 || next == 2)
                check_parcel(message, next, next == 1 ? 50000 : 3000);
            assert_int_equal(number_of(message), next++);
            cw_message_release(message);
        }
    }
}

/* Checks that each number arrived as often as it should, and returns the mean time from send to
   delivery. */
static double latency_of(enum cw_channel_kind kind, enum cw_recovery_kind recovery)
{
    enum { COUNT = 4000 };
    static uint8_t seen[COUNT];
    memset(seen, 0, sizeof seen);
    struct cw_connection_config config = config_of(kind);
    config.channels[0].recovery = recovery;
    struct pair pair = pair_open(&config, 0.1, 0.1);
    uint32_t sent = 0, received = 0;
    double sum = 0;
    while (received < COUNT) {
        if (sent < COUNT)
            send_note(pair.sides[0], 0, sent++, 0, pair.now);
        pair_tick(&pair);
        assert_true(pair.ticks < 2 * COUNT);
        for (struct cw_message *message; (message = next_message(pair.sides[1], NULL)) != NULL;) {
            const uint32_t number = number_of(message);
            assert_in_range(number, 0, sent - 1);
            assert_int_equal(seen[number]++, 0);
            sum += pair.now - number * TICK;
            received++;
            cw_message_release(message);
        }
    }
    return sum / COUNT;
}

/* With 10 % loss, every message arrives once, and sooner than where messages wait for each other.
 */
TEST(unordered_is_sooner_at_loss)
{
    const double ordered = latency_of(CW_CHANNEL_RELIABLE_ORDERED, CW_RECOVERY_RESEND);
    const double unordered = latency_of(CW_CHANNEL_RELIABLE_UNORDERED, CW_RECOVERY_RESEND);
    const double repaired = latency_of(CW_CHANNEL_RELIABLE_UNORDERED, CW_RECOVERY_CODED);
    printf("mean latency at 10 %% loss: ordered %.1f ms, unordered %.1f ms, with repair %.1f ms\n",
           1000 * ordered, 1000 * unordered, 1000 * repaired);
    assert_true(unordered < 0.85 * ordered);
    assert_true(repaired <= unordered);
}

/* Returns the bytes of a round of messages and a block. */
static size_t bytes_of(enum cw_channel_kind kind, uint8_t *out)
{
    struct cw_connection_config config = config_of(kind);
    config.channels[0].blocks = true;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 8; i++)
        send_note(a, 0, i, 100, 0);
    send_parcel(a, 0, 8, 900, 0);
    size_t size = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t datagram[2048];
        cw_connection_update(a, i * TICK);
        for (size_t each; (each = transmit(a, datagram, i * TICK)) > 0; size += each) {
            memcpy(out + size, datagram, each);
            receive_exact(b, datagram, each, i * TICK);
        }
        round_of(b, a, i * TICK);
    }
    return size;
}

TEST(on_the_wire_they_are_the_kinds_of_yojimbo)
{
    static uint8_t bytes[2][65536];
    static const enum cw_channel_kind alike[][2] = {
        {CW_CHANNEL_UNRELIABLE, CW_CHANNEL_UNRELIABLE_SEQUENCED},
        {CW_CHANNEL_RELIABLE_ORDERED, CW_CHANNEL_RELIABLE_UNORDERED},
    };
    for (int i = 0; i < 2; i++) {
        const size_t size = bytes_of(alike[i][0], bytes[0]);
        assert_int_equal(bytes_of(alike[i][1], bytes[1]), size);
        assert_memory_equal(bytes[0], bytes[1], size);
        assert_true(size > 1700);
    }
}

/* The fingerprint tells apart ends that differ only in the kind of a channel. */
TEST(every_kind_has_a_fingerprint_of_its_own)
{
    struct cw_connection_config config = config_of(CW_CHANNEL_RELIABLE_ORDERED);
    uint64_t prints[4];
    for (uint32_t kind = 0; kind < 4; kind++) {
        config.channels[0] = cw_channel_config_default((enum cw_channel_kind)kind);
        prints[kind] = cw_connection_fingerprint(&config);
        for (uint32_t other = 0; other < kind; other++)
            assert_true(prints[kind] != prints[other]);
    }
}
