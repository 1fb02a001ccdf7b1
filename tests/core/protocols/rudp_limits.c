/* Tests of the limits of the request-based protocol: windows, ids of 16 bits, bytes that make no
   sense. */
#include "rudp_rig.h"

TEST(a_sender_keeps_only_so_many)
{
    struct cw_rudp *rudp = rudp_make_small();
    for (unsigned i = 0; i < 32; i++)
        assert_ok(rudp_send_byte(rudp, i));
    assert_int_equal(rudp_send_byte(rudp, 32), CW_PROTOCOL_ERROR_QUEUE_FULL);
    rudp_play(rudp, "@1");
    uint8_t out[604];
    assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), 32 * 4);
    /* The packages have gone out, but still take room, since they may be asked for. */
    assert_int_equal(rudp_send_byte(rudp, 32), CW_PROTOCOL_ERROR_QUEUE_FULL);
    rudp_play(rudp, "@9");
    assert_int_equal(rudp_send_byte(rudp, 32), CW_PROTOCOL_ERROR_QUEUE_FULL);
    rudp_play(rudp, "=00 @1 +20 =05002020");
}

TEST(requests_beyond_the_window_come_again)
{
    struct cw_rudp *rudp = rudp_make_small();
    uint8_t out[604];
    for (unsigned round = 0; round < 2; round++) {
        rudp_play(rudp, "@10");
        for (unsigned i = 0; i < 32; i++)
            assert_ok(rudp_send_byte(rudp, i));
        assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), 32 * 4);
    }
    /* These 40 requests come at once. The first 32 are answered; their packages have expired. */
    for (unsigned i = 0; i < 40; i++)
        assert_ok(rudp_give_bytes(rudp, (uint8_t[]){2, 0, (uint8_t)i}, 3));
    rudp_play(rudp, "@1");
    assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), 32 * 3);
    for (unsigned i = 0; i < 32; i++)
        assert_memory_equal(out + (size_t)(3 * i), ((uint8_t[]){3, 0, (uint8_t)i}), 3);
    rudp_play(rudp, "= >00");
}

TEST(a_receiver_holds_only_so_many)
{
    struct cw_rudp *rudp = rudp_make_small();
    uint8_t out[604];
    /* Package 32 fits, counted from 0; 33 does not, but shows that all before it exist. */
    rudp_play(rudp, "<050000b0 0:b0 <050020c0050021c1");
    assert_int_equal(rudp_stats(rudp).packages_received, 2);
    assert_int_equal(rudp_stats(rudp).packages_dropped, 1);
    rudp_play(rudp, "@1");
    assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), 31 * 3);
    /* Only packages that could be kept are asked for. */
    rudp_play(rudp, "<00 @1");
    assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), 31 * 3);
    for (unsigned i = 1; i < 32; i++)
        assert_ok(rudp_give_bytes(rudp, (uint8_t[]){5, 0, (uint8_t)i, (uint8_t)i}, 4));
    for (unsigned i = 1; i < 32; i++)
        rudp_expect_package(rudp, i, i);
    rudp_play(rudp, "32:c0 . >020021"); /* asks for the one without room */
}

TEST(ids_far_ahead_do_not_move_the_stream)
{
    static const char *const far_ahead[] = {"<053fff01", "<037fff", "<05bfff01", "<03ffff",
                                            "<053fff01"};
    struct cw_rudp *rudp = rudp_make_small();
    for (size_t i = 0; i < sizeof far_ahead / sizeof *far_ahead; i++)
        rudp_play(rudp, far_ahead[i]);
    rudp_play(rudp, "<050000b0050001b1 0:b0 1:b1");
}

