/* Tests of the bit reader and writer against a plain model, on blocks of exactly their size. */
#include "causeway/bits.h"
#include "base/bits_ahead.h"

#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t seed = 1;

static uint32_t random_number(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

BEFORE_EACH_TEST
{
    printf("seed %llu\n", (unsigned long long)seed);
}

static uint32_t random_bits(unsigned bits)
{
    return (uint32_t)(random_number() & (((uint64_t)1 << bits) - 1));
}

/* Sets one bit after the other, as slowly and plainly as can be. */
static void set_bits(uint8_t *bytes, size_t at, uint32_t value, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++, at++)
        bytes[at / 8] |= (uint8_t)((value >> i & 1) << at % 8);
}

TEST(test_bits_fill_bytes_from_the_low_end)
{
    uint8_t out[6];
    struct cw_bit_writer writer = cw_bit_writer_begin(out, sizeof out);
    assert_true(cw_bit_writer_bits(&writer, 1, 1));
    assert_true(cw_bit_writer_bits(&writer, 5, 4));
    assert_true(cw_bit_writer_bits(&writer, 0x12345678, 32));
    assert_int_equal(cw_bit_writer_position(&writer), 37);
    assert_int_equal(cw_bit_writer_flush(&writer), 5);
    const uint8_t expected[] = {0x0b, 0xcf, 0x8a, 0x46, 0x02};
    assert_memory_equal(out, expected, sizeof expected);
}

TEST(test_required_bits)
{
    assert_int_equal(cw_bits_required(0), 0);
    assert_int_equal(cw_bits_required(1), 1);
    assert_int_equal(cw_bits_required(2), 2);
    assert_int_equal(cw_bits_required(255), 8);
    assert_int_equal(cw_bits_required(256), 9);
    assert_int_equal(cw_bits_required(UINT32_MAX), 32);
    assert_int_equal(cw_bits_required_64(0), 0);
    assert_int_equal(cw_bits_required_64(UINT32_MAX), 32);
    assert_int_equal(cw_bits_required_64((uint64_t)1 << 32), 33);
    assert_int_equal(cw_bits_required_64(UINT64_MAX), 64);
    for (unsigned bit = 0; bit < 64; bit++) {
        assert_int_equal(cw_lowest_bit((uint64_t)1 << bit), bit);
        assert_int_equal(cw_lowest_bit(UINT64_MAX << bit), bit);
    }
}

/* Random groups go into a buffer of every small size: each is taken exactly as long as it fits, and
   what was taken is there. */
TEST(test_the_writer_uses_its_capacity_to_the_last_bit)
{
    for (int round = 0; round < 20000; round++) {
        const size_t capacity = random_number() % 14;
        uint8_t *out = malloc(capacity), model[14] = {0};
        struct cw_bit_writer writer = cw_bit_writer_begin(out, capacity);
        size_t at = 0;
        for (;;) {
            const unsigned bits = 1 + random_number() % 32;
            const uint32_t value = random_bits(bits);
            const bool fits = at + bits <= capacity * 8;
            assert_int_equal(cw_bit_writer_bits(&writer, value, bits), fits);
            if (!fits)
                break;
            set_bits(model, at, value, bits);
            at += bits;
            assert_int_equal(cw_bit_writer_position(&writer), at);
            assert_int_equal(cw_bit_writer_flush(&writer), (at + 7) / 8);
            assert_memory_equal(out, model, (at + 7) / 8);
        }
        assert_true(writer.failed);
        assert_int_equal(cw_bit_writer_flush(&writer), 0);
        free(out);
    }
}

TEST(test_the_reader_uses_its_size_to_the_last_bit)
{
    for (int round = 0; round < 20000; round++) {
        const size_t size = random_number() % 14;
        uint8_t *in = malloc(size), model[18] = {0};
        for (size_t i = 0; i < size; i++)
            in[i] = (uint8_t)random_number();
        if (size > 0)
            memcpy(model, in, size);
        struct cw_bit_reader reader = cw_bit_reader_begin(in, size);
        size_t at = 0;
        for (;;) {
            const unsigned bits = 1 + random_number() % 32;
            uint32_t value = 0xabcdef01, expected = 0;
            const bool fits = at + bits <= size * 8;
            assert_int_equal(cw_bit_reader_bits(&reader, bits, &value), fits);
            if (!fits) {
                assert_int_equal(value, 0xabcdef01);
                break;
            }
            for (unsigned i = 0; i < bits; i++, at++)
                expected |= (uint32_t)(model[at / 8] >> at % 8 & 1) << i;
            assert_int_equal(value, expected);
            assert_int_equal(cw_bit_reader_position(&reader), at);
        }
        assert_true(reader.failed);
        free(in);
    }
}

