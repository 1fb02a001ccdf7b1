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
