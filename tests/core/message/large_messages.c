/* Tests of messages that do not fit into a packet: they go in fragments among the others. */
#include "fixture.h"

#include "connection_pair.h"

#define RTT   0.08
#define MOST  (256 * 1024)
#define QUEUE 1024

#define TEXT_FIELDS(FIELD)                                                                         \
    FIELD(number, CW_BITS(32))                                                                     \
    FIELD(bytes, CW_BYTES(20000))
CW_MESSAGE(text, TEXT_FIELDS)
CW_BLOCK_MESSAGE(world, TEXT_FIELDS)
#define PING_FIELDS(FIELD) FIELD(number, CW_BITS(32))
CW_MESSAGE(ping, PING_FIELDS)

enum { TEXT, WORLD, PING };

static struct cw_schema *texts_schema(void)
{
    const struct cw_message_type types[] = {text_type, world_type, ping_type};
    const struct cw_schema_config config = {.types = types, .count = 3};
    return schema_with(&config);
}

static struct cw_connection_config texts_config(enum cw_channel_kind kind)
{
    struct cw_connection_config config = cw_connection_config_default(texts_schema());
    for (uint32_t i = 0; i < 2; i++) {
        config.channels[i] = cw_channel_config_default(kind);
        config.channels[i].max_message_size = MOST;
        config.channels[i].send_queue_size = config.channels[i].receive_queue_size = QUEUE;
    }
    return config;
}

static uint8_t byte_of(uint32_t number, uint32_t i)
{
    return block_byte(number, i);
}

static void forget_block(void *context, uint8_t *block, size_t size)
{
    (void)context, (void)size;
    free(block);
}

/* Makes a message whose fields or block have that many bytes. */
static struct cw_message *make_text(struct cw_connection *from, uint32_t type, uint32_t number,
                                    uint32_t size)
{
    struct cw_message *message;
    assert_ok(cw_connection_create_message(from, type, &message));
    struct text *text = message->data;
    text->number = number;
    if (type == PING)
        return message;
    uint8_t *bytes = type == WORLD ? malloc(size) : text->bytes.data;
    for (uint32_t i = 0; i < size; i++)
        bytes[i] = byte_of(number, i);
    if (type == WORLD)
        assert_ok(cw_message_attach(message, bytes, size, forget_block, NULL));
    else
        text->bytes.size = size;
    return message;
}

static enum cw_error try_text(struct cw_connection *from, uint32_t channel, uint32_t type,
                              uint32_t number, uint32_t size, double now)
{
    struct cw_message *message = make_text(from, type, number, size);
    const enum cw_error error = cw_connection_send(from, channel, message, now);
    if (error != CW_OK)
        assert_ok(cw_message_release(message));
    return error;
}

static void send_text(struct cw_connection *from, uint32_t channel, uint32_t type, uint32_t number,
                      uint32_t size, double now)
{
    assert_ok(try_text(from, channel, type, number, size, now));
}

/* Checks the bytes of a message, and returns its number. */
static uint32_t check_text(const struct cw_message *message)
{
    const struct text *text = message->data;
    const bool is_world = message->type == WORLD;
    if (message->type == PING)
        return text->number;
    const uint8_t *bytes = is_world ? message->block : text->bytes.data;
    const uint32_t size = is_world ? message->block_size : text->bytes.size;
    for (uint32_t i = 0; i < size; i++) {
        if (bytes[i] != byte_of(text->number, i))
            fail_msg("byte %u of message %u is wrong", i, text->number);
    }
    return text->number;
}

/* Takes all messages that have arrived, which must be the next ones. */
static void take_in_order(struct cw_connection *at, uint32_t *next)
{
    for (struct cw_message *message; (message = next_message(at, NULL)) != NULL;) {
        assert_int_equal(check_text(message), (*next)++);
        cw_message_release(message);
    }
}

