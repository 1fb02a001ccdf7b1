/* Tests of the header of packet notification, its numbers and histories. */
#include "protocols/notify_internal.h"

#include "fixture.h"

#include <stdlib.h>
#include <string.h>

TEST(the_words_are_as_the_text_says)
{
    struct cw_notify_header header = {
        .sequence = 0x2345, .acked = 0x1abc, .words = 2, .history = {{0x80000001, 0x01020304, 7}}};
    /* The first word is 0x2345 << 18 | 0x1abc << 4 | 1. */
    const uint8_t expected[] = {0xc1, 0xab, 0x15, 0x8d, 1, 0, 0, 0x80, 4, 3, 2, 1};
    uint8_t out[CW_NOTIFY_HEADER_SIZE];
    assert_int_equal(cw_notify_header_write(&header, out), sizeof expected);
    assert_memory_equal(out, expected, sizeof expected);

    struct cw_notify_header read;
    assert_int_equal(cw_notify_header_read(out, sizeof expected, &read), sizeof expected);
    header.history.words[2] = 0; /* the second word is the last one written */
    assert_memory_equal(&read, &header, sizeof read);
}

TEST(the_longest_header_has_eight_words)
{
    struct cw_notify_header header = {.sequence = 16383, .acked = 16383, .words = 8};
    uint8_t out[4 + 16 * 4] = {0};
    assert_int_equal(cw_notify_header_write(&header, out), CW_NOTIFY_HEADER_SIZE);
    assert_int_equal(cw_notify_header_read(out, sizeof out, &header), CW_NOTIFY_HEADER_SIZE);
    assert_int_equal(header.words, 8);
    for (uint8_t words = 8; words < 16; words++) {
        out[0] = (uint8_t)(0xf0 | words);
        assert_int_equal(cw_notify_header_read(out, sizeof out, &header), 0);
    }
}

TEST(a_short_header_is_none)
{
    for (size_t size = 1; size < 12; size++) {
        uint8_t *exact = calloc(1, size);
        struct cw_notify_header header;
        exact[0] = 1; /* the header claims two words */
        assert_int_equal(cw_notify_header_read(exact, size, &header), 0);
        free(exact);
    }
}

TEST(a_history_moves_with_the_newest)
{
    for (uint32_t step = 1; step <= 300; step++) {
        struct cw_notify_history history = {{0}};
        history.words[0] = 5; /* bits of the newest, and the second before it */
        cw_notify_history_advance(&history, step);
        for (uint32_t age = 0; age < CW_NOTIFY_HISTORY; age++)
            assert_int_equal(cw_notify_history_has(&history, age), age == step || age == step + 2);
        assert_false(cw_notify_history_has(&history, CW_NOTIFY_HISTORY));
    }
}

TEST(numbers_wrap_at_fourteen_bits)
{
    assert_int_equal(cw_notify_ahead(3, 16380), 7);
    assert_int_equal(cw_notify_ahead(16380, 3), 16377);
    assert_int_equal(cw_notify_after(16383, 1), 0);
    assert_int_equal(cw_notify_after(0, -1), 16383);
    assert_true(cw_notify_newer(0, 16383));
    assert_false(cw_notify_newer(16383, 0));
    assert_false(cw_notify_newer(7, 7));
    assert_true(cw_notify_newer(8191, 0));
    assert_false(cw_notify_newer(8192, 0)); /* half the round */
    assert_false(cw_notify_newer(0, 8192));
}
