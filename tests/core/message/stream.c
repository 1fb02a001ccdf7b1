/* Tests of streams: edges of each kind, random streams, and golden bytes. */
#include "fixture.h"
#include "golden.h"
#include "operations.h"

#include <math.h>

static uint64_t seed = 1;

static uint32_t random_number(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

/* Returns small and large numbers alike, of any width, often at the end of a range. */
static uint64_t random_wide(void)
{
    const uint64_t number = (uint64_t)random_number() << 32 | random_number();
    const uint64_t cut = number >> random_number() % 64;
    return random_number() % 8 == 0 ? (uint64_t)0 - cut : cut;
}

static uint64_t random_between(uint64_t min, uint64_t max)
{
    const uint64_t range = max - min;
    if (random_number() % 4 == 0)
        return random_number() % 2 ? min : max;
    return min + (range == UINT64_MAX ? random_wide() : random_wide() % (range + 1));
}

static size_t random_text(uint8_t *out, size_t most)
{
    static const char *const pieces[] = {"a", "Z", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8e\xae"};
    size_t size = 0;
    while (random_number() % 12) {
        const char *piece = pieces[random_number() % 5];
        if (size + strlen(piece) > most)
            break;
        memcpy(out + size, piece, strlen(piece));
        size += strlen(piece);
    }
    return size;
}

static float random_float(void)
{
    return (float)(int32_t)random_number() / 65536.0f;
}

static struct operation random_operation(void)
{
    struct operation o = {.kind = (enum operation_kind)(random_number() % OPERATION_COUNT)};
    switch (o.kind) {
    case OPERATION_BITS:
        o.min = 1 + random_number() % 64;
        o.value = random_between(0, UINT64_MAX >> (64 - o.min));
        break;
    case OPERATION_BOOL:
        o.value = random_number() % 2;
        break;
    case OPERATION_INT:
    case OPERATION_INT_64: {
        int64_t a = (int64_t)random_wide(), b = (int64_t)random_wide();
        if (o.kind == OPERATION_INT) {
            a = (int32_t)a;
            b = (int32_t)b;
        }
        o.min = (uint64_t)(a < b ? a : b);
        o.max = (uint64_t)(a < b ? b : a);
        o.value = random_between(o.min, o.max);
        break;
    }
    case OPERATION_UINT:
    case OPERATION_UINT_64: {
        const uint64_t mask = o.kind == OPERATION_UINT ? UINT32_MAX : UINT64_MAX;
        const uint64_t a = random_wide() & mask, b = random_wide() & mask;
        o.min = a < b ? a : b;
        o.max = a < b ? b : a;
        o.value = random_between(o.min, o.max);
        break;
    }
    case OPERATION_FLOAT:
        o.value = operation_float_bits(random_float());
        break;
    case OPERATION_DOUBLE:
        o.value = random_wide() & 0x7fefffffffffffff;
        break;
    case OPERATION_COMPRESSED_FLOAT: {
        /* Variables of their own make each operation round, whatever arithmetic the machine has. */
        static const float least = 0.001f;
        const float min = random_float();
        const float more = (float)(random_number() % 100000) / 64.0f;
        const float delta = least + more;
        const float max = min + delta;
        const float resolution = delta / (float)(1 + random_number() % 5000);
        float value = delta * (float)(random_number() % 1001);
        value /= 1000.0f;
        value += min;
        o.min = operation_float_bits(min);
        o.max = operation_float_bits(max);
        o.resolution = operation_float_bits(resolution);
        o.value = operation_float_bits(value);
        break;
    }
    case OPERATION_BYTES:
        o.min = o.value = random_number() % 20;
        for (uint64_t i = 0; i < o.min; i++)
            o.data[i] = (uint8_t)random_number();
        break;
    case OPERATION_STRING:
        o.min = 1 + random_number() % 40;
        o.value = random_text(o.data, o.min - 1);
        break;
    case OPERATION_RELATIVE:
        o.min = random_wide() & 0x7fffffff;
        o.value = o.min + 1 + (random_wide() & 0x7fffffff);
        break;
    case OPERATION_RELATIVE_SEQUENCE:
        o.min = random_wide() & 0xffff;
        o.value = (o.min + 1 + (random_wide() & 0xffff) % 0xffff) & 0xffff;
        break;
    case OPERATION_ALIGN:
    case OPERATION_COUNT:
        break;
    }
    return o;
}

#define MOST_OPERATIONS 24

/* In random streams the writer takes exactly what it needs, the measurer tells no less and only 7
   bits per alignment more, and the reader gets everything back. */
TEST(test_random_streams_come_back)
{
    for (int round = 0; round < 3000; round++) {
        struct operation operations[MOST_OPERATIONS];
        const uint32_t count = random_number() % MOST_OPERATIONS;
        uint8_t roomy[4096];
        struct cw_stream writer = cw_stream_writer(roomy, sizeof roomy);
        struct cw_stream measurer = cw_stream_measurer();
        size_t alignments = 0;
        for (uint32_t i = 0; i < count; i++) {
            operations[i] = random_operation();
            assert_true(operation_run(&writer, &operations[i]));
            assert_true(operation_run(&measurer, &operations[i]));
            alignments += operations[i].kind == OPERATION_ALIGN ||
                          operations[i].kind == OPERATION_BYTES ||
                          operations[i].kind == OPERATION_STRING;
        }
        const size_t written = cw_stream_position(&writer);
        const size_t measured = cw_stream_position(&measurer);
        assert_true(measured >= written);
        assert_true(measured - written <= 7 * alignments);

        const size_t size = cw_stream_flush(&writer);
        uint8_t *exact = malloc(size);
        writer = cw_stream_writer(exact, size);
        for (uint32_t i = 0; i < count; i++)
            assert_true(operation_run(&writer, &operations[i]));
        assert_int_equal(cw_stream_flush(&writer), size);
        assert_memory_equal(exact, roomy, size);

        struct cw_stream reader = cw_stream_reader(exact, size);
        for (uint32_t i = 0; i < count; i++) {
            const struct operation expected = operation_decoded(&operations[i]);
            struct operation read = operation_without_value(&operations[i]);
            assert_true(operation_run(&reader, &read));
            assert_true(operation_same_value(&read, &expected));
        }
        assert_int_equal(cw_stream_position(&reader), written);
        free(exact);
    }
}

/* The same streams are one byte short: somewhere writer and reader must fail, and stay so. */
TEST(test_a_stream_one_byte_short_fails)
{
    for (int round = 0; round < 2000; round++) {
        struct operation operations[MOST_OPERATIONS];
        uint8_t roomy[4096];
        struct cw_stream writer = cw_stream_writer(roomy, sizeof roomy);
        for (int i = 0; i < MOST_OPERATIONS; i++) {
            operations[i] = random_operation();
            operation_run(&writer, &operations[i]);
        }
        const size_t size = cw_stream_flush(&writer);
        if (size == 0)
            continue;
        uint8_t *exact = malloc(size - 1);
        struct cw_stream short_writer = cw_stream_writer(exact, size - 1);
        for (int i = 0; i < MOST_OPERATIONS; i++)
            operation_run(&short_writer, &operations[i]);
        assert_true(cw_stream_failed(&short_writer));
        assert_int_equal(cw_stream_flush(&short_writer), 0);

        if (size > 1)
            memcpy(exact, roomy, size - 1);
        struct cw_stream reader = cw_stream_reader(exact, size - 1);
        bool done = true;
        for (int i = 0; i < MOST_OPERATIONS; i++) {
            struct operation read = operation_without_value(&operations[i]);
            done = operation_run(&reader, &read);
        }
        assert_true(cw_stream_failed(&reader));
        assert_false(done);
        free(exact);
    }
}

TEST(test_random_bytes_are_read_within_their_ranges)
{
    for (int round = 0; round < 20000; round++) {
        const size_t size = random_number() % 48;
        uint8_t *bytes = malloc(size);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)random_number();
        struct cw_stream reader = cw_stream_reader(bytes, size);
        for (int i = 0; i < MOST_OPERATIONS; i++) {
            const struct operation limits = random_operation();
            struct operation o = operation_without_value(&limits);
            if (!operation_run(&reader, &o))
                break;
            if (o.kind == OPERATION_INT || o.kind == OPERATION_INT_64)
                assert_true((int64_t)o.value >= (int64_t)o.min &&
                            (int64_t)o.value <= (int64_t)o.max);
            if (o.kind == OPERATION_UINT || o.kind == OPERATION_UINT_64)
                assert_true(o.value >= o.min && o.value <= o.max);
            if (o.kind == OPERATION_RELATIVE)
                assert_true(o.value > o.min);
            if (o.kind == OPERATION_RELATIVE_SEQUENCE)
                assert_true(o.value != o.min);
            if (o.kind == OPERATION_STRING)
                assert_true(o.value < o.min && cw_text_valid((char *)o.data, o.value));
        }
        free(bytes);
    }
}

static bool write_one(struct operation o)
{
    uint8_t out[64];
    struct cw_stream writer = cw_stream_writer(out, sizeof out);
    struct cw_stream measurer = cw_stream_measurer();
    const bool written = operation_run(&writer, &o);
    assert_int_equal(operation_run(&measurer, &o), written);
    assert_int_equal(cw_stream_failed(&writer), !written);
    assert_int_equal(cw_stream_failed(&measurer), !written);
    return written;
}

TEST(test_writer_and_measurer_refuse_values_out_of_range)
{
    const uint64_t minus_1 = UINT64_MAX;
    assert_true(write_one((struct operation){OPERATION_INT, minus_1, minus_1, 5, 0, {0}}));
    assert_true(write_one((struct operation){OPERATION_INT, 5, minus_1, 5, 0, {0}}));
    assert_false(write_one((struct operation){OPERATION_INT, 6, minus_1, 5, 0, {0}}));
    assert_false(write_one((struct operation){OPERATION_INT, minus_1 - 1, minus_1, 5, 0, {0}}));
    assert_false(write_one((struct operation){OPERATION_INT, 1, 0, 0, 0, {0}}));
    assert_false(write_one((struct operation){OPERATION_UINT, 4, 5, 9, 0, {0}}));
    assert_false(write_one((struct operation){OPERATION_INT_64, 6, minus_1, 5, 0, {0}}));
    assert_false(write_one((struct operation){OPERATION_UINT_64, 0, 1, minus_1, 0, {0}}));
    assert_false(write_one((struct operation){OPERATION_BITS, 8, 3, 0, 0, {0}}));
    assert_false(write_one((struct operation){OPERATION_BITS, (uint64_t)1 << 40, 40, 0, 0, {0}}));
    assert_false(write_one((struct operation){OPERATION_BITS, (uint64_t)1 << 32, 7, 0, 0, {0}}));
    assert_false(write_one((struct operation){OPERATION_RELATIVE, 7, 7, 0, 0, {0}}));
    assert_false(write_one((struct operation){OPERATION_RELATIVE, 6, 7, 0, 0, {0}}));
    assert_false(write_one((struct operation){OPERATION_RELATIVE_SEQUENCE, 7, 7, 0, 0, {0}}));
    assert_true(write_one((struct operation){OPERATION_STRING, 0, 4, 0, 0, "abc"}));
    assert_false(write_one((struct operation){OPERATION_STRING, 0, 3, 0, 0, "abc"}));
    assert_false(write_one((struct operation){OPERATION_STRING, 0, 0, 0, 0, ""}));
    assert_false(write_one((struct operation){OPERATION_STRING, 0, 9, 0, 0, "\xed\xa0\x80"}));
}

TEST(test_a_number_with_one_value_takes_no_bits_but_remembers_a_failure)
{
    uint8_t out[1];
    int32_t value = -7;
    struct cw_stream stream = cw_stream_writer(out, 0);
    assert_true(cw_stream_int(&stream, &value, -7, -7));
    assert_int_equal(cw_stream_position(&stream), 0);
    cw_stream_fail(&stream);
    assert_false(cw_stream_int(&stream, &value, -7, -7));
    stream = cw_stream_reader(out, 0);
    value = 0;
    assert_true(cw_stream_int(&stream, &value, -7, -7));
    assert_int_equal(value, -7);
    cw_stream_fail(&stream);
    assert_false(cw_stream_int(&stream, &value, -7, -7));
}

static float through(float value, float min, float max, float resolution)
{
    uint8_t out[4];
    struct cw_stream stream = cw_stream_writer(out, sizeof out);
    assert_true(cw_stream_compressed_float(&stream, &value, min, max, resolution));
    stream = cw_stream_reader(out, cw_stream_flush(&stream));
    assert_true(cw_stream_compressed_float(&stream, &value, min, max, resolution));
    return value;
}

TEST(test_a_compressed_float_takes_any_value)
{
    assert_true(through(NAN, -1, 1, 0.5f) == -1);
    assert_true(through(INFINITY, -1, 1, 0.5f) == 1);
    assert_true(through(-INFINITY, -1, 1, 0.5f) == -1);
    assert_true(through(0.24f, -1, 1, 0.5f) == 0);
    assert_true(through(0.26f, -1, 1, 0.5f) == 0.5f);
    /* Here 1 * steps + 0.5 rounds to a step that does not exist. */
    assert_true(through(8388609, 0, 8388609, 1) == 8388609);
}

TEST(test_a_sequence_number_a_lap_ahead_is_refused)
{
    uint8_t out[8];
    uint32_t far = 10 + 65536;
    uint16_t sequence = 0;
    struct cw_stream stream = cw_stream_writer(out, sizeof out);
    assert_true(cw_stream_relative(&stream, 10, &far));
    stream = cw_stream_reader(out, cw_stream_flush(&stream));
    assert_false(cw_stream_relative_sequence(&stream, 10, &sequence));
    far = 9 + 65536;
    stream = cw_stream_writer(out, sizeof out);
    assert_true(cw_stream_relative(&stream, 10, &far));
    stream = cw_stream_reader(out, cw_stream_flush(&stream));
    assert_true(cw_stream_relative_sequence(&stream, 10, &sequence));
    assert_int_equal(sequence, 9);
}

TEST(test_only_utf8_without_a_nul_is_text)
{
    static const char *const valid[] = {
        "",
        "abc",
        "\xc2\x80",
        "\xdf\xbf",
        "\xe0\xa0\x80",
        "\xed\x9f\xbf",
        "\xee\x80\x80",
        "\xef\xbf\xbf",
        "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf",
    };
    static const char *const invalid[] = {
        "\x80",
        "a\xff",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc3",
        "\xc3(",
        "\xe0\x9f\xbf",
        "\xed\xa0\x80",
        "\xe2\x82",
        "\xe2\x82(",
        "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xf0\x90\x80",
    };
    for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++)
        assert_true(cw_text_valid(valid[i], strlen(valid[i])));
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++)
        assert_false(cw_text_valid(invalid[i], strlen(invalid[i])));
    assert_false(cw_text_valid("a\0b", 3));
    assert_false(cw_text_valid("", 1));
}