TEST(sizes_from_one_packet_to_the_largest_arrive)
{
    static const uint32_t sizes[] = {0,    1,    1000, 1015, 1016, 1017, 1018,  1019,  1020, 1021,
                                     1022, 1023, 1024, 1025, 1040, 1048, 1064,  2040,  2048, 2049,
                                     4096, 8191, 8192, 8193, 9000, 9999, 16384, 20000, 1024};
    for (enum cw_channel_kind kind = CW_CHANNEL_RELIABLE_ORDERED;
         kind <= CW_CHANNEL_RELIABLE_UNORDERED; kind++) {
        const struct cw_connection_config config = texts_config(kind);
        struct pair pair = pair_open(&config, RTT, 0);
        for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (uint32_t type = TEXT; type <= WORLD; type++) {
                uint32_t next = i;
                send_text(pair.sides[0], 0, type, i, sizes[i] + (type == WORLD), pair.now);
                for (int tick = 0; tick < 60 && next == i; tick++) {
                    pair_tick(&pair);
                    take_in_order(pair.sides[1], &next);
                }
                assert_int_equal(next, i + 1);
            }
        }
        pair_run(&pair, 30);
        assert_int_equal(stats_of(pair.sides[0]).messages_in_use, 0);
        assert_int_equal(stats_of(pair.sides[1]).messages_in_use, 0);
        assert_int_equal(stats_of(pair.sides[1]).packets_invalid, 0);
    }
}

TEST(a_world_of_the_largest_size_arrives)
{
    for (enum cw_channel_kind kind = CW_CHANNEL_RELIABLE_ORDERED;
         kind <= CW_CHANNEL_RELIABLE_UNORDERED; kind++) {
        const struct cw_connection_config config = texts_config(kind);
        struct pair pair = pair_open(&config, RTT, 0);
        uint32_t next = 7;
        assert_int_equal(try_text(pair.sides[0], 0, WORLD, 7, MOST, 0), CW_ERROR_BLOCK_TOO_LARGE);
        send_text(pair.sides[0], 0, WORLD, 7, MOST - 16, 0);
        for (int tick = 0; tick < 600 && next == 7; tick++) {
            pair_tick(&pair);
            take_in_order(pair.sides[1], &next);
        }
        assert_int_equal(next, 8);
    }
}

/* Messages of all sizes, several of them large at once, arrive in order over a bad path. */
TEST(messages_keep_their_order_over_a_bad_path)
{
    const struct cw_connection_config config = texts_config(CW_CHANNEL_RELIABLE_ORDERED);
    struct pair pair = pair_open(&config, RTT, 0.1);
    struct cw_simulator_path path = path_of(RTT, 0.1);
    path.jitter_seconds = 0.05;
    path.duplicate = 0.1;
    path.reorder = 0.1;
    path.reorder_delay_seconds = 0.1;
    pair_change(&pair, &path);
    uint32_t sent = 0, next = 0;
    struct cw_prng random = {3};
    for (int tick = 0; tick < 4000 && next < 600; tick++) {
        if (sent < 600 && tick % 3 == 0) {
            const uint32_t type = cw_prng_below(&random, 3);
            const uint32_t size = 1 + cw_prng_below(&random, 6000);
            sent += try_text(pair.sides[0], 0, type, sent, size, pair.now) == CW_OK;
        }
        pair_tick(&pair);
        take_in_order(pair.sides[1], &next);
    }
    assert_int_equal(next, 600);
    pair_run(&pair, 120);
    assert_int_equal(stats_of(pair.sides[0]).messages_in_use, 0);
    assert_int_equal(stats_of(pair.sides[1]).messages_in_use, 0);
    assert_int_equal(stats_of(pair.sides[1]).packets_invalid, 0);
}

/* Small messages do not wait for a large one, neither on another channel nor, unordered, on its
   own. */
