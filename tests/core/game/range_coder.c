/* Tests of the range coder: what is written is read again, in as few bytes as it should take, in
   any buffer, and hostile bytes do no harm. */
#include "base/range_coder.h"

#include "base/prng.h"
#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OPERATIONS 3000

/* The models of a stream. */
struct models {
    struct cw_range_model bits[8];
    struct cw_range_model tree[32];
    struct cw_range_model number[12], other[12];
};

static struct models fresh(void)
{
    struct models models;
    for (size_t i = 0; i < 8; i++)
        models.bits[i] = cw_range_model_begin(i % 2 ? 32768 : 1000, (uint8_t)(4 * i));
    for (size_t i = 0; i < 32; i++)
        models.tree[i] = cw_range_model_begin(32768, 0);
    for (size_t i = 0; i < 12; i++)
        models.number[i] = cw_range_model_begin(40000, 4);
    for (size_t i = 0; i < 12; i++)
        models.other[i] = cw_range_model_begin(32768, 0);
    return models;
}

/* Codes one value, of a different kind each turn. */
static bool code(struct cw_range_coder *coder, struct models *models, uint32_t kind,
                 uint32_t *value)
{
    bool bit = *value & 1;
    switch (kind % 4) {
    case 0: {
        const bool done = cw_range_bit(coder, &models->bits[kind % 8], &bit);
        *value = bit;
        return done;
    }
    case 1:
        return cw_range_bits(coder, value, kind % 33);
    case 2:
        return cw_range_tree(coder, models->tree, 5, value);
    default:
        return cw_range_number(coder, models->number, models->other, 12, value);
    }
}

static uint32_t random_value(struct cw_prng *random, uint32_t kind)
{
    const uint64_t bits = cw_prng_bits(random);
    switch (kind % 4) {
    case 0:
        return bits % 16 == 0;
    case 1:
        return kind % 33 == 0 ? 0 : (uint32_t)bits >> (32 - kind % 33);
    case 2:
        return bits % 32;
    default:
        return (uint32_t)bits >> bits % 7 * 5;
    }
}

TEST(what_is_written_is_read)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint8_t *const bytes = malloc(OPERATIONS * 5);
        uint32_t values[OPERATIONS];
        struct cw_prng random = {seed};
        const uint32_t count = cw_prng_below(&random, OPERATIONS);
        struct models models = fresh();
        struct cw_range_coder writer = cw_range_writer(bytes, OPERATIONS * 5);
        for (uint32_t i = 0; i < count; i++) {
            values[i] = random_value(&random, i);
            uint32_t value = values[i];
            assert_true(code(&writer, &models, i, &value));
            assert_int_equal(value, values[i]);
        }
        const size_t size = cw_range_finish(&writer);
        assert_true(size > 0);
        /* The block has exactly its size, so that a sanitizer sees a read beyond it. */
        uint8_t *const exact = realloc(bytes, size);
        models = fresh();
        struct cw_range_coder reader = cw_range_reader(exact, size);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t value = 0;
            assert_false(count > 20 && cw_range_ended(&reader) && i < count / 2);
            assert_true(code(&reader, &models, i, &value));
            assert_int_equal(value, values[i]);
        }
        assert_true(cw_range_ended(&reader));
        free(exact);
    }
}

/* The bytes are the same on every machine, now and later. */
TEST(bytes_are_these)
{
    uint8_t bytes[64];
    struct models models = fresh();
    struct cw_range_coder writer = cw_range_writer(bytes, sizeof bytes);
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t value = i % 4 == 0 ? i / 4 % 2 : i * 2654435761u >> (32 - i % 4);
        assert_true(code(&writer, &models, i == 1 ? 5 : i, &value));
    }
    const uint8_t expected[] = {0x13, 0x72, 0xb4, 0x25, 0xe0, 0x4f, 0xb6, 0xb1, 0x37};
    assert_int_equal(cw_range_finish(&writer), sizeof expected);
    assert_memory_equal(bytes, expected, sizeof expected);
}

