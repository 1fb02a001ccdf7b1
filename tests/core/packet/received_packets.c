/* Tests of which packets have arrived, and what headers tell of them. */
#include "packet/received_packets.h"

#include "base/prng.h"
#include "fixture.h"

#include <string.h>

static void open_window(struct cw_received_packets *received)
{
    static uint32_t sequences[64];
    memset(received, 0, sizeof *received);
    received->window = (struct cw_sequence_buffer){.sequences = sequences, .mask = 63};
    cw_received_packets_reset(received);
}

static void add(struct cw_received_packets *received, uint16_t sequence)
{
    cw_received_packets_advance(received, sequence);
    cw_received_packets_accept(received, sequence);
}

/* The history does what a plain model does, over laps of the numbers, with gaps, late packets and
   leaps. */
TEST(the_history_matches_a_model)
{
    struct cw_received_packets received;
    struct cw_prng random = {5};
    static bool arrived[400000];
    int64_t newest = -1;
    open_window(&received);
    for (int round = 0; round < 100000; round++) {
        int64_t sequence = newest + 1 + cw_prng_below(&random, 3);
        if (cw_prng_chance(&random, 0.3))
            sequence = newest - cw_prng_below(&random, 60);
        if (cw_prng_chance(&random, 0.001))
            sequence = newest + 100;
        if (sequence < 0)
            continue;
        add(&received, (uint16_t)sequence);
        arrived[sequence] = true;
        newest = sequence > newest ? sequence : newest;
        uint32_t bits, expected = 0;
        for (int64_t i = 0; i < 32 && i <= newest; i++)
            expected |= (uint32_t)arrived[newest - i] << i;
        assert_int_equal(cw_received_packets_tell(&received, false, &bits), (uint16_t)newest);
        assert_int_equal(bits, expected);
    }
    assert_true(newest > 65536 && newest < 400000);
}

/* When more packets have arrived than a header has room for, each is in one of the headers. */
TEST(headers_in_turn_leave_nothing_out)
{
    struct cw_received_packets received;
    open_window(&received);
    for (uint16_t i = 0; i < 60; i++)
        if (i % 7 != 0)
            add(&received, i);
    bool acked[80] = {false};
    for (int header = 0; header < 3; header++) {
        uint32_t bits;
        const uint16_t ack = cw_received_packets_tell(&received, true, &bits);
        assert_true(header == 2 ? ack == 69 : ack < 69);
        for (uint16_t i = 0; i < 32 && i <= ack; i++)
            acked[ack - i] |= bits >> i & 1;
        for (uint16_t i = 60; i < 70 && header == 0; i++)
            add(&received, i);
    }
    for (uint16_t i = 0; i < 60; i++)
        assert_int_equal(acked[i], i % 7 != 0);
}

TEST(what_is_passed_by_is_not_told_in_turn)
{
    struct cw_received_packets received;
    uint32_t bits;
    open_window(&received);
    for (uint16_t i = 0; i < 60; i++)
        add(&received, i);
    cw_received_packets_pass_by(&received);
    assert_int_equal(cw_received_packets_tell(&received, true, &bits), 59);
}

/* A missing packet is named with each of the three that follow it, then no longer. */
TEST(what_the_other_end_waits_for)
{
    struct cw_received_packets received;
    uint32_t bits;
    open_window(&received);
    for (uint16_t i = 0; i < 31; i++) {
        add(&received, i);
        assert_false(cw_received_packets_urgent(&received));
    }
    add(&received, 31);
    assert_true(cw_received_packets_urgent(&received));
    cw_received_packets_tell(&received, true, &bits);
    assert_false(cw_received_packets_urgent(&received));
    for (uint16_t i = 33; i < 38; i++) { /* 32 does not arrive */
        add(&received, i);
        assert_int_equal(cw_received_packets_urgent(&received), i < 36);
        cw_received_packets_tell(&received, true, &bits);
        assert_false(cw_received_packets_urgent(&received));
    }
}