TEST(small_messages_go_between_the_fragments)
{
    struct cw_connection_config config = texts_config(CW_CHANNEL_RELIABLE_UNORDERED);
    struct pair pair = pair_open(&config, RTT, 0);
    send_text(pair.sides[0], 0, WORLD, 1000, 200000, 0);
    uint32_t pings = 0;
    bool arrived = false;
    for (uint32_t tick = 0; tick < 300 && !arrived; tick++) {
        for (uint32_t channel = 0; channel < 2; channel++)
            send_text(pair.sides[0], channel, PING, tick, 0, pair.now);
        pair_tick(&pair);
        for (struct cw_message *message; (message = next_message(pair.sides[1], NULL)) != NULL;) {
            if (message->type == WORLD)
                arrived = check_text(message) == 1000;
            else
                assert_true(tick - check_text(message) <= 5);
            pings += message->type == PING;
            cw_message_release(message);
        }
    }
    assert_true(arrived);
    assert_true(pings > 10);
}

/* Small messages go before the fragments of the large one that they wait for, and fill the
   receiver. Once it refuses more of them, the fragments go first, one in each tick. */
TEST(fragments_go_on_when_the_messages_behind_them_are_refused)
{
    struct cw_connection_config config = texts_config(CW_CHANNEL_RELIABLE_ORDERED);
    config.max_messages = 64;
    config.max_packets_per_update = 1;
    struct pair pair = pair_open(&config, 0.02, 0);
    uint32_t sent = 1, next = 0;
    send_text(pair.sides[0], 0, WORLD, 0, 20000, 0);
    for (int tick = 0; tick < 100 && next == 0; tick++) {
        if (stats_of(pair.sides[0]).messages_in_use < 64)
            sent += try_text(pair.sides[0], 0, PING, sent, 0, pair.now) == CW_OK;
        pair_tick(&pair);
        take_in_order(pair.sides[1], &next);
    }
    assert_true(next > 0);
    assert_true(stats_of(pair.sides[1]).packets_refused > 0);
}

/* Two channels share the path by their weights while both have large messages. */
TEST(large_messages_share_by_weight)
{
    struct cw_connection_config config = texts_config(CW_CHANNEL_RELIABLE_ORDERED);
    config.channels[1].weight = 3;
    config.max_packets_per_update = 4;
    struct pair pair = pair_open(&config, RTT, 0);
    uint32_t sent[2] = {0}, taken[2] = {0};
    for (int tick = 0; tick < 1200; tick++) {
        for (uint32_t channel = 0; channel < 2; channel++) {
            while (try_text(pair.sides[0], channel, TEXT, sent[channel], 9000, pair.now) == CW_OK &&
                   ++sent[channel] % 8 != 0)
                ;
        }
        pair_tick(&pair);
        uint32_t channel;
        for (struct cw_message *message;
             (message = next_message(pair.sides[1], &channel)) != NULL;) {
            assert_int_equal(check_text(message), taken[channel]++);
            cw_message_release(message);
        }
    }
    printf("%u and %u arrived\n", taken[0], taken[1]);
    assert_true(taken[0] > 50);
    assert_in_range(taken[1], 25 * taken[0] / 10, 35 * taken[0] / 10);
}

/* An unreliable message arrives whole and once, or not at all when a fragment is lost. */
TEST(unreliable_messages_arrive_whole_or_not_at_all)
{
    for (enum cw_channel_kind kind = CW_CHANNEL_UNRELIABLE; kind <= CW_CHANNEL_UNRELIABLE_SEQUENCED;
         kind++) {
        struct cw_connection_config config = texts_config(kind);
        config.channels[0].receive_queue_size = 256;
        struct pair pair = pair_open(&config, RTT, 0.05);
        struct cw_simulator_path path = path_of(RTT, 0.05);
        path.jitter_seconds = 0.03;
        path.duplicate = 0.1;
        pair_change(&pair, &path);
        bool seen[1000] = {false};
        uint32_t arrived = 0, newest = 0;
        for (uint32_t tick = 0; tick < 3060; tick++) {
            if (tick < 3000 && tick % 3 == 0)
                send_text(pair.sides[0], 0, tick % 2 ? TEXT : WORLD, tick / 3, 1 + tick * 2 % 5000,
                          pair.now);
            pair_tick(&pair);
            for (struct cw_message *message; (message = next_message(pair.sides[1], NULL)) != NULL;
                 arrived++) {
                const uint32_t number = check_text(message);
                assert_false(seen[number]);
                assert_true(kind == CW_CHANNEL_UNRELIABLE || number >= newest);
                seen[number] = true;
                newest = number;
                cw_message_release(message);
            }
        }
        printf("%u of 1000 arrived\n", arrived);
        assert_in_range(arrived, 780, 960); /* three packets each, of which 5 % are lost */
        assert_true(channel_of(pair.sides[1], 0).dropped > 20);
        assert_int_equal(stats_of(pair.sides[0]).messages_in_use, 0);
        assert_int_equal(stats_of(pair.sides[1]).messages_in_use, 0);
        assert_int_equal(stats_of(pair.sides[1]).packets_invalid, 0);
    }
}