TEST(test_bytes_come_aligned_after_any_number_of_bits)
{
    for (unsigned before = 0; before < 100; before++) {
        for (size_t count = 0; count < 12; count++) {
            const size_t size = (before + 7) / 8 + count + 1;
            uint8_t *block = malloc(size), bytes[12], read[12];
            for (size_t i = 0; i < sizeof bytes; i++)
                bytes[i] = (uint8_t)random_number();
            struct cw_bit_writer writer = cw_bit_writer_begin(block, size);
            for (unsigned i = 0; i < before; i++)
                assert_true(cw_bit_writer_bits(&writer, 1, 1));
            assert_true(cw_bit_writer_bytes(&writer, bytes, count));
            assert_int_equal(cw_bit_writer_position(&writer), (size - 1) * 8);
            assert_true(cw_bit_writer_bits(&writer, 0x5a, 8));
            assert_int_equal(cw_bit_writer_flush(&writer), size);
            assert_false(cw_bit_writer_bits(&writer, 0, 1));
            assert_memory_equal(block + (before + 7) / 8, bytes, count);
            assert_int_equal(block[size - 1], 0x5a);

            struct cw_bit_reader reader = cw_bit_reader_begin(block, size);
            uint32_t value;
            for (unsigned i = 0; i < before; i++)
                assert_true(cw_bit_reader_bits(&reader, 1, &value));
            assert_true(cw_bit_reader_bytes(&reader, read, count));
            assert_memory_equal(read, bytes, count);
            assert_int_equal(cw_bit_reader_position(&reader), (size - 1) * 8);

            const uint8_t *borrowed;
            reader = cw_bit_reader_begin(block, size);
            for (unsigned i = 0; i < before; i++)
                assert_true(cw_bit_reader_bits(&reader, 1, &value));
            assert_true(cw_bit_reader_borrow(&reader, count, &borrowed));
            assert_ptr_equal(borrowed, block + (before + 7) / 8);
            assert_true(cw_bit_reader_bits(&reader, 8, &value));
            assert_int_equal(value, 0x5a);
            assert_false(cw_bit_reader_bits(&reader, 1, &value));
            free(block);
        }
    }
}

TEST(test_bytes_that_do_not_fit_are_refused)
{
    uint8_t *block = calloc(1, 4), bytes[5] = {0};
    struct cw_bit_writer writer = cw_bit_writer_begin(block, 4);
    assert_false(cw_bit_writer_bytes(&writer, bytes, 5));
    writer = cw_bit_writer_begin(block, 4);
    assert_true(cw_bit_writer_bits(&writer, 1, 1));
    assert_false(cw_bit_writer_bytes(&writer, bytes, 4));
    writer = cw_bit_writer_begin(block, 4);
    assert_false(cw_bit_writer_bytes(&writer, bytes, SIZE_MAX));

    struct cw_bit_reader reader = cw_bit_reader_begin(block, 4);
    assert_false(cw_bit_reader_bytes(&reader, bytes, 5));
    reader = cw_bit_reader_begin(block, 4);
    uint32_t value;
    assert_true(cw_bit_reader_bits(&reader, 1, &value));
    assert_false(cw_bit_reader_bytes(&reader, bytes, 4));
    reader = cw_bit_reader_begin(block, 4);
    assert_false(cw_bit_reader_bytes(&reader, bytes, SIZE_MAX));
    free(block);
}

TEST(test_a_value_with_more_bits_is_refused)
{
    uint8_t out[8];
    struct cw_bit_writer writer = cw_bit_writer_begin(out, sizeof out);
    assert_true(cw_bit_writer_bits(&writer, 7, 3));
    assert_false(cw_bit_writer_bits(&writer, 8, 3));
    assert_int_equal(cw_bit_writer_flush(&writer), 0);
}

