#include "base/sequence_buffer.h"

#include "fixture.h"

#include <stdlib.h>

static const struct cw_allocator heap = {0};

static void put(struct cw_sequence_buffer *buffer, uint16_t sequence)
{
    uint32_t *entry = cw_sequence_buffer_insert(buffer, sequence);
    assert_non_null(entry);
    *entry = sequence * 3u;
}

static void assert_holds(const struct cw_sequence_buffer *buffer, uint16_t sequence)
{
    const uint32_t *entry = cw_sequence_buffer_find(buffer, sequence);
    assert_non_null(entry);
    assert_int_equal(*entry, sequence * 3u);
}

TEST(test_sizes_that_do_not_divide_65536_are_refused)
{
    struct cw_sequence_buffer buffer;
    const uint32_t bad[] = {0, 3, 100, 255, 257, 32768, 65536, 1u << 31, UINT32_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(cw_sequence_buffer_create(bad[i], 4, &heap, &buffer),
                         CW_ERROR_INVALID_ARGUMENT);
        assert_int_equal(cw_sequence_buffer_memory(bad[i], 4), 0);
    }
}

TEST(test_every_size_takes_number_after_number)
{
    for (uint32_t size = 1; size <= CW_SEQUENCE_BUFFER_MAX_SIZE; size *= 2) {
        struct cw_sequence_buffer buffer;
        assert_int_equal(cw_sequence_buffer_create(size, 4, &heap, &buffer), CW_OK);
        for (uint32_t s = 0; s < 3 * 65536; s++) {
            put(&buffer, (uint16_t)s);
            assert_holds(&buffer, (uint16_t)(s < size ? 0 : s - size + 1));
        }
        cw_sequence_buffer_destroy(&buffer);
    }
}

TEST(test_finds_what_was_inserted_and_nothing_else)
{
    struct cw_sequence_buffer buffer;
    assert_int_equal(cw_sequence_buffer_create(64, 4, &heap, &buffer), CW_OK);
    for (uint32_t s = 0; s < 65536; s++)
        assert_null(cw_sequence_buffer_find(&buffer, (uint16_t)s));
    for (uint16_t s = 0; s < 64; s++)
        put(&buffer, s);
    for (uint16_t s = 0; s < 64; s++)
        assert_holds(&buffer, s);
    cw_sequence_buffer_remove(&buffer, 10);
    cw_sequence_buffer_remove(&buffer, 74); /* 74 has the same slot, and is not stored */
    assert_false(cw_sequence_buffer_exists(&buffer, 10));
    assert_true(cw_sequence_buffer_exists(&buffer, 11));
    cw_sequence_buffer_destroy(&buffer);
}

TEST(test_an_insert_of_a_stale_number_is_refused)
{
    struct cw_sequence_buffer buffer;
    assert_int_equal(cw_sequence_buffer_create(64, 4, &heap, &buffer), CW_OK);
    put(&buffer, 100);
    put(&buffer, 37);
    assert_null(cw_sequence_buffer_insert(&buffer, 36));
    assert_null(cw_sequence_buffer_insert(&buffer, 65535));
    assert_int_equal(buffer.next, 101);
    assert_holds(&buffer, 37);
    cw_sequence_buffer_destroy(&buffer);
}

TEST(test_advance_clears_what_it_passes)
{
    struct cw_sequence_buffer buffer;
    assert_int_equal(cw_sequence_buffer_create(64, 4, &heap, &buffer), CW_OK);
    for (uint16_t s = 0; s < 64; s++)
        put(&buffer, s);
    put(&buffer, 79); /* passes the slots of 0 to 15 */
    for (uint16_t s = 0; s < 16; s++)
        assert_false(cw_sequence_buffer_exists(&buffer, s));
    for (uint16_t s = 16; s < 64; s++)
        assert_holds(&buffer, s);
    for (uint16_t s = 64; s < 79; s++)
        assert_false(cw_sequence_buffer_exists(&buffer, s));
    cw_sequence_buffer_destroy(&buffer);
}

TEST(test_advance_further_than_the_size_clears_all)
{
    struct cw_sequence_buffer buffer;
    assert_int_equal(cw_sequence_buffer_create(64, 4, &heap, &buffer), CW_OK);
    for (uint16_t s = 0; s < 64; s++)
        put(&buffer, s);
    put(&buffer, 64 * 5 + 7);
    uint32_t stored = 0;
    for (uint32_t s = 0; s < 65536; s++)
        stored += cw_sequence_buffer_exists(&buffer, (uint16_t)s);
    assert_int_equal(stored, 1);
    cw_sequence_buffer_destroy(&buffer);
}

/* The buffer does what a plain model does, over many laps, with jumps of all sizes. */
TEST(test_matches_a_model_over_many_laps)
{
    struct cw_sequence_buffer buffer;
    static int64_t model[128];
    assert_int_equal(cw_sequence_buffer_create(128, 4, &heap, &buffer), CW_OK);
    for (size_t i = 0; i < 128; i++)
        model[i] = -1;
    int64_t next = 0;
    srand(7);
    for (int round = 0; round < 200000; round++) {
        int64_t sequence = next - 160 + rand() % 200;
        if (rand() % 1000 == 0)
            sequence = next + rand() % 20000;
        if (sequence < 0)
            continue;
        uint32_t *entry = cw_sequence_buffer_insert(&buffer, (uint16_t)sequence);
        assert_int_equal(entry != NULL, sequence >= next - 128);
        if (!entry)
            continue;
        *entry = (uint16_t)sequence * 3u;
        if (sequence >= next)
            next = sequence + 1;
        model[sequence % 128] = sequence;
        for (int64_t s = next - 128 < 0 ? 0 : next - 128; s < next; s++) {
            const bool expected = model[s % 128] == s;
            assert_int_equal(cw_sequence_buffer_exists(&buffer, (uint16_t)s), expected);
        }
    }
    assert_true(next > 10 * 65536);
    cw_sequence_buffer_destroy(&buffer);
}