/* Every message with a receipt gets one event, which tells the truth except for lost acks. */
TEST(receipts_tell_what_became_of_each)
{
    for (enum cw_channel_kind kind = CW_CHANNEL_RELIABLE_ORDERED;
         kind <= CW_CHANNEL_RELIABLE_UNORDERED; kind++) {
        struct cw_connection_config config = texts_config(kind);
        config.max_receipts = 512;
        struct pair pair = pair_open(&config, RTT, 0.05);
        const bool reliable =
            kind == CW_CHANNEL_RELIABLE_ORDERED || kind == CW_CHANNEL_RELIABLE_UNORDERED;
        /* On the others, one that has arrived may wait for an older one, or be older itself. */
        const bool at_once = kind == CW_CHANNEL_UNRELIABLE || kind == CW_CHANNEL_RELIABLE_UNORDERED;
        bool arrived[401] = {false}, reported[401] = {false};
        uint32_t sent = 0, acked = 0, lost = 0;
        for (int tick = 0; tick < 2400; tick++) {
            if (tick % 4 == 0 && sent < 400) {
                struct cw_message *message = make_text(pair.sides[0], TEXT, ++sent, 3000);
                message->receipt = sent;
                assert_ok(cw_connection_send(pair.sides[0], 0, message, pair.now));
            }
            pair_tick(&pair);
            for (struct cw_message *message;
                 (message = next_message(pair.sides[1], NULL)) != NULL;) {
                arrived[check_text(message)] = true;
                cw_message_release(message);
            }
            for (struct cw_connection_event event; cw_connection_next(pair.sides[0], &event);) {
                assert_false(reported[event.receipt]);
                reported[event.receipt] = true;
                assert_true(event.type == CW_CONNECTION_EVENT_LOST || !at_once ||
                            arrived[event.receipt]);
                acked += event.type == CW_CONNECTION_EVENT_ACKED;
                lost += event.type == CW_CONNECTION_EVENT_LOST;
            }
        }
        assert_int_equal(acked + lost, 400);
        assert_true(reliable ? lost == 0 : lost > 20 && lost < 120);
    }
}

/* The application takes nothing for a while: the sender is held back, and memory stays bounded. */
TEST(a_slow_reader_holds_the_sender_back)
{
    for (enum cw_channel_kind kind = CW_CHANNEL_RELIABLE_ORDERED;
         kind <= CW_CHANNEL_RELIABLE_UNORDERED; kind += 3) {
        struct cw_connection_config config = texts_config(kind);
        config.channels[0].send_queue_size = config.channels[0].receive_queue_size = 256;
        struct pair pair = pair_open(&config, RTT, 0.02);
        uint32_t sent = 0, next = 0;
        for (int tick = 0; tick < 300; tick++) {
            sent +=
                try_text(pair.sides[0], 0, sent % 2 ? TEXT : WORLD, sent, 5000, pair.now) == CW_OK;
            pair_tick(&pair);
        }
        assert_in_range(sent, 50, 110); /* two windows of 256 fragments, five each */
        struct cw_message *kept[20];
        for (uint32_t i = 0; i < 20; i++) {
            kept[i] = next_message(pair.sides[1], NULL);
            assert_non_null(kept[i]);
            pair_run(&pair, 20);
        }
        for (uint32_t i = 0; i < 20; i++) { /* the blocks that are held stay as they are */
            (void)check_text(kept[i]);
            cw_message_release(kept[i]);
        }
        next = 20;
        for (int tick = 0; tick < 600 && next < sent; tick++) {
            pair_tick(&pair);
            for (struct cw_message *message; (message = next_message(pair.sides[1], NULL)) != NULL;
                 next++) {
                (void)check_text(message);
                cw_message_release(message);
            }
        }
        assert_int_equal(next, sent);
        assert_int_equal(stats_of(pair.sides[1]).packets_invalid, 0);
    }
}