TEST(test_a_failure_stays)
{
    uint8_t block[16] = {0}, bytes[1];
    uint32_t value;
    struct cw_bit_writer writer = cw_bit_writer_begin(block, sizeof block);
    cw_bit_writer_fail(&writer);
    assert_false(cw_bit_writer_bits(&writer, 0, 1));
    assert_false(cw_bit_writer_bits(&writer, 0, 32));
    assert_false(cw_bit_writer_align(&writer));
    assert_false(cw_bit_writer_bytes(&writer, bytes, 0));
    assert_int_equal(cw_bit_writer_flush(&writer), 0);

    struct cw_bit_reader reader = cw_bit_reader_begin(block, sizeof block);
    cw_bit_reader_fail(&reader);
    assert_false(cw_bit_reader_bits(&reader, 1, &value));
    assert_false(cw_bit_reader_bits(&reader, 32, &value));
    assert_false(cw_bit_reader_align(&reader));
    assert_false(cw_bit_reader_bytes(&reader, bytes, 0));
}

TEST(test_the_reader_wants_zeros_as_padding)
{
    for (unsigned before = 1; before < 8; before++) {
        for (unsigned bad = before; bad <= 8; bad++) {
            const uint8_t block[2] = {(uint8_t)(bad < 8 ? 1u << bad : 0), 0xff};
            struct cw_bit_reader reader = cw_bit_reader_begin(block, sizeof block);
            uint32_t value;
            assert_true(cw_bit_reader_bits(&reader, before, &value));
            assert_int_equal(cw_bit_reader_align(&reader), bad == 8);
            assert_int_equal(cw_bit_reader_bits(&reader, 8, &value), bad == 8);
        }
    }
}

TEST(test_writing_goes_on_after_a_flush)
{
    uint8_t out[3] = {0xff, 0xff, 0xff};
    struct cw_bit_writer writer = cw_bit_writer_begin(out, sizeof out);
    assert_true(cw_bit_writer_bits(&writer, 5, 3));
    assert_int_equal(cw_bit_writer_flush(&writer), 1);
    assert_int_equal(out[0], 0x05);
    assert_int_equal(out[1], 0xff);
    assert_true(cw_bit_writer_bits(&writer, 0x1ff, 9));
    assert_int_equal(cw_bit_writer_flush(&writer), 2);
    assert_int_equal(out[0], 0xfd);
    assert_int_equal(out[1], 0x0f);
    assert_int_equal(out[2], 0xff);
}

TEST(test_the_measurer_counts_seven_bits_per_alignment)
{
    struct cw_bit_measurer measurer = {0, false};
    assert_true(cw_bit_measurer_bits(&measurer, 3));
    assert_true(cw_bit_measurer_align(&measurer));
    assert_true(cw_bit_measurer_bytes(&measurer, 10));
    assert_int_equal(measurer.bits, 3 + 7 + 7 + 80);
}

/* Any mixture of reading, and of loading ahead and taking, gives the same bits and the same end. */
TEST(test_bits_loaded_ahead_are_those_that_are_read)
{
    for (int round = 0; round < 20000; round++) {
        const size_t size = random_number() % 20;
        uint8_t *const bytes = malloc(size + 1);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)random_number();
        struct cw_bit_reader plain = cw_bit_reader_begin(bytes, size),
                             ahead = cw_bit_reader_begin(bytes, size);
        for (bool done = true; done;) {
            const unsigned bits = 1 + random_number() % 32;
            uint32_t expected = 0, value = 0;
            done = cw_bit_reader_bits(&plain, bits, &expected);
            if (random_number() % 2) {
                cw_bit_reader_settle(&ahead);
                assert_int_equal(cw_bit_reader_bits(&ahead, bits, &value), done);
            } else {
                cw_bit_reader_fill(&ahead);
                value = (uint32_t)(ahead.scratch & (((uint64_t)1 << bits) - 1));
                assert_int_equal(cw_bit_reader_skip(&ahead, bits), done);
            }
            assert_true(!done || value == expected);
            assert_int_equal(cw_bit_reader_position(&ahead), cw_bit_reader_position(&plain));
        }
        assert_true(ahead.failed && plain.failed);
        assert_false(cw_bit_reader_skip(&ahead, 1));
        free(bytes);
    }
}
