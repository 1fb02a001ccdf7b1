/* Tests of receipts: the fate of each message is told once, in order, and each has a place from the
   start. */
#include "message/receipts.h"

#include "fixture.h"

#include <stdalign.h>

#define CAPACITY 4

static alignas(max_align_t) uint8_t memory[256];

static struct cw_receipts make_receipts(void)
{
    struct cw_arena arena = {.base = memory, .size = sizeof memory};
    struct cw_receipts receipts = {0};
    cw_receipts_layout(&receipts, &arena, CAPACITY);
    cw_receipts_reset(&receipts);
    return receipts;
}

static void check_next(struct cw_receipts *receipts, uint32_t number, bool acked)
{
    struct cw_receipt receipt;
    assert_true(cw_receipts_next(receipts, &receipt));
    assert_int_equal(receipt.number, number);
    assert_int_equal(receipt.acked, acked);
}

static void check_end(struct cw_receipts *receipts)
{
    struct cw_receipt receipt;
    assert_false(cw_receipts_next(receipts, &receipt));
}

/* Messages that wait, that are on their way, and whose receipts were not taken, each have a place.
 */
TEST(a_place_is_kept_until_the_news_is_taken)
{
    struct cw_receipts receipts = make_receipts();
    cw_receipts_promise(&receipts, 0); /* no receipt takes no place */
    for (uint32_t number = 1; number <= CAPACITY; number++) {
        assert_false(cw_receipts_full(&receipts));
        cw_receipts_promise(&receipts, number);
    }
    assert_true(cw_receipts_full(&receipts));
    cw_receipts_carry(&receipts, 1);
    const uint16_t packet = cw_receipts_packet(&receipts);
    assert_true(cw_receipts_full(&receipts));
    cw_receipts_settle(&receipts, 2, true);
    assert_true(cw_receipts_full(&receipts));
    cw_receipts_settle_packet(&receipts, packet, false);
    assert_true(cw_receipts_full(&receipts));
    check_next(&receipts, 2, true);
    assert_false(cw_receipts_full(&receipts));
    check_next(&receipts, 1, false);
    check_end(&receipts);
}

TEST(a_packet_settles_what_it_carried)
{
    struct cw_receipts receipts = make_receipts();
    for (uint32_t number = 1; number <= CAPACITY; number++)
        cw_receipts_promise(&receipts, number);
    cw_receipts_carry(&receipts, 1);
    cw_receipts_carry(&receipts, 2);
    const uint16_t first = cw_receipts_packet(&receipts);
    assert_int_equal(cw_receipts_packet(&receipts), CW_RECEIPT_NONE);
    cw_receipts_carry(&receipts, 3);
    const uint16_t second = cw_receipts_packet(&receipts);
    check_end(&receipts);
    cw_receipts_settle_packet(&receipts, second, true);
    cw_receipts_settle_packet(&receipts, CW_RECEIPT_NONE, true);
    cw_receipts_settle_packet(&receipts, first, false);
    check_next(&receipts, 3, true);
    check_next(&receipts, 1, false);
    check_next(&receipts, 2, false);
    check_end(&receipts);
}

TEST(places_are_used_again)
{
    struct cw_receipts receipts = make_receipts();
    for (uint32_t number = 1; number < 1000; number += 3) {
        for (uint32_t i = 0; i < 3; i++)
            cw_receipts_promise(&receipts, number + i);
        cw_receipts_carry(&receipts, number);
        cw_receipts_settle(&receipts, number + 1, number % 2);
        cw_receipts_settle_packet(&receipts, cw_receipts_packet(&receipts), true);
        check_next(&receipts, number + 1, number % 2);
        cw_receipts_settle(&receipts, number + 2, false);
        check_next(&receipts, number, true);
        check_next(&receipts, number + 2, false);
        check_end(&receipts);
    }
}

TEST(a_reset_forgets_all)
{
    struct cw_receipts receipts = make_receipts();
    for (uint32_t number = 1; number <= CAPACITY; number++)
        cw_receipts_promise(&receipts, number);
    cw_receipts_carry(&receipts, 1);
    cw_receipts_settle(&receipts, 2, true);
    cw_receipts_reset(&receipts);
    assert_int_equal(cw_receipts_packet(&receipts), CW_RECEIPT_NONE);
    check_end(&receipts);
    for (uint32_t number = 1; number <= CAPACITY; number++) {
        assert_false(cw_receipts_full(&receipts));
        cw_receipts_promise(&receipts, number);
        cw_receipts_settle(&receipts, number, true);
    }
    for (uint32_t number = 1; number <= CAPACITY; number++)
        check_next(&receipts, number, true);
}