TEST(a_held_world_outlives_a_reset)
{
    const struct cw_connection_config config = texts_config(CW_CHANNEL_RELIABLE_ORDERED);
    struct pair pair = pair_open(&config, RTT, 0);
    send_text(pair.sides[0], 0, WORLD, 1, 5000, 0);
    pair_run(&pair, 20);
    struct cw_message *kept = next_message(pair.sides[1], NULL);
    assert_non_null(kept);
    for (int side = 0; side < 2; side++)
        cw_connection_reset(pair.sides[side]);
    send_text(pair.sides[0], 0, WORLD, 2, 5000, pair.now);
    pair_run(&pair, 60);
    assert_null(next_message(pair.sides[1], NULL)); /* it waits for the place */
    assert_int_equal(check_text(kept), 1);
    cw_message_release(kept);
    uint32_t next = 2;
    pair_run(&pair, 60);
    take_in_order(pair.sides[1], &next);
    assert_int_equal(next, 3);
}

/* A peer without large messages, with packets of up to 8,192 bytes: longer messages go alone in
   packets that are sent in fragments. */
TEST(a_foreign_peer_gets_packets_in_fragments)
{
    struct cw_connection_config config = cw_connection_config_yojimbo(texts_schema());
    struct pair pair = pair_open(&config, RTT, 0.02);
    static const uint32_t sizes[] = {900, 1010, 1020, 1030, 1500, 2048, 4096, 8000, 10, 8170};
    uint32_t sent = 0, next = 0;
    for (int tick = 0; tick < 600; tick++) {
        if (tick % 6 == 0 && sent < 50) {
            send_text(pair.sides[0], 0, TEXT, sent, sizes[sent % 10], pair.now);
            sent++;
        }
        pair_tick(&pair);
        take_in_order(pair.sides[1], &next);
    }
    assert_int_equal(next, 50);
    assert_int_equal(try_text(pair.sides[0], 0, TEXT, 0, 8190, pair.now),
                     CW_ERROR_MESSAGE_TOO_LARGE);
    assert_int_equal(stats_of(pair.sides[1]).packets_invalid, 0);
}

/* CW_AUTO asks the schema, and a connection whose messages all fit has nothing of it. */
TEST(the_schema_says_what_is_needed)
{
    const struct cw_message_type small[] = {ping_type};
    const struct cw_schema_config pings = {.types = small, .count = 1};
    struct cw_connection_config config = cw_connection_config_default(schema_with(&pings));
    const uint64_t fingerprint = cw_connection_fingerprint(&config);
    const size_t memory = cw_connection_memory(&config);
    config.channels[0].max_message_size = 0;
    assert_true(cw_connection_fingerprint(&config) == fingerprint);
    assert_int_equal(cw_connection_memory(&config), memory);
    config.channels[0].max_message_size = 5000;
    assert_true(cw_connection_fingerprint(&config) != fingerprint);
    const struct cw_connection_config texts = cw_connection_config_default(texts_schema());
    struct pair pair = pair_open(&texts, RTT, 0);
    uint32_t next = 0;
    send_text(pair.sides[0], 0, TEXT, 0, 20000, 0);
    pair_run(&pair, 60);
    take_in_order(pair.sides[1], &next);
    assert_int_equal(next, 1);
    assert_int_equal(try_text(pair.sides[0], 0, TEXT, 0, 20001, 0), CW_ERROR_MESSAGE_VALUE);
}