TEST(test_a_relative_number_must_grow)
{
    for (uint32_t absolute = 999; absolute <= 1001; absolute++) {
        uint8_t out[8];
        uint32_t tiers = 0, number = absolute, current = 0;
        struct cw_stream stream = cw_stream_writer(out, sizeof out);
        assert_true(cw_stream_bits(&stream, &tiers, 6));
        assert_true(cw_stream_bits(&stream, &number, 32));
        stream = cw_stream_reader(out, cw_stream_flush(&stream));
        assert_int_equal(cw_stream_relative(&stream, 1000, &current), absolute > 1000);
    }
}

struct mixed {
    bool has_target;
    uint32_t target;
    uint32_t count;
    int32_t items[4];
    char name[8];
};

/* A function as a game would write it: an optional field, an array, a refusal of its own. */
CW_SERIALIZE(serialize_mixed, struct mixed, stream, mixed)
{
    if (!cw_stream_bool(stream, &mixed->has_target) ||
        (mixed->has_target && !cw_stream_bits(stream, &mixed->target, 12)) ||
        !cw_stream_count(stream, &mixed->count, 4))
        return false;
    for (uint32_t i = 0; i < mixed->count; i++)
        if (!cw_stream_int(stream, &mixed->items[i], -100, 100))
            return false;
    if (mixed->count == 3)
        return cw_stream_fail(stream);
    return cw_stream_string(stream, mixed->name, sizeof mixed->name);
}