TEST(a_slow_reader_loses_nothing)
{
    struct cw_rudp_config config = cw_rudp_config_default();
    config.receive_window = 32;
    struct cw_rudp *from = rudp_make(&config), *to = rudp_make(&config);
    uint8_t out[512];
    size_t size;
    unsigned taken = 0;
    for (unsigned tick = 0; taken < 200; tick++) {
        assert_true(tick < 1000);
        if (tick < 200)
            assert_ok(rudp_send_byte(from, tick));
        rudp_play(from, "@1");
        rudp_play(to, "@1");
        while ((size = cw_rudp_transmit(from, out, sizeof out)) > 0)
            assert_ok(rudp_give_bytes(to, out, size));
        while ((size = cw_rudp_transmit(to, out, sizeof out)) > 0)
            assert_ok(rudp_give_bytes(from, out, size));
        if (tick % 64 == 63) /* the application sleeps for two windows */
            for (unsigned i = 0; i < 32 && taken < 200; i++, taken++)
                rudp_expect_package(to, taken, taken);
    }
    assert_int_equal(rudp_stats(to).packages_missing, 0);
    assert_true(rudp_stats(to).packages_dropped > 0);
}

/* Passes a round of one end to the other, or loses it. */
static void pass(struct cw_rudp *from, struct cw_rudp *to, bool lost)
{
    uint8_t out[604];
    size_t size;
    rudp_play(from, "@1");
    while ((size = cw_rudp_transmit(from, out, sizeof out)) > 0)
        if (!lost)
            assert_ok(rudp_give_bytes(to, out, size));
}

TEST(ids_are_widened_across_their_wrap)
{
    struct cw_rudp *from = rudp_make_small(), *to = rudp_make_small();
    uint64_t taken = 0;
    for (uint64_t id = 0; id < 200000; id++) {
        assert_ok(rudp_send_byte(from, id % 251));
        pass(from, to, id % 3 == 1);
        pass(to, from, id % 7 == 1);
        for (; taken <= id && id % 3 != 1; taken++) {
            uint64_t missing;
            if (cw_rudp_waiting(to, &missing))
                break;
            rudp_expect_package(to, taken, taken % 251);
        }
    }
    assert_true(taken > 199990);
}

TEST(missing_ones_are_widened_as_well)
{
    struct cw_rudp *rudp = rudp_make_small();
    for (uint64_t id = 0; id <= 65540; id++) {
        const uint8_t data[] = {5, (uint8_t)(id >> 8), (uint8_t)id, (uint8_t)id};
        assert_ok(rudp_give_bytes(rudp, data, sizeof data));
        rudp_expect_package(rudp, id, id);
    }
    rudp_play(rudp, "<030005 65541?");
}

/* The id in a request is one of the sender's own. A peer that widens it against the packages that
   it received stalls, as soon as the two ends have not sent about as much as each other. */
TEST(requests_are_widened_against_the_senders_own_counter)
{
    struct cw_rudp *busy = rudp_make_small(), *quiet = rudp_make_small();
    struct cw_rudp_event event;
    uint64_t sent[2] = {0}, taken[2] = {0};
    for (unsigned tick = 0; tick < 90000; tick++) {
        assert_ok(rudp_send_byte(busy, sent[0]++ % 251));
        if (tick % 64 == 0)
            assert_ok(rudp_send_byte(quiet, sent[1]++ % 251));
        pass(busy, quiet, tick % 5 == 2);
        pass(quiet, busy, tick % 64 == 0); /* loses the first copy of each package */
        for (; cw_rudp_next(quiet, &event); taken[0]++)
            assert_true(event.type == CW_RUDP_EVENT_PACKAGE && event.data[0] == taken[0] % 251);
        for (; cw_rudp_next(busy, &event); taken[1]++)
            assert_true(event.type == CW_RUDP_EVENT_PACKAGE && event.data[0] == taken[1] % 251);
        assert_true(sent[0] - taken[0] < 10 && sent[1] - taken[1] < 2);
    }
}