/* Writes a packet with one entry, a fragment on channel 0 of two. */
static size_t fragment_of(uint8_t *out, size_t capacity, uint32_t first, uint32_t total,
                          uint32_t index, uint8_t fill)
{
    struct cw_stream stream = cw_stream_writer(out, capacity);
    uint32_t entries = 1, head = 0, size = total - 1;
    static uint8_t bytes[1024];
    memset(bytes, fill, sizeof bytes);
    const uint32_t left = total - index * 1024;
    assert_true(cw_stream_bits(&stream, &entries, 2) && cw_stream_bits(&stream, &head, 3) &&
                cw_stream_bits(&stream, &first, 16) && cw_stream_uint(&stream, &size, 0, MOST - 1));
    const uint32_t bits = cw_bits_required(size / 1024);
    assert_true((bits == 0 || cw_stream_bits(&stream, &index, bits)) && cw_stream_align(&stream) &&
                cw_stream_bytes(&stream, bytes, left < 1024 ? left : 1024));
    return cw_stream_flush(&stream);
}

static enum cw_error give(struct cw_endpoint *peer, struct cw_connection *to, uint32_t first,
                          uint32_t total, uint32_t index)
{
    uint8_t payload[1100];
    const size_t size = fragment_of(payload, sizeof payload, first, total, index, 0);
    for (struct cw_endpoint_event event; cw_endpoint_next(peer, &event);)
        ; /* the fate of earlier packets is of no interest */
    return peer_send(peer, to, payload, size, 0);
}

TEST(hostile_fragments_are_refused)
{
    for (enum cw_channel_kind kind = CW_CHANNEL_RELIABLE_ORDERED;
         kind <= CW_CHANNEL_RELIABLE_UNORDERED; kind += 3) {
        const struct cw_connection_config config = texts_config(kind);
        struct cw_endpoint *peer = peer_of(&config);
        struct cw_connection *victim = connection_with(&config);
        assert_ok(give(peer, victim, 0, 5000, 1));
        assert_int_equal(give(peer, victim, 0, 5001, 2), CW_ERROR_MALFORMED); /* another size */
        assert_int_equal(give(peer, victim, 0, 5000, 5), CW_ERROR_MALFORMED); /* there are five */
        assert_int_equal(give(peer, victim, 65533, 9000, 5),
                         CW_ERROR_MALFORMED); /* it began before */
        assert_int_equal(give(peer, victim, 2000, 5000, 1), CW_ERROR_RECEIVER_FULL); /* too far */
        assert_ok(give(peer, victim, 1, 5000, 0)); /* is there already as another's */
        for (uint32_t i = 0; i < 5; i++)
            assert_ok(give(peer, victim, 0, 5000, i));
        assert_null(next_message(victim, NULL)); /* a message of zeros is none of ours */
        assert_int_equal(stats_of(victim).messages_in_use, 0);
        assert_int_equal(channel_of(victim, 0).dropped, 1);
    }
}

/* Fragments of a message that goes on forever cost no more memory and evict only their own kind. */
TEST(unreliable_fragments_evict_the_oldest)
{
    const struct cw_connection_config config = texts_config(CW_CHANNEL_UNRELIABLE);
    struct cw_endpoint *peer = peer_of(&config);
    struct cw_connection *victim = connection_with(&config);
    for (uint32_t i = 0; i < 3000; i++)
        assert_ok(give(peer, victim, i * 7 & 0xFFFF, 5000, i % 4));
    assert_null(next_message(victim, NULL));
    assert_true(channel_of(victim, 0).dropped > 2500);
    assert_int_equal(stats_of(victim).messages_in_use, 0);
    assert_ok(give(peer, victim, 60000, 5000, 0)); /* an old one */
}
