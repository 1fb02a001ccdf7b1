/* Tests of packets made in bad faith, by accident or by another program. */
#include "fixture.h"

#include "connections.h"

static uint32_t random_state;

BEFORE_EACH_TEST
{
    random_state = 4711;
}

static uint32_t random_below(uint32_t end)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % end;
}

static struct cw_connection_config config_of_blocks(void)
{
    struct cw_connection_config config = notes_config();
    config.channel_count = 4; /* the last is only for packets made by hand */
    config.channels[2] = config.channels[0];
    for (int i = 0; i < 4; i++) {
        config.channels[i].blocks = i == 1 || i == 2;
        config.channels[i].block_fragment_size = 100;
        config.channels[i].max_block_size = 950;
    }
    return config;
}

struct packet {
    uint8_t bytes[2048];
    size_t size;
};

/* Collects payloads as the connections send them: a few of each shape. */
static size_t honest_payloads(struct packet *packets, size_t most)
{
    const struct cw_connection_config config = config_of_blocks();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    struct cw_endpoint *ear = peer_of(&config);
    size_t count = 0;
    for (uint32_t i = 0; count < most; i++) {
        uint8_t datagram[2048];
        if (i % 3)
            send_note(a, 0, i, random_below(200), i * TICK);
        if (i % 4 == 0)
            send_parcel(a, 1, i, 1 + random_below(900), i * TICK);
        if (i % 7 == 0)
            send_parcel(a, 2, i, 1 + random_below(950), i * TICK);
        if (i % 5 == 0)
            send_note(a, 2, i, random_below(20), i * TICK);
        cw_connection_update(a, i * TICK);
        for (size_t size; (size = transmit(a, datagram, i * TICK)) > 0;) {
            struct cw_endpoint_event event;
            assert_int_equal(cw_endpoint_receive(ear, datagram, size, 0), CW_OK);
            while (cw_endpoint_next(ear, &event)) {
                if (event.type == CW_ENDPOINT_EVENT_PACKET && count < most) {
                    memcpy(packets[count].bytes, event.payload, event.size);
                    packets[count++].size = event.size;
                }
                cw_endpoint_accept(ear, event.sequence);
            }
            receive_exact(b, datagram, size, i * TICK);
        }
        drain(b);
        round_of(b, a, i * TICK);
    }
    return count;
}

static void corrupt(struct packet *packet)
{
    const uint32_t times = 1 + random_below(4);
    for (uint32_t i = 0; i < times && packet->size > 0; i++) {
        const size_t at = random_below((uint32_t)packet->size);
        switch (random_below(4)) {
        case 0:
            packet->bytes[at] ^= (uint8_t)(1u << random_below(8));
            break;
        case 1:
            packet->bytes[at] = (uint8_t)random_below(256);
            break;
        case 2:
            packet->size = at;
            break;
        default:
            packet->bytes[random_below(packet->size < 8 ? 1 : 8)] = (uint8_t)random_below(256);
        }
    }
}

/* Hands over a payload, on a block of exactly its size. A refused one must leave no trace. */
static void hand_over(struct cw_endpoint *peer, struct cw_connection *to,
                      const struct packet *packet, double now)
{
    struct cw_channel_stats before[4];
    const struct cw_connection_stats stats = stats_of(to);
    for (uint32_t i = 0; i < 4; i++)
        before[i] = channel_of(to, i);
    const enum cw_error error = peer_send(peer, to, packet->bytes, packet->size, now);
    if (error == CW_ERROR_MALFORMED) {
        assert_int_equal(stats_of(to).messages_in_use, stats.messages_in_use);
        assert_int_equal(stats_of(to).packets_invalid, stats.packets_invalid + 1);
        assert_int_equal(stats_of(to).endpoint.packets_received, stats.endpoint.packets_received);
        for (uint32_t i = 0; i < 4; i++) {
            const struct cw_channel_stats after = channel_of(to, i);
            assert_memory_equal(&before[i], &after, sizeof after);
        }
        assert_false(peer_acked(peer, to, now));
    } else if (error == CW_ERROR_RECEIVER_FULL) {
        assert_false(peer_acked(peer, to, now));
    } else {
        assert_int_equal(error, CW_OK);
    }
}

