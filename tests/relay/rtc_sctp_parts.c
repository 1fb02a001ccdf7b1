/* The parts of SCTP: checksum, arrived TSNs, outstanding TSNs, reassembly. */
#include "fixture.h"

#include "relay/rtc/crc32c.h"
#include "relay/rtc/outstanding.h"
#include "relay/rtc/sctp_reassembly.h"
#include "relay/rtc/tsn_map.h"

#include <stdlib.h>
#include <string.h>

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

TEST(checksums_are_those_of_the_standard)
{
    /* These sums are from RFC 3720, B.4. */
    uint8_t data[48] = {0};
    assert_int_equal(crc32c(0, data, 32), 0x8a9136aa);
    memset(data, 0xff, 32);
    assert_int_equal(crc32c(0, data, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        data[i] = (uint8_t)i;
    assert_int_equal(crc32c(0, data, 32), 0x46dd794e);
    assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
    static const char digits[] = "123456789";
    for (size_t cut = 0; cut <= 9; cut++)
        assert_int_equal(crc32c(crc32c(0, digits, cut), &digits[cut], 9 - cut), 0xe3069283);
}

/* The map is compared with the plainest one there can be, across the wrap. */
TEST(tsn_map_is_right)
{
    for (uint32_t run = 1; run <= 20; run++) {
        uint32_t seed = run;
        const uint32_t first = 0xffffff00u;
        static bool seen[8192];
        memset(seen, 0, sizeof seen);
        uint32_t cumulative = 0; /* the number of TSNs from the first on that are settled */
        uint32_t highest = 0;
        struct tsn_map map;
        tsn_map_reset(&map, first);
        for (int step = 0; step < 3000; step++) {
            const uint32_t at = cumulative + next_random(&seed) % 40;
            if (next_random(&seed) % 50 == 0) {
                assert_int_equal(tsn_map_forward(&map, first + at - 1), at > cumulative);
                for (uint32_t i = 0; i < at; i++)
                    seen[i] = true;
                highest = at > highest ? at : highest;
            } else {
                assert_int_equal(tsn_map_add(&map, first + at), seen[at] ? TSN_DUPLICATE : TSN_NEW);
                seen[at] = true;
                highest = at + 1 > highest ? at + 1 : highest;
            }
            while (seen[cumulative])
                cumulative++;
            highest = cumulative > highest ? cumulative : highest;
            assert_int_equal(map.cumulative, first + cumulative - 1);
            assert_int_equal(map.highest, first + highest - 1);

            struct tsn_gap gaps[64];
            const size_t count = tsn_map_gaps(&map, gaps, 64);
            bool reported[64] = {false};
            for (size_t i = 0; i < count; i++) {
                assert_true(gaps[i].first >= 2 && gaps[i].last >= gaps[i].first);
                assert_true(i == 0 || gaps[i].first > gaps[i - 1].last + 1);
                for (unsigned j = gaps[i].first; j <= gaps[i].last; j++)
                    reported[j] = true;
            }
            for (uint32_t i = 1; i < 42; i++)
                assert_int_equal(reported[i], seen[cumulative + i - 1]);
            if (cumulative > 8000)
                break;
        }
    }
}

TEST(tsn_map_bounds)
{
    struct tsn_map map;
    tsn_map_reset(&map, 100);
    assert_int_equal(tsn_map_add(&map, 100 + TSN_WINDOW), TSN_TOO_FAR);
    assert_int_equal(tsn_map_add(&map, 99 + TSN_WINDOW), TSN_NEW);
    assert_int_equal(tsn_map_add(&map, 99), TSN_DUPLICATE);
    assert_int_equal(map.cumulative, 99);
    struct tsn_gap gap;
    assert_int_equal(tsn_map_gaps(&map, &gap, 1), 1);
    assert_int_equal(gap.first, TSN_WINDOW);

    /* A jump past everything forgets the TSNs between. */
    assert_true(tsn_map_forward(&map, 99 + 3 * TSN_WINDOW));
    assert_int_equal(map.cumulative, 99 + 3 * TSN_WINDOW);
    assert_int_equal(tsn_map_add(&map, 99 + 4 * TSN_WINDOW), TSN_NEW);
    assert_int_equal(tsn_map_add(&map, 99 + 2 * TSN_WINDOW), TSN_DUPLICATE);
    assert_false(tsn_map_forward(&map, 99 + 3 * TSN_WINDOW));
}

TEST(outstanding_counts_the_flight)
{
    struct outstanding out;
    outstanding_reset(&out, 0xfffffffe);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(outstanding_send(&out, 100), 0xfffffffe + i);
    assert_int_equal(out.flight, 1000);
    assert_true(outstanding_acknowledge(&out, 0, NULL, 0, out.next));
    assert_int_equal(out.flight, 700);
    assert_false(outstanding_must_forward(&out));

    /* 1 is missing; 2 and 3 have come: it is too early to give 1 up. */
    const struct tsn_gap near = {2, 3};
    assert_true(outstanding_acknowledge(&out, 0, &near, 1, out.next));
    assert_int_equal(out.flight, 500);
    assert_false(outstanding_must_forward(&out));
    assert_true(outstanding_in_flight(&out, 1));

    const struct tsn_gap far = {2, 4};
    assert_true(outstanding_acknowledge(&out, 0, &far, 1, out.next));
    assert_true(outstanding_must_forward(&out));
    assert_int_equal(out.abandoned, 4); /* it goes on over those that have come */
    assert_int_equal(out.given_up, 1);
    assert_int_equal(out.flight, 300);
    assert_true(outstanding_acknowledge(&out, 4, NULL, 0, out.next));
    assert_false(outstanding_must_forward(&out));
    assert_true(outstanding_acknowledge(&out, 7, NULL, 0, out.next));
    assert_int_equal(out.flight, 0);
}

TEST(outstanding_keeps_what_must_arrive)
{
    struct outstanding out;
    outstanding_reset(&out, 1);
    for (int i = 0; i < 10; i++)
        outstanding_send(&out, 10);
    const struct tsn_gap gap = {4, 10};
    assert_true(outstanding_acknowledge(&out, 0, &gap, 1, 2));
    assert_int_equal(out.abandoned, 1); /* 2 is kept, and therefore 3 */
    outstanding_abandon(&out, 2);
    assert_int_equal(out.abandoned, 1);
    assert_true(outstanding_in_flight(&out, 2));
    outstanding_abandon(&out, 11);
    assert_int_equal(out.abandoned, 10);
    assert_int_equal(out.flight, 0);
}

TEST(outstanding_refuses_what_makes_no_sense)
{
    struct outstanding out;
    outstanding_reset(&out, 1);
    for (int i = 0; i < 10; i++)
        outstanding_send(&out, 10);
    assert_false(outstanding_acknowledge(&out, 11, NULL, 0, out.next));
    const struct tsn_gap bad[] = {{1, 2}, {3, 2}, {2, 11}, {0, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(outstanding_acknowledge(&out, 0, &bad[i], 1, out.next));
    struct tsn_gap many[100];
    for (size_t i = 0; i < 100; i++)
        many[i] = (struct tsn_gap){2, 10};
    assert_false(outstanding_acknowledge(&out, 0, many, 100, out.next));
    assert_int_equal(out.flight, 100);

    /* An acknowledgement that was overtaken changes nothing. */
    assert_true(outstanding_acknowledge(&out, 5, NULL, 0, out.next));
    assert_true(outstanding_acknowledge(&out, 3, NULL, 0, out.next));
    assert_int_equal(out.acknowledged, 5);
}

TEST(outstanding_is_bounded)
{
    struct outstanding out;
    outstanding_reset(&out, 7);
    int sent = 0;
    while (outstanding_has_room(&out, 1)) {
        outstanding_send(&out, 1);
        sent++;
    }
    assert_int_equal(sent, OUTSTANDING_MAX);
    outstanding_abandon(&out, out.next);
    assert_false(outstanding_has_room(&out, 1)); /* the other side still has to agree */
    assert_true(outstanding_acknowledge(&out, 7 + OUTSTANDING_MAX - 1, NULL, 0, out.next));
    assert_true(outstanding_has_room(&out, 1));
}

struct sample {
    uint8_t data[2000];
    size_t size;
    bool too_long;
};

static size_t add(struct reassembly *reassembly, struct sample *sample, uint32_t tsn,
                  const char *text, bool begins, bool ends)
{
    const struct fragment fragment = {.tsn = tsn,
                                      .stream = 1,
                                      .size = (uint16_t)strlen(text),
                                      .begins = begins,
                                      .ends = ends,
                                      .data = (uint8_t *)(uintptr_t)text};
    return sample->size =
               reassembly_add(reassembly, &fragment, sample->data, 1400, &sample->too_long);
}

TEST(reassembly_in_every_order)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const char *const parts[] = {"one ", "two ", "three"};
    for (size_t i = 0; i < 6; i++) {
        struct reassembly reassembly = {0};
        struct sample sample;
        for (int j = 0; j < 3; j++) {
            const int part = orders[i][j];
            const size_t size = add(&reassembly, &sample, 0xffffffffu + (uint32_t)part, parts[part],
                                    part == 0, part == 2);
            assert_int_equal(size, j == 2 ? 13 : 0);
        }
        assert_memory_equal(sample.data, "one two three", 13);
        assert_int_equal(reassembly.count, 0);
        assert_int_equal(reassembly.bytes, 0);
    }
}

TEST(reassembly_does_not_mix_messages)
{
    struct reassembly reassembly = {0};
    struct sample sample;
    /* The end of one message and the beginning of the next lie side by side. */
    assert_int_equal(add(&reassembly, &sample, 11, "B", false, true), 0);
    assert_int_equal(add(&reassembly, &sample, 12, "c", true, false), 0);
    assert_int_equal(add(&reassembly, &sample, 10, "a", true, false), 2);
    assert_memory_equal(sample.data, "aB", 2);
    assert_int_equal(reassembly.count, 1);
    reassembly_forward(&reassembly, 11);
    assert_int_equal(reassembly.count, 1);
    reassembly_forward(&reassembly, 12);
    assert_int_equal(reassembly.count, 0);
    /* A hole between parts is not jumped. */
    assert_int_equal(add(&reassembly, &sample, 20, "a", true, false), 0);
    assert_int_equal(add(&reassembly, &sample, 22, "b", false, true), 0);
    reassembly_clear(&reassembly);
}

TEST(reassembly_is_bounded)
{
    struct reassembly reassembly = {0};
    struct sample sample;
    char text[1001];
    memset(text, 'x', 1000);
    text[1000] = '\0';
    for (uint32_t tsn = 0; tsn < 1000; tsn++) {
        add(&reassembly, &sample, tsn * 2, text, true, false);
        assert_true(reassembly.bytes <= REASSEMBLY_BYTES);
    }
    assert_int_equal(reassembly.count, REASSEMBLY_BYTES / 1000);
    for (uint32_t tsn = 0; tsn < 1000; tsn++) {
        add(&reassembly, &sample, 4000 + tsn * 2, "y", true, false);
        assert_true(reassembly.count <= REASSEMBLY_FRAGMENTS);
    }
    assert_true(reassembly.evicted > 1900);
    /* The message whose other part is there still completes. */
    assert_int_equal(add(&reassembly, &sample, 4000 + 999 * 2 + 1, "z", false, true), 2);
    reassembly_clear(&reassembly);

    /* A message that is longer than the buffer is dropped whole. */
    assert_int_equal(add(&reassembly, &sample, 0, text, true, false), 0);
    assert_int_equal(add(&reassembly, &sample, 1, text, false, true), 0);
    assert_true(sample.too_long);
    assert_int_equal(reassembly.count, 0);
}
