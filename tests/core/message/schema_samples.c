/* The eight messages with which yojimbo is tested and fuzzed, as tables of fields against functions
   written by hand: random values and random bytes. */
#include "causeway/schema.h"

#include "fixture.h"
#include "fuzz_times.h"
#include "random_schema.h"

BEFORE_EACH_TEST
{
    printf("seed %llu\n", (unsigned long long)random_state);
}

/* A message has as many bits as a table of 21 numbers says for its sequence number. In the
   expression, a number holds five of the table, each in 10 bits. */
#define TABLE_PART(part, numbers) (sequence % 21 / 5 == part) * numbers
#define TABLE_ENTRY                                                                                \
    TABLE_PART(0, 281479397834753) + TABLE_PART(1, 110059624344621) +                              \
        TABLE_PART(2, 3300895325268) + TABLE_PART(3, 7699808387080) + TABLE_PART(4, 50)
#define TEST_FIELDS(FIELD)                                                                         \
    FIELD(sequence, CW_BITS(16))                                                                   \
    FIELD(bits, CW_REPEAT((TABLE_ENTRY) >> sequence % 21 % 5 * 10 & 1023, CW_BOOL, 512))
CW_MESSAGE(test, TEST_FIELDS)

#define BLOCK_FIELDS(FIELD) FIELD(sequence, CW_BITS(16))
CW_BLOCK_MESSAGE(test_block, BLOCK_FIELDS)
CW_BLOCK_MESSAGE(fuzz_block, BLOCK_FIELDS)

#define PRIMITIVES_FIELDS(FIELD)                                                                   \
    FIELD(i, CW_INT(-100000, 100000))                                                              \
    FIELD(bits, CW_BITS(17))                                                                       \
    FIELD(flag, CW_BOOL)                                                                           \
    FIELD(f, CW_FLOAT)                                                                             \
    FIELD(d, CW_DOUBLE)                                                                            \
    FIELD(cf, CW_COMPRESSED_FLOAT(0, 1, 0.01f))                                                    \
    FIELD(gap, CW_ALIGN)                                                                           \
    FIELD(base, CW_INT(0, 1000))                                                                   \
    FIELD(rel, CW_RELATIVE(base))
CW_MESSAGE(fuzz_primitives, PRIMITIVES_FIELDS)

#define STRING_FIELDS(FIELD) FIELD(text, CW_STRING(63))
CW_MESSAGE(fuzz_string, STRING_FIELDS)

#define BYTES_FIELDS(FIELD) FIELD(data, CW_BYTES(512))
CW_MESSAGE(fuzz_bytes, BYTES_FIELDS)

/* Serializes the bits in words, as yojimbo does. */
static bool test_by_hand(struct cw_stream *stream, void *message)
{
    static const uint32_t table[21] = {1,  320, 120, 4, 256, 45,  11, 13, 101, 100, 84,
                                       95, 203, 2,   3, 8,   512, 5,  3,  7,   50};
    struct test *const m = message;
    if (!cw_stream_bits(stream, &m->sequence, 16))
        return false;
    m->bits.count = table[m->sequence % 21];
    for (uint32_t at = 0; at < m->bits.count; at += 32) {
        const uint32_t left = m->bits.count - at, width = left < 32 ? left : 32;
        uint32_t word = 0;
        for (uint32_t i = 0; i < width; i++)
            word |= (uint32_t)m->bits.items[at + i] << i;
        if (!cw_stream_bits(stream, &word, width))
            return false;
        for (uint32_t i = 0; i < width; i++)
            m->bits.items[at + i] = (word >> i & 1) != 0;
    }
    return true;
}

static bool block_by_hand(struct cw_stream *stream, void *message)
{
    return cw_stream_bits(stream, &((struct test_block *)message)->sequence, 16);
}

/* The two messages without fields fail when they are read: that one cannot be read, and this one
   runs out of memory. Their bytes are none. */
static bool empty_by_hand(struct cw_stream *stream, void *message)
{
    (void)message;
    return !cw_stream_failed(stream);
}

static bool primitives_by_hand(struct cw_stream *stream, void *message)
{
    struct fuzz_primitives *const m = message;
    return cw_stream_int(stream, &m->i, -100000, 100000) && cw_stream_bits(stream, &m->bits, 17) &&
           cw_stream_bool(stream, &m->flag) && cw_stream_float(stream, &m->f) &&
           cw_stream_double(stream, &m->d) &&
           cw_stream_compressed_float(stream, &m->cf, 0, 1, 0.01f) && cw_stream_align(stream) &&
           cw_stream_int(stream, &m->base, 0, 1000) &&
           cw_stream_relative(stream, (uint32_t)m->base, &m->rel);
}

static bool string_by_hand(struct cw_stream *stream, void *message)
{
    return cw_stream_string(stream, ((struct fuzz_string *)message)->text, 64);
}

static bool bytes_by_hand(struct cw_stream *stream, void *message)
{
    struct fuzz_bytes *const m = message;
    return cw_stream_uint(stream, &m->data.size, 0, 512) &&
           cw_stream_bytes(stream, m->data.data, m->data.size);
}

enum { TEST, FUZZ_PRIMITIVES = 4, SAMPLES = 8 };

static cw_serialize *const by_hand[SAMPLES] = {test_by_hand,  block_by_hand,      empty_by_hand,
                                               empty_by_hand, primitives_by_hand, string_by_hand,
                                               bytes_by_hand, block_by_hand};

/* Room for any of the messages. */
union any {
    struct test test;
    struct fuzz_primitives primitives;
    struct fuzz_string string;
    struct fuzz_bytes bytes;
};