/* A row of 0xff waits for a carry, which comes. */
TEST(a_carry_goes_through_all_bytes)
{
    uint8_t bytes[64];
    for (uint32_t length = 1; length < 40; length++) {
        struct cw_range_coder writer = cw_range_writer(bytes, sizeof bytes);
        struct cw_range_model models[2] = {cw_range_model_begin(65535, 30),
                                           cw_range_model_begin(65535, 30)};
        uint32_t most = 255;
        bool rare = false;
        for (uint32_t i = 0; i < length; i++)
            assert_true(cw_range_bits(&writer, &most, 8));
        assert_true(cw_range_bit(&writer, &models[0], &rare));
        assert_true(cw_range_bit(&writer, &models[1], &rare));
        const size_t size = cw_range_finish(&writer);
        struct cw_range_coder reader = cw_range_reader(bytes, size);
        models[0] = models[1] = cw_range_model_begin(65535, 30);
        for (uint32_t i = 0; i < length; i++) {
            assert_true(cw_range_bits(&reader, &most, 8));
            assert_int_equal(most, 255);
        }
        rare = true;
        assert_true(cw_range_bit(&reader, &models[0], &rare) && !rare);
        assert_true(cw_range_bit(&reader, &models[1], &rare) && !rare);
        assert_true(cw_range_ended(&reader));
    }
}

/* 10,000 bits, each set with a chance of 1 in 20, hold about 2,860 bits of information; learning
   the chance costs some more. */
TEST(likely_bits_cost_little)
{
    static uint8_t bytes[4096];
    struct cw_prng random = {1};
    struct cw_range_model model = cw_range_model_begin(32768, 0);
    struct cw_range_coder writer = cw_range_writer(bytes, sizeof bytes);
    double news = 0;
    for (int i = 0; i < 10000; i++) {
        bool bit = cw_prng_chance(&random, 0.05);
        news -= log2(bit ? 0.05 : 0.95);
        assert_true(cw_range_bit(&writer, &model, &bit));
    }
    assert_true((double)cw_range_finish(&writer) * 8 < news * 1.06);
}

TEST(a_full_buffer_fails_cleanly)
{
    for (size_t capacity = 0; capacity < 200; capacity++) {
        uint8_t *const bytes = malloc(capacity + 1);
        struct cw_prng random = {capacity};
        struct models models = fresh();
        struct cw_range_coder writer = cw_range_writer(bytes, capacity);
        bytes[capacity] = 0xa5;
        uint32_t i = 0;
        for (; i < OPERATIONS; i++) {
            uint32_t value = random_value(&random, i);
            if (!code(&writer, &models, i, &value))
                break;
        }
        assert_true(i < OPERATIONS);
        uint32_t value = 1;
        assert_false(cw_range_bits(&writer, &value, 0));
        assert_int_equal(cw_range_finish(&writer), 0);
        assert_int_equal(bytes[capacity], 0xa5);
        free(bytes);
    }
}

/* Hostile bytes are read to their end, then no more: reading ends soon. */
TEST(hostile_bytes_do_no_harm)
{
    struct cw_prng random = {1};
    for (int round = 0; round < 2000; round++) {
        const size_t size = cw_prng_below(&random, 80);
        uint8_t *const bytes = malloc(size > 0 ? size : 1);
        const uint8_t fill = round % 4 == 0 ? 0xff : 0;
        for (size_t i = 0; i < size; i++)
            bytes[i] = round % 4 < 2 ? fill : (uint8_t)cw_prng_bits(&random);
        struct models models = fresh();
        struct cw_range_coder reader = cw_range_reader(bytes, size);
        uint32_t i = 0;
        for (; i < 100000; i++) {
            uint32_t value = 0;
            if (!code(&reader, &models, i, &value))
                break;
            assert_true(i % 4 != 2 || value < 32);
        }
        assert_true(i < 100000);
        assert_false(cw_range_ended(&reader));
        uint32_t value = 7;
        assert_false(cw_range_bits(&reader, &value, 3));
        free(bytes);
    }
}

/* One byte less or more is noticed. */
TEST(the_size_is_exact)
{
    uint8_t bytes[128] = {0};
    struct cw_range_coder writer = cw_range_writer(bytes, sizeof bytes);
    for (uint32_t i = 0; i < 50; i++) {
        uint32_t value = i * 5;
        assert_true(cw_range_bits(&writer, &value, 8));
    }
    const size_t size = cw_range_finish(&writer);
    assert_int_equal(size, 51);
    for (int off = -1; off <= 1; off++) {
        struct cw_range_coder reader = cw_range_reader(bytes, size + (size_t)off);
        bool done = true;
        for (uint32_t i = 0; i < 50 && done; i++) {
            uint32_t value;
            done = cw_range_bits(&reader, &value, 8);
        }
        assert_int_equal(done && cw_range_ended(&reader), off == 0);
    }
}
