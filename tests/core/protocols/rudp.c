/* The rules of the request-based protocol, one by one: how an end is made, when it sends, what the
   sender keeps and the receiver asks for. */
#include "counted.h"
#include "rudp_rig.h"

TEST(a_config_is_checked)
{
    const struct {
        uint32_t send_window, receive_window, expiry_ticks, max_package_size;
        const char *error_field;
    } cases[] = {
        {32, 64, 1, CW_RUDP_MAX_SIZE, NULL},
        {32, 16384, 1, 0, NULL},
        {16384, 32, 1, 0, NULL},
        {0, 32, 1, 1, "send_window"},
        {16, 32, 1, 1, "send_window"},
        {32, 0, 1, 1, "receive_window"},
        {32, 33, 1, 1, "receive_window"},
        {32, 32768, 1, 1, "receive_window"},
        {32, 32, 0, 1, "expiry_ticks"},
        {32, 32, 1, CW_RUDP_MAX_SIZE + 1, "max_package_size"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_rudp_config config = cw_rudp_config_default();
        struct cw_rudp *rudp = NULL;
        config.send_window = cases[i].send_window;
        config.receive_window = cases[i].receive_window;
        config.expiry_ticks = cases[i].expiry_ticks;
        config.max_package_size = cases[i].max_package_size;
        const char *const field = cw_rudp_config_error_field(&config);
        const bool good = !cases[i].error_field;
        assert_true(good ? !field : field && strcmp(field, cases[i].error_field) == 0);
        assert_int_equal(cw_rudp_memory(&config) > 0, good);
        assert_int_equal(cw_rudp_create(&config, &rudp),
                         good ? CW_PROTOCOL_OK : CW_PROTOCOL_ERROR_CONFIG);
        assert_int_equal(rudp != NULL, good);
        cw_rudp_destroy(rudp);
    }
}

TEST(one_allocation_is_made)
{
    assert_one_allocation(rudp, cw_rudp_config_default(), CW_PROTOCOL_ERROR_NO_MEMORY);
}

TEST(a_round_gathers_the_packages_of_some_ticks)
{
    struct cw_rudp_config config = cw_rudp_config_default();
    config.send_delay_ticks = 3;
    struct cw_rudp *rudp = rudp_make(&config);
    for (unsigned tick = 0; tick < 2; tick++) {
        assert_int_equal(rudp_send_byte(rudp, 0xa0 + tick), CW_PROTOCOL_OK);
        cw_rudp_update(rudp, 1);
        rudp_expect(rudp, "");
    }
    for (int i = 0; i < 9; i++) { /* these add nothing to the time */
        cw_rudp_update(rudp, 0);
        rudp_expect(rudp, "");
    }
    assert_int_equal(rudp_stats(rudp).packages_queued, 2);
    cw_rudp_update(rudp, 1);
    rudp_expect(rudp, "050000a0050001a1");
    rudp_expect(rudp, "");
    assert_int_equal(rudp_stats(rudp).packages_queued, 0);
    assert_int_equal(rudp_stats(rudp).packages_sent, 2);
    cw_rudp_update(rudp, 2);
    rudp_expect(rudp, "");
    cw_rudp_update(rudp, 7); /* one round, however many ticks */
    rudp_expect(rudp, "00");
    rudp_expect(rudp, "");

    config.send_delay_ticks = 0; /* a round at each update */
    rudp = rudp_make(&config);
    cw_rudp_update(rudp, 0);
    rudp_expect(rudp, "00");
    rudp_expect(rudp, "");
}

TEST(who_has_nothing_to_say_sends_a_heartbeat)
{
    struct cw_rudp *rudp = rudp_make_small();
    rudp_expect_round(rudp, "00");
    rudp_expect_round(rudp, "00");
    assert_int_equal(rudp_send_byte(rudp, 1), CW_PROTOCOL_OK);
    rudp_expect_round(rudp, "05000001");
    assert_int_equal(rudp_stats(rudp).heartbeats_sent, 2);
}

TEST(a_datagram_has_at_most_512_bytes_unless_one_package_is_longer)
{
    static const uint32_t sizes[] = {100, 401, 2, 600, 3, 508, 381, 124};
    /* 103 + 405; 5; 604; 6; 512; 385; 128 */
    static const size_t datagrams[] = {508, 5, 604, 6, 512, 385, 128};
    static const uint8_t bytes[600];
    uint8_t out[604];
    struct cw_rudp *rudp = rudp_make_small();
    struct cw_rudp *other = rudp_make_small();
    struct cw_rudp_event event;
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(cw_rudp_send(rudp, bytes, sizes[i]), CW_PROTOCOL_OK);
    cw_rudp_update(rudp, 1);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(cw_rudp_transmit(rudp, out, 603), 0); /* that loses nothing */
        assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), datagrams[i]);
        assert_int_equal(rudp_give_bytes(other, out, datagrams[i]), CW_PROTOCOL_OK);
    }
    rudp_expect(rudp, "");
    for (size_t i = 0; i < 8; i++) {
        assert_true(cw_rudp_next(other, &event));
        assert_int_equal(event.id, i);
        assert_int_equal(event.size, sizes[i]);
    }
    assert_int_equal(cw_rudp_send(rudp, bytes, 601), CW_PROTOCOL_ERROR_TOO_LARGE);
    assert_int_equal(rudp_stats(rudp).packages_queued, 0);
}