static struct cw_schema *create(void)
{
    const struct cw_message_type types[SAMPLES] = {test_type,
                                                   test_block_type,
                                                   {.name = "fail_on_read"},
                                                   {.name = "exhaust_on_read"},
                                                   fuzz_primitives_type,
                                                   fuzz_string_type,
                                                   fuzz_bytes_type,
                                                   fuzz_block_type};
    const struct cw_schema_config config = {.types = types, .count = SAMPLES};
    struct cw_schema *schema;
    assert_int_equal(cw_schema_create(&config, &schema), CW_OK);
    assert_true(cw_schema_message_size(schema) <= sizeof(union any));
    return schema;
}

/* Fills in a message; cw_stream_* are the judge of what depends on other values. */
static void fill(const struct cw_schema *schema, uint32_t type, union any *any)
{
    memset(any, 0, sizeof *any);
    if (type == TEST) {
        for (uint32_t i = 0; i < 512; i++)
            any->test.bits.items[i] = random_below(2);
        any->test.sequence = random_32() & UINT16_MAX;
        struct cw_stream stream = cw_stream_measurer();
        assert_true(test_by_hand(&stream, any)); /* sets the count */
        const uint32_t count = any->test.bits.count;
        memset(&any->test.bits.items[count], 0, 512 - count);
        return;
    }
    random_members(cw_schema_type(schema, type), (uint8_t *)any);
    if (type == FUZZ_PRIMITIVES)
        any->primitives.rel =
            (uint32_t)any->primitives.base + 1 + (random_32() >> (1 + random_below(30)));
}

/* Reads the bytes in both ways, which must do the same. Returns whether they are a message. */
static bool read_both(const struct cw_schema *schema, uint32_t type, const uint8_t *bytes,
                      size_t size, union any *declared)
{
    union any own;
    memset(&own, 0, sizeof own);
    memset(declared, 0, sizeof *declared);
    struct cw_stream first = cw_stream_reader(bytes, size), second = first;
    const bool done = by_hand[type](&first, &own);
    assert_int_equal(cw_schema_serialize(schema, type, &second, declared), done);
    if (done) {
        assert_memory_equal(&own, declared, sizeof own);
        assert_int_equal(cw_stream_position(&first), cw_stream_position(&second));
    }
    return done;
}

/* Writes the message in both ways, which must give the same bytes, and reads them. Returns their
   number. */
static size_t write_both(const struct cw_schema *schema, uint32_t type, union any *message)
{
    uint8_t out[600], own[600];
    struct cw_stream stream = cw_stream_writer(out, sizeof out);
    struct cw_stream hand = cw_stream_writer(own, sizeof own);
    struct cw_stream measurer = cw_stream_measurer();
    union any again;
    assert_true(cw_schema_serialize(schema, type, &stream, message));
    assert_true(by_hand[type](&hand, message));
    assert_true(cw_schema_serialize(schema, type, &measurer, message));
    assert_int_equal(cw_stream_position(&stream), cw_stream_position(&hand));
    assert_true(cw_stream_position(&measurer) >= cw_stream_position(&stream));
    const size_t size = cw_stream_flush(&stream);
    assert_int_equal(cw_stream_flush(&hand), size);
    assert_memory_equal(out, own, size);
    assert_true(read_both(schema, type, out, size, &again));
    return size;
}

TEST(test_random_values_are_written_as_by_hand)
{
    struct cw_schema *schema = create();
    union any message;
    const uint32_t rounds = fuzz_times(20000);
    size_t bytes = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        const uint32_t type = round % SAMPLES;
        fill(schema, type, &message);
        bytes += write_both(schema, type, &message);
    }
    print_message("%u values, %zu bytes\n", rounds, bytes);
    assert_true(bytes > rounds);
    cw_schema_destroy(schema);
}

TEST(test_random_bytes_are_read_as_by_hand)
{
    struct cw_schema *schema = create();
    const uint32_t rounds = fuzz_times(20000);
    uint32_t read[SAMPLES] = {0};
    for (uint32_t round = 0; round < rounds; round++) {
        const uint32_t type = round % SAMPLES, size = random_below(96);
        uint8_t *const bytes = malloc(size + 1u);
        union any message;
        for (uint32_t i = 0; i < size; i++)
            bytes[i] = random_below(4) ? (uint8_t)(random_32() & random_32() & 127) : 0;
        if (read_both(schema, type, bytes, size, &message)) {
            read[type]++;
            write_both(schema, type, &message);
        }
        free(bytes);
    }
    for (uint32_t type = 0; type < SAMPLES; type++) {
        print_message("%s: %u of %u were messages\n", cw_schema_type(schema, type)->name,
                      read[type], rounds / SAMPLES);
        assert_true(read[type] > 20);
    }
    cw_schema_destroy(schema);
}

/* An extreme entry of the table has its bits, and no other sequence number has as many. */
TEST(test_the_expression_is_the_table)
{
    struct cw_schema *schema = create();
    static const uint8_t zeros[80];
    for (uint32_t sequence = 0; sequence < 65536; sequence++) {
        uint8_t bytes[80];
        union any message;
        memcpy(bytes, zeros, sizeof bytes);
        bytes[0] = (uint8_t)sequence;
        bytes[1] = (uint8_t)(sequence >> 8);
        assert_true(read_both(schema, TEST, bytes, sizeof bytes, &message));
        assert_int_equal(message.test.bits.count == 512, sequence % 21 == 16);
    }
    cw_schema_destroy(schema);
}
