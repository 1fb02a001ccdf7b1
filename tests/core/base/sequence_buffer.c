#include "base/sequence_buffer.h"

#include "fixture.h"

#include <stdlib.h>

static uint32_t entries[CW_SEQUENCE_BUFFER_MAX_SIZE];

static struct cw_sequence_buffer buffer_of(uint32_t size)
{
    static uint32_t sequences[CW_SEQUENCE_BUFFER_MAX_SIZE];
    struct cw_sequence_buffer buffer = {.sequences = sequences, .mask = size - 1};
    cw_sequence_buffer_reset(&buffer);
    return buffer;
}

/* Stores the number as owners of a buffer do. Returns its entry, or NULL when it is stale. */
static uint32_t *insert(struct cw_sequence_buffer *buffer, uint16_t sequence)
{
    const uint32_t slot = sequence & buffer->mask;
    if (cw_sequence_buffer_stale(buffer, sequence))
        return NULL;
    cw_sequence_buffer_advance(buffer, sequence);
    buffer->sequences[slot] = sequence;
    return &entries[slot];
}

static void put(struct cw_sequence_buffer *buffer, uint16_t sequence)
{
    uint32_t *entry = insert(buffer, sequence);
    assert_non_null(entry);
    *entry = sequence * 3u;
}

static void assert_holds(const struct cw_sequence_buffer *buffer, uint16_t sequence)
{
    assert_true(cw_sequence_buffer_exists(buffer, sequence));
    assert_int_equal(entries[sequence & buffer->mask], sequence * 3u);
}

TEST(test_every_size_takes_number_after_number)
{
    for (uint32_t size = 1; size <= CW_SEQUENCE_BUFFER_MAX_SIZE; size *= 2) {
        struct cw_sequence_buffer buffer = buffer_of(size);
        for (uint32_t s = 0; s < 3 * 65536; s++) {
            put(&buffer, (uint16_t)s);
            assert_holds(&buffer, (uint16_t)(s < size ? 0 : s - size + 1));
        }
    }
}

TEST(test_finds_what_was_inserted_and_nothing_else)
{
    struct cw_sequence_buffer buffer = buffer_of(64);
    for (uint32_t s = 0; s < 65536; s++)
        assert_false(cw_sequence_buffer_exists(&buffer, (uint16_t)s));
    for (uint16_t s = 0; s < 64; s++)
        put(&buffer, s);
    for (uint16_t s = 0; s < 64; s++)
        assert_holds(&buffer, s);
    assert_false(cw_sequence_buffer_exists(&buffer, 74)); /* 10 has the same slot */
}

TEST(test_an_insert_of_a_stale_number_is_refused)
{
    struct cw_sequence_buffer buffer = buffer_of(64);
    put(&buffer, 100);
    put(&buffer, 37);
    assert_null(insert(&buffer, 36));
    assert_null(insert(&buffer, 65535));
    assert_int_equal(buffer.next, 101);
    assert_holds(&buffer, 37);
}

TEST(test_advance_clears_what_it_passes)
{
    struct cw_sequence_buffer buffer = buffer_of(64);
    for (uint16_t s = 0; s < 64; s++)
        put(&buffer, s);
    put(&buffer, 79); /* passes the slots of 0 to 15 */
    for (uint16_t s = 0; s < 16; s++)
        assert_false(cw_sequence_buffer_exists(&buffer, s));
    for (uint16_t s = 16; s < 64; s++)
        assert_holds(&buffer, s);
    for (uint16_t s = 64; s < 79; s++)
        assert_false(cw_sequence_buffer_exists(&buffer, s));
}

TEST(test_advance_further_than_the_size_clears_all)
{
    struct cw_sequence_buffer buffer = buffer_of(64);
    for (uint16_t s = 0; s < 64; s++)
        put(&buffer, s);
    put(&buffer, 64 * 5 + 7);
    uint32_t stored = 0;
    for (uint32_t s = 0; s < 65536; s++)
        stored += cw_sequence_buffer_exists(&buffer, (uint16_t)s);
    assert_int_equal(stored, 1);
}

/* The buffer does what a plain model does, over many laps, with jumps of all sizes. */
TEST(test_matches_a_model_over_many_laps)
{
    struct cw_sequence_buffer buffer = buffer_of(128);
    static int64_t model[128];
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
        uint32_t *entry = insert(&buffer, (uint16_t)sequence);
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
}