TEST(a_datagram_holds_512_bytes_even_of_short_packages)
{
    struct cw_rudp_config config = cw_rudp_config_default();
    config.max_package_size = 4;
    struct cw_rudp *rudp = rudp_make(&config);
    uint8_t out[512];
    for (int i = 0; i < 128; i++) /* of 4 bytes each on the wire */
        assert_int_equal(rudp_send_byte(rudp, 7), CW_PROTOCOL_OK);
    cw_rudp_update(rudp, 1);
    assert_int_equal(cw_rudp_transmit(rudp, out, 511), 0);
    assert_int_equal(cw_rudp_transmit(rudp, out, 512), 512);
    rudp_expect(rudp, "");
}

TEST(packages_wait_for_the_one_before_them)
{
    struct cw_rudp *rudp = rudp_make_small();
    uint64_t id = 77;
    assert_false(cw_rudp_waiting(rudp, &id));
    assert_int_equal(rudp_give(rudp, "050001b1"), CW_PROTOCOL_OK);
    assert_int_equal(rudp_give(rudp, "050003b3"), CW_PROTOCOL_OK);
    rudp_expect_nothing(rudp);
    assert_true(cw_rudp_waiting(rudp, &id));
    assert_int_equal(id, 0);
    /* asked for in each round until it is here */
    rudp_expect_round(rudp, "020000020002");
    rudp_expect_round(rudp, "020000020002");
    assert_int_equal(rudp_give(rudp, "050000b0"), CW_PROTOCOL_OK);
    assert_false(cw_rudp_waiting(rudp, &id));
    rudp_expect_package(rudp, 0, 0xb0);
    rudp_expect_package(rudp, 1, 0xb1);
    rudp_expect_nothing(rudp);
    rudp_expect_round(rudp, "020002");
    /* what came in the middle of a round is not asked for */
    cw_rudp_update(rudp, 1);
    assert_int_equal(rudp_give(rudp, "050002b2"), CW_PROTOCOL_OK);
    rudp_expect_package(rudp, 2, 0xb2);
    rudp_expect_package(rudp, 3, 0xb3);
    rudp_expect(rudp, "00");
    assert_int_equal(rudp_stats(rudp).packages_received, 4);
    assert_int_equal(rudp_stats(rudp).requests_sent, 5);
}

TEST(each_package_is_delivered_once)
{
    struct cw_rudp *rudp = rudp_make_small();
    assert_int_equal(rudp_give(rudp, "050001b1050001cc"), CW_PROTOCOL_OK);
    assert_int_equal(rudp_give(rudp, "050000b0"), CW_PROTOCOL_OK);
    rudp_expect_package(rudp, 0, 0xb0);
    assert_int_equal(rudp_give(rudp, "050000cc"), CW_PROTOCOL_OK);
    rudp_expect_package(rudp, 1, 0xb1);
    rudp_expect_nothing(rudp);
    assert_int_equal(rudp_stats(rudp).packages_dropped, 2);
    /* an id from before the first one is old as well */
    assert_int_equal(rudp_give(rudp, "05ffffcc"), CW_PROTOCOL_OK);
    rudp_expect_nothing(rudp);
    rudp_expect_round(rudp, "00");
}

TEST(what_is_asked_for_is_sent_again)
{
    struct cw_rudp *rudp = rudp_make_small();
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(rudp_send_byte(rudp, 0xa0 + i), CW_PROTOCOL_OK);
    rudp_expect_round(rudp, "050000a0050001a1050002a2050003a3");
    /* once in a round, in order, and before what is new */
    assert_int_equal(rudp_give(rudp, "020003020001"), CW_PROTOCOL_OK);
    assert_int_equal(rudp_give(rudp, "020001020003"), CW_PROTOCOL_OK);
    assert_int_equal(rudp_send_byte(rudp, 0xa4), CW_PROTOCOL_OK);
    rudp_expect_round(rudp, "050001a1050003a3050004a4");
    rudp_expect_round(rudp, "00");
    assert_int_equal(rudp_give(rudp, "020001"), CW_PROTOCOL_OK);
    rudp_expect_round(rudp, "050001a1");
    assert_int_equal(rudp_stats(rudp).requests_received, 5);
    assert_int_equal(rudp_stats(rudp).packages_resent, 3);
    assert_int_equal(rudp_stats(rudp).packages_sent, 5);
}