TEST(test_one_function_serves_every_mode)
{
    struct mixed sent = {true, 4095, 2, {-100, 100}, "bob"}, received = {0};
    uint8_t out[16];
    struct cw_stream writer = cw_stream_writer(out, sizeof out);
    assert_true(serialize_mixed(&writer, &sent));
    /* The bits are 1 + 12, 3, 2 * 8, 3 for the length, 5 of padding, and 3 bytes. */
    assert_int_equal(cw_stream_position(&writer), 64);
    struct cw_stream measurer = cw_stream_measurer();
    assert_true(serialize_mixed(&measurer, &sent));
    assert_int_equal(cw_stream_position(&measurer), 64 - 5 + 7);
    struct cw_stream reader = cw_stream_reader(out, cw_stream_flush(&writer));
    assert_true(serialize_mixed(&reader, &received));
    assert_int_equal(reader.mode, CW_STREAM_READ);
    assert_memory_equal(&sent, &received, sizeof sent);

    sent.count = 3;
    writer = cw_stream_writer(out, sizeof out);
    assert_false(serialize_mixed(&writer, &sent));
    assert_true(cw_stream_failed(&writer));
    sent.count = 5;
    measurer = cw_stream_measurer();
    assert_false(serialize_mixed(&measurer, &sent));
}

TEST(test_golden)
{
    struct golden golden = golden_open(CAUSEWAY_GOLDEN "/serialize.txt", 10);
    const uint64_t before = seed;
    seed = 20;
    for (int line = 0; line < 200; line++) {
        char name[16384] = "";
        size_t used = 0;
        uint8_t out[4096];
        struct cw_stream writer = cw_stream_writer(out, sizeof out);
        const uint32_t count = 1 + random_number() % 8;
        for (uint32_t i = 0; i < count; i++) {
            struct operation o = random_operation();
            assert_true(operation_run(&writer, &o));
            used += operation_print(name + used, sizeof name - used, &o);
        }
        assert_true(golden_bytes(&golden, name, out, cw_stream_flush(&writer)));
    }
    seed = before;
    assert_true(golden_close(&golden));
}