TEST(test_corrupted_packets_do_no_harm)
{
    static struct packet packets[200];
    const size_t count = honest_payloads(packets, 200);
    const struct cw_connection_config config = config_of_blocks();
    uint64_t invalid = 0, taken = 0;
    for (int life = 0; life < 40; life++) {
        struct cw_connection *connection = connection_with(&config);
        struct cw_endpoint *peer = peer_of(&config);
        for (uint32_t i = 0; i < 1000; i++) {
            struct packet packet = packets[random_below((uint32_t)count)];
            if (random_below(3))
                corrupt(&packet);
            hand_over(peer, connection, &packet, i * TICK);
            if (random_below(4) == 0)
                drain(connection);
        }
        invalid += stats_of(connection).packets_invalid;
        taken += stats_of(connection).endpoint.packets_received;
        drain(connection);
        cw_connection_reset(connection);
        assert_int_equal(stats_of(connection).messages_in_use, 0);
    }
    assert_true(invalid > 3000 && taken > 3000);
}

TEST(test_random_bytes_do_no_harm)
{
    const struct cw_connection_config config = config_of_blocks();
    struct cw_connection *payloads = connection_with(&config), *raw = connection_with(&config);
    struct cw_endpoint *peer = peer_of(&config);
    for (uint32_t i = 0; i < 30000; i++) {
        struct packet packet = {.size = random_below(60)};
        for (size_t j = 0; j < packet.size; j++)
            packet.bytes[j] = (uint8_t)random_below(random_below(2) ? 256 : 4);
        hand_over(peer, payloads, &packet, i * TICK);
        receive_exact(raw, packet.bytes, packet.size, i * TICK);
        drain(payloads);
        drain(raw);
    }
}

/* A payload that is written bit by bit, least significant first. */
struct bits {
    uint8_t bytes[64];
    size_t count;
};

static struct bits put(struct bits bits, uint32_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++, bits.count++)
        bits.bytes[bits.count / 8] |= (uint8_t)((value >> i & 1) << bits.count % 8);
    return bits;
}

static struct bits align(struct bits bits)
{
    bits.count = (bits.count + 7) / 8 * 8;
    return bits;
}

static enum cw_error send_bits(struct cw_endpoint *peer, struct cw_connection *to,
                               const struct bits *bits)
{
    return peer_send(peer, to, bits->bytes, (bits->count + 7) / 8, 0);
}

/* Writes the body of a note or parcel: a number and no padding. */
static struct bits put_body(struct bits bits, uint32_t type)
{
    return put(put(put(bits, type, 2), 5, 32), 0, 11);
}

/* Writes the first of `count` fragments, of one byte, of a block on a channel of config_of_blocks.
 */
static struct bits put_first_of(struct bits bits, uint32_t count, uint32_t channel, uint32_t id,
                                uint32_t type)
{
    bits = put(put(put(bits, channel, 2), 1, 1), id, 16);
    bits = put(bits, count - 1, 4);
    if (count > 1)
        bits = put(bits, 0, 1);
    bits = align(put(bits, 0, 7));
    return put_body(put(bits, 0xAB, 8), type);
}

static struct bits put_fragment(struct bits bits, uint32_t channel, uint32_t id)
{
    return put_first_of(bits, 1, channel, id, PARCEL);
}

static struct bits put_message(struct bits bits, uint32_t channel, uint32_t id, uint32_t type)
{
    bits = put(put(put(bits, channel, 2), 0, 1), 1, 1);
    return put_body(put(put(bits, 0, 8), id, 16), type);
}

static struct bits put_note(struct bits bits, uint32_t channel, uint32_t id)
{
    return put_message(bits, channel, id, NOTE);
}

/* Other libraries failed at block fragments on a channel without blocks, and at packets without
   payload. */
