/* The choice of the offer that goes when too many wait. */
#include "fixture.h"

#include "rtc/half_open.h"

#include <stdio.h>
#include <stdlib.h>

static void enter(struct half_open *set, struct half_open_entry *entry, unsigned address)
{
    char text[64];
    struct socket_address client;
    bool has_port;
    snprintf(text, sizeof text, "10.%u.%u.%u", address >> 16, address >> 8 & 255, address & 255);
    assert_true(socket_address_parse(text, &client, &has_port));
    assert_true(half_open_enter(set, entry, &client));
}

static void leave_all(struct half_open *set, struct half_open_entry *entries, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        half_open_leave(set, &entries[i]);
    half_open_destroy(set);
    free(entries);
}

TEST(the_oldest_of_the_address_with_most_goes)
{
    const unsigned count = HALF_OPEN_MAX + 3;
    struct half_open *set = half_open_create(0);
    struct half_open_entry *entries = calloc(count, sizeof *entries);
    assert_non_null(set);
    assert_non_null(entries);
    /* Enters one honest offer, then those of 25 addresses; the seventh has two more. */
    enter(set, &entries[0], 1000);
    for (unsigned i = 1; i < HALF_OPEN_MAX; i++)
        enter(set, &entries[i], i % 25);
    assert_null(half_open_surplus(set, 0.0));
    for (unsigned i = HALF_OPEN_MAX; i < count; i++)
        enter(set, &entries[i], 7);
    assert_ptr_equal(half_open_surplus(set, 0.0), &entries[7]);
    half_open_leave(set, &entries[7]);
    assert_false(half_open_has(&entries[7]));
    assert_ptr_equal(half_open_surplus(set, 0.0), &entries[32]);
    half_open_leave(set, &entries[32]);
    assert_non_null(half_open_surplus(set, 0.0));
    half_open_leave(set, half_open_surplus(set, 0.0));
    assert_null(half_open_surplus(set, 0.0));
    assert_true(half_open_has(&entries[0]));
    leave_all(set, entries, count);
    half_open_destroy(NULL);
}

TEST(handshakes_make_room_for_handshakes)
{
    const unsigned first = 100;
    const unsigned count = first + HALF_OPEN_HANDSHAKES + 1;
    struct half_open *set = half_open_create(0);
    struct half_open_entry *entries = calloc(count, sizeof *entries);
    assert_non_null(entries);
    for (unsigned i = 0; i < count; i++) {
        enter(set, &entries[i], i < first ? 0 : i % 50);
        if (i >= first) {
            assert_true(half_open_shake_hands(set, &entries[i], 1.0));
            assert_false(half_open_shake_hands(set, &entries[i], 2.0));
        }
    }
    /* Address 0 has most offers, but the handshakes of its first ones have not begun. */
    assert_ptr_equal(half_open_surplus(set, 1.0), &entries[first]);
    half_open_leave(set, &entries[first]);
    assert_null(half_open_surplus(set, 1.0));
    assert_false(half_open_shake_hands(set, &entries[first], 1.0));
    assert_null(half_open_surplus(set, 1.0));
    leave_all(set, entries, count);
}

TEST(players_who_come_back_together_have_time)
{
    struct half_open *set = half_open_create(0);
    struct half_open_entry *entries = calloc(HALF_OPEN_HANDSHAKES_MAX + 1, sizeof *entries);
    assert_non_null(entries);
    for (unsigned i = 0; i < HALF_OPEN_HANDSHAKES_MAX; i++) {
        enter(set, &entries[i], i / HALF_OPEN_FEW);
        half_open_shake_hands(set, &entries[i], i * 0.001);
        assert_null(half_open_surplus(set, 1.1));
    }
    /* An offer goes when its time is over, or when there are too many. */
    assert_ptr_equal(half_open_surplus(set, HALF_OPEN_SECONDS + 0.0005), &entries[0]);
    half_open_leave(set, &entries[0]);
    assert_null(half_open_surplus(set, HALF_OPEN_SECONDS + 0.0005));
    enter(set, &entries[0], 1000);
    half_open_shake_hands(set, &entries[0], 1.1);
    enter(set, &entries[HALF_OPEN_HANDSHAKES_MAX], 1001);
    half_open_shake_hands(set, &entries[HALF_OPEN_HANDSHAKES_MAX], 1.1);
    assert_ptr_equal(half_open_surplus(set, 1.1), &entries[1]);
    half_open_leave(set, &entries[1]);
    /* An address with more than a few offers loses one at once. */
    for (unsigned i = 1; i < HALF_OPEN_FEW + 1; i++) {
        half_open_leave(set, &entries[i]);
        enter(set, &entries[i], 1001);
        half_open_shake_hands(set, &entries[i], 1.1);
    }
    assert_ptr_equal(half_open_surplus(set, 1.1), &entries[HALF_OPEN_HANDSHAKES_MAX]);
    leave_all(set, entries, HALF_OPEN_HANDSHAKES_MAX + 1);
}

TEST(an_address_has_its_number)
{
    struct half_open *set = half_open_create(2);
    struct half_open_entry entries[3];
    struct socket_address client;
    bool has_port;
    assert_true(socket_address_parse("10.0.0.1", &client, &has_port));
    assert_true(half_open_enter(set, &entries[0], &client));
    assert_true(half_open_enter(set, &entries[1], &client));
    assert_false(half_open_enter(set, &entries[2], &client));
    assert_false(half_open_has(&entries[2]));
    half_open_leave(set, &entries[0]);
    assert_true(half_open_enter(set, &entries[2], &client));
    half_open_leave(set, &entries[1]);
    half_open_leave(set, &entries[2]);
    half_open_leave(set, &entries[2]);
    half_open_destroy(set);
}