TEST(a_malformed_datagram_is_not_used_and_the_other_end_is_told)
{
    static const char *const malformed[] = {
        "!02",
        "!0200", /* the id is cut off */
        "!03",
        "!0300",
        "!04",
        "!0400",
        "!050000", /* the data is cut off, too */
        "!ff",
        "!80",
        "!8080",
        "!808000",             /* too long a tag */
        "!80050000aa",         /* a tag longer than needed */
        "!fe000000aa",         /* a size beyond the datagram */
        "!050000aa050001",     /* a good package before the bad one */
        "!0001020000030000ff", /* good items of all sorts before it */
    };
    struct cw_rudp *rudp = rudp_make_small();
    rudp_play(rudp, "+09 >05000009");
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        rudp_play(rudp, malformed[i]);
        rudp_play(rudp, ". >01");
        assert_int_equal(rudp_stats(rudp).datagrams_malformed, i + 1);
    }
    rudp_play(rudp, ">00"); /* the error is told only once */
    /* The news comes last, because other peers read nothing behind it. */
    rudp_play(rudp, "!ff +08 >0500010801 <"); /* some peers send empty datagrams */
    rudp_play(rudp, ">00");
}

TEST(a_package_above_the_agreed_size_is_malformed)
{
    struct cw_rudp *rudp = rudp_make_small();
    uint8_t data[605] = {0x82, 0x5d}; /* a tag of 601 + 4 */
    assert_int_equal(rudp_give_bytes(rudp, data, 605), CW_PROTOCOL_ERROR_MALFORMED);
    rudp_play(rudp, ".");
    data[1] = 0x5c;
    assert_ok(rudp_give_bytes(rudp, data, 604));
    struct cw_rudp_event event;
    assert_true(cw_rudp_next(rudp, &event));
    assert_int_equal(event.size, 600);
}

TEST(what_the_other_end_calls_corrupt_is_told)
{
    struct cw_rudp *rudp = rudp_make_small();
    rudp_play(rudp, "<050000b001 corrupt 0:b0 . >00"); /* the error is not told back */
}

TEST(a_round_goes_on_over_several_datagrams)
{
    struct cw_rudp_config config = cw_rudp_config_default();
    struct cw_rudp *rudp = rudp_make(&config);
    uint8_t out[512];
    static const uint8_t bytes[100];
    for (int i = 0; i < 7; i++)
        assert_ok(cw_rudp_send(rudp, bytes, sizeof bytes));
    rudp_play(rudp, "<0500c8bb"); /* 200 packages are missing before it */
    rudp_play(rudp, "!ff @1");
    assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), 510); /* it has 170 requests */
    assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), 30 * 3 + 4 * 103);
    assert_int_equal(rudp_stats(rudp).requests_sent, 200);
    /* A new round begins before the old one is taken: its rest goes out now. */
    rudp_play(rudp, "@1");
    assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), 510);
    assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), 30 * 3 + 3 * 103 + 1);
    rudp_play(rudp, "=");
    assert_int_equal(rudp_stats(rudp).packages_sent, 7);
    /* The rest of a round has come meanwhile, which is no reason for a heartbeat. */
    rudp_play(rudp, "@1");
    assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), 510);
    for (unsigned i = 170; i < 200; i++)
        assert_ok(rudp_give_bytes(rudp, (uint8_t[]){5, 0, (uint8_t)i, 0}, 4));
    rudp_play(rudp, "=");
}

TEST(reset_forgets_everything)
{
    struct cw_rudp *rudp = rudp_make_small(), *fresh = rudp_make_small();
    rudp_play(rudp, "+01 >05000001 +02 <050000b0050002b2030003020000000100 !ff @1");
    cw_rudp_reset(rudp);
    const struct cw_rudp_stats stats = rudp_stats(rudp), none = rudp_stats(fresh);
    assert_memory_equal(&stats, &none, sizeof stats);
    rudp_play(rudp, "= . >00 +03 >05000003 <050001b1 . >020000");
}