TEST(test_a_fragment_where_there_are_no_blocks_and_packets_of_nothing_are_refused)
{
    const struct cw_connection_config config = config_of_blocks();
    struct cw_connection *connection = connection_with(&config);
    struct cw_endpoint *peer = peer_of(&config);
    const struct bits one = put((struct bits){0}, 1, 3), none = {0};
    struct bits bits = put_fragment(one, 0, 0);
    assert_int_equal(send_bits(peer, connection, &bits), CW_ERROR_MALFORMED);
    bits = put_fragment(one, 1, 0); /* unreliable blocks have no fragments */
    assert_int_equal(send_bits(peer, connection, &bits), CW_ERROR_MALFORMED);
    assert_int_equal(send_bits(peer, connection, &none), CW_ERROR_MALFORMED);
    /* These types carry a block where there is none, and the other way round. */
    bits = put_message(one, 0, 0, PARCEL);
    assert_int_equal(send_bits(peer, connection, &bits), CW_ERROR_MALFORMED);
    bits = put_first_of(one, 1, 2, 0, NOTE);
    assert_int_equal(send_bits(peer, connection, &bits), CW_ERROR_MALFORMED);
    /* The packet has one message, a parcel, and its block of a byte. */
    bits = put_body(put(put(put(put(one, 3, 2), 0, 1), 1, 1), 0, 8), PARCEL);
    bits = put(align(put(bits, 0, 10)), 0xAB, 8);
    assert_int_equal(send_bits(peer, connection, &bits), CW_ERROR_MALFORMED);
    /* Only the last fragment may be shorter than all others. */
    bits = put_first_of(one, 2, 2, 0, PARCEL);
    assert_int_equal(send_bits(peer, connection, &bits), CW_ERROR_MALFORMED);
    assert_false(peer_acked(peer, connection, 0));
    bits = put_fragment(one, 2, 0);
    assert_int_equal(send_bits(peer, connection, &bits), CW_OK);
    assert_true(peer_acked(peer, connection, 0));
    assert_int_equal(drain(connection), 1);
}

TEST(test_a_fragment_comes_alone_on_its_channel)
{
    const struct cw_connection_config config = config_of_blocks();
    struct cw_connection *connection = connection_with(&config);
    struct cw_endpoint *peer = peer_of(&config);
    const struct bits two = put((struct bits){0}, 2, 3);
    struct bits bits = put_fragment(put_fragment(two, 2, 0), 2, 1);
    assert_int_equal(send_bits(peer, connection, &bits), CW_ERROR_MALFORMED);
    bits = put_note(put_fragment(two, 2, 0), 2, 1);
    assert_int_equal(send_bits(peer, connection, &bits), CW_ERROR_MALFORMED);
    bits = put_fragment(put_note(two, 2, 0), 2, 1);
    assert_int_equal(send_bits(peer, connection, &bits), CW_ERROR_MALFORMED);
    assert_int_equal(stats_of(connection).messages_in_use, 0);
    bits = put_note(put_fragment(two, 2, 0), 0, 0);
    assert_int_equal(send_bits(peer, connection, &bits), CW_OK);
    assert_int_equal(drain(connection), 2);
}

TEST(test_the_same_message_twice_in_a_packet_is_delivered_once)
{
    const struct cw_connection_config config = config_of_blocks();
    struct cw_connection *connection = connection_with(&config);
    struct cw_endpoint *peer = peer_of(&config);
    const struct bits bits = put_note(put_note(put((struct bits){0}, 2, 3), 0, 0), 0, 0);
    assert_int_equal(send_bits(peer, connection, &bits), CW_OK);
    assert_int_equal(drain(connection), 1);
    assert_int_equal(channel_of(connection, 0).received, 1);
    assert_int_equal(stats_of(connection).messages_in_use, 0);
}

TEST(test_ids_from_the_past_and_the_far_future_are_not_kept)
{
    const struct bits one = put((struct bits){0}, 1, 3);
    for (uint32_t id = 0; id < 65536; id += id < 600 || id > 65000 ? 1 : 97) {
        const struct cw_connection_config config = config_of_blocks();
        struct cw_connection *connection = connection_with(&config);
        struct cw_endpoint *peer = peer_of(&config);
        const struct bits bits = put_note(one, 0, id);
        const enum cw_error error = send_bits(peer, connection, &bits);
        const bool is_old = id > 32768, fits = id < 256;
        assert_int_equal(error, is_old || fits ? CW_OK : CW_ERROR_RECEIVER_FULL);
        assert_int_equal(stats_of(connection).messages_in_use, fits);
        assert_int_equal(drain(connection), id == 0);
        fixture_release(NULL);
    }
}