TEST(a_package_that_was_never_sent_is_not_missing)
{
    struct cw_rudp *rudp = rudp_make_small();
    assert_int_equal(rudp_give(rudp, "020000020001027fff028000"), CW_PROTOCOL_OK);
    rudp_expect_round(rudp, "00");
    /* nor one from before the first, however the ids are widened */
    assert_int_equal(rudp_send_byte(rudp, 0xa0), CW_PROTOCOL_OK);
    rudp_expect_round(rudp, "050000a0");
    assert_int_equal(rudp_give(rudp, "02ffff028002"), CW_PROTOCOL_OK);
    rudp_expect_round(rudp, "00");
    /* one that is queued goes out as new, and only once */
    assert_int_equal(rudp_send_byte(rudp, 0xa1), CW_PROTOCOL_OK);
    assert_int_equal(rudp_give(rudp, "020001"), CW_PROTOCOL_OK);
    rudp_expect_round(rudp, "050001a1");
    rudp_expect_round(rudp, "00");
}

TEST(what_has_expired_is_told_as_missing)
{
    struct cw_rudp *rudp = rudp_make_small();
    struct cw_rudp *other = rudp_make_small();
    assert_int_equal(rudp_send_byte(rudp, 0xa0), CW_PROTOCOL_OK);
    rudp_expect_round(rudp, "050000a0");
    assert_int_equal(rudp_send_byte(rudp, 0xa1), CW_PROTOCOL_OK);
    rudp_expect_round(rudp, "050001a1");
    cw_rudp_update(rudp, 8); /* 9 ticks after it went out: it is still kept */
    rudp_expect(rudp, "00");
    assert_int_equal(rudp_give(rudp, "020000"), CW_PROTOCOL_OK);
    cw_rudp_update(rudp, 0);
    assert_int_equal(rudp_stats(rudp).packages_kept, 2);
    rudp_expect_round(rudp, "030000");
    assert_int_equal(rudp_stats(rudp).packages_kept, 1);
    assert_int_equal(rudp_stats(rudp).packages_expired, 1);
    assert_int_equal(rudp_stats(rudp).missing_sent, 1);

    /* the application hears of it in its place, and the stream goes on */
    assert_int_equal(rudp_give(other, "050001a1"), CW_PROTOCOL_OK);
    rudp_expect_nothing(other);
    assert_int_equal(rudp_give(other, "030000"), CW_PROTOCOL_OK);
    rudp_expect_missing(other, 0);
    rudp_expect_package(other, 1, 0xa1);
    rudp_expect_round(other, "00");
    assert_int_equal(rudp_stats(other).packages_missing, 1);
    /* too late */
    assert_int_equal(rudp_give(other, "050000a0030001"), CW_PROTOCOL_OK);
    rudp_expect_nothing(other);
}

TEST(a_package_is_kept_for_the_ticks_of_its_expiry)
{
    for (uint32_t wait = 9; wait <= 10; wait++) {
        struct cw_rudp *rudp = rudp_make_small();
        assert_int_equal(rudp_send_byte(rudp, 0xa0), CW_PROTOCOL_OK);
        rudp_expect_round(rudp, "050000a0");
        assert_int_equal(rudp_give(rudp, "020000"), CW_PROTOCOL_OK);
        cw_rudp_update(rudp, wait);
        rudp_expect(rudp, wait < 10 ? "050000a0" : "030000");
    }
}

TEST(a_package_that_came_after_all_is_not_missing)
{
    struct cw_rudp *rudp = rudp_make_small();
    assert_int_equal(rudp_give(rudp, "030000050000b0"), CW_PROTOCOL_OK); /* it was only late */
    assert_int_equal(rudp_give(rudp, "050001b1030001"), CW_PROTOCOL_OK);
    rudp_expect_package(rudp, 0, 0xb0);
    rudp_expect_package(rudp, 1, 0xb1);
    rudp_expect_nothing(rudp);
}

TEST(a_heartbeat_makes_an_end_ask_for_what_may_be_next)
{
    struct cw_rudp *rudp = rudp_make_small();
    struct cw_rudp *other = rudp_make_small();
    /* the last package is lost, and none follows it */
    assert_int_equal(rudp_send_byte(rudp, 0xa0), CW_PROTOCOL_OK);
    rudp_expect_round(rudp, "050000a0");
    rudp_expect_round(rudp, "00");
    assert_int_equal(rudp_give(other, "00"), CW_PROTOCOL_OK);
    /* it says nothing of its own, and so is a heartbeat too */
    rudp_expect_round(other, "02000000");
    assert_int_equal(rudp_give(rudp, "02000000"), CW_PROTOCOL_OK);
    rudp_expect_round(rudp, "020000050000a0");
    assert_int_equal(rudp_give(other, "020000050000a0"), CW_PROTOCOL_OK);
    rudp_expect_package(other, 0, 0xa0);
    /* each heartbeat is answered once, behind the gaps */
    rudp_expect_round(other, "00");
    assert_int_equal(rudp_give(other, "00050002b2"), CW_PROTOCOL_OK);
    rudp_expect_round(other, "020001020003");
    rudp_expect_round(other, "020001");
}

int main(void)
{
    return fixture_run();
}
