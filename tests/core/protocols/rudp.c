/* Tests of the rules of the request-based protocol, one by one: how an end is made, when it sends,
   what the sender keeps and the receiver asks for. */
#include "rudp_rig.h"

TEST(a_config_is_checked)
{
    const struct {
        uint32_t send_window, receive_window, expiry_ticks, max_package_size, datagram_size;
        const char *error_field;
    } cases[] = {
        {32, 64, 1, CW_RUDP_MAX_SIZE, 512, NULL},
        {32, 16384, 1, 0, CW_RUDP_MIN_DATAGRAM_SIZE, NULL},
        {16384, 32, 1, 0, CW_RUDP_MAX_DATAGRAM_SIZE, NULL},
        {16, 32, 1, 1, 512, "send_window"},
        {32, 32768, 1, 1, 512, "receive_window"},
        {32, 32, 1, 1, CW_RUDP_MIN_DATAGRAM_SIZE - 1, "datagram_size"},
        {32, 32, 1, 1, CW_RUDP_MAX_DATAGRAM_SIZE + 1, "datagram_size"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_rudp_config config = cw_rudp_config_default();
        struct cw_rudp *rudp = NULL;
        config.send_window = cases[i].send_window;
        config.receive_window = cases[i].receive_window;
        config.expiry_ticks = cases[i].expiry_ticks;
        config.max_package_size = cases[i].max_package_size;
        config.datagram_size = cases[i].datagram_size;
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

TEST(a_round_gathers_the_packages_of_some_ticks)
{
    struct cw_rudp_config config = cw_rudp_config_default();
    config.send_delay_ticks = 3;
    struct cw_rudp *rudp = rudp_make(&config);
    for (unsigned tick = 0; tick < 2; tick++) {
        assert_ok(rudp_send_byte(rudp, 0xa0 + tick));
        rudp_play(rudp, "@1 =");
    }
    for (int i = 0; i < 9; i++) /* updates at the same tick add no time */
        rudp_play(rudp, "@0 =");
    assert_int_equal(rudp_stats(rudp).packages_queued, 2);
    rudp_play(rudp, "@1 =050000a0050001a1 =");
    assert_int_equal(rudp_stats(rudp).packages_queued, 0);
    assert_int_equal(rudp_stats(rudp).packages_sent, 2);
    rudp_play(rudp, "@2 = @7 =00 ="); /* it is one round, however many ticks pass */

    config.send_delay_ticks = 0; /* makes each update a round */
    rudp = rudp_make(&config);
    rudp_play(rudp, "@0 =00 =");
}

TEST(who_has_nothing_to_say_sends_a_heartbeat)
{
    struct cw_rudp *rudp = rudp_make_small();
    rudp_play(rudp, ">00 >00 +01 >05000001");
    assert_int_equal(rudp_stats(rudp).heartbeats_sent, 2);
}

TEST(a_datagram_has_at_most_512_bytes_unless_one_package_is_longer)
{
    static const uint32_t sizes[] = {100, 401, 2, 600, 3, 508, 381, 124};
    /* The sums are 103 + 405; 5; 604; 6; 512; 385; 128. */
    static const size_t datagrams[] = {508, 5, 604, 6, 512, 385, 128};
    static const uint8_t bytes[600];
    uint8_t out[604];
    struct cw_rudp *rudp = rudp_make_small();
    struct cw_rudp *other = rudp_make_small();
    struct cw_rudp_event event;
    for (size_t i = 0; i < 8; i++)
        assert_ok(cw_rudp_send(rudp, bytes, sizes[i]));
    rudp_play(rudp, "@1");
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(cw_rudp_transmit(rudp, out, 603), 0); /* loses nothing */
        assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), datagrams[i]);
        assert_ok(rudp_give_bytes(other, out, datagrams[i]));
    }
    rudp_play(rudp, "=");
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
    for (int i = 0; i < 128; i++) /* each has 4 bytes on the wire */
        rudp_play(rudp, "+07");
    rudp_play(rudp, "@1");
    assert_int_equal(cw_rudp_transmit(rudp, out, 511), 0);
    assert_int_equal(cw_rudp_transmit(rudp, out, 512), 512);
    rudp_play(rudp, "=");
}

TEST(the_size_of_datagrams_is_a_value_of_the_config)
{
    static const uint32_t sizes[] = {CW_RUDP_MIN_DATAGRAM_SIZE, 300, 1200,
                                     CW_RUDP_MAX_DATAGRAM_SIZE};
    static uint8_t out[CW_RUDP_MAX_DATAGRAM_SIZE];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct cw_rudp_config config = cw_rudp_config_default();
        config.send_window = config.receive_window = 16384;
        config.max_package_size = 1;
        config.datagram_size = sizes[i];
        struct cw_rudp *rudp = rudp_make(&config), *other = rudp_make(&config);
        const uint32_t packages = sizes[i] / 4 + 1; /* one more than a datagram holds */
        for (uint32_t n = 0; n < packages; n++)
            assert_ok(rudp_send_byte(rudp, n));
        rudp_play(rudp, "@1");
        assert_int_equal(cw_rudp_transmit(rudp, out, sizes[i] - 1), 0);
        assert_int_equal(cw_rudp_transmit(rudp, out, sizes[i]), sizes[i] / 4 * 4);
        assert_ok(rudp_give_bytes(other, out, sizes[i] / 4 * 4));
        assert_int_equal(rudp_stats(other).packages_received, sizes[i] / 4);
        assert_int_equal(cw_rudp_transmit(rudp, out, sizes[i]), 4 * (packages - sizes[i] / 4));
    }
}

/* A package is never split. */
TEST(a_package_above_the_size_of_datagrams_goes_alone)
{
    static const uint8_t bytes[90];
    struct cw_rudp_config config = cw_rudp_config_default();
    config.max_package_size = 90;
    config.datagram_size = 64;
    struct cw_rudp *rudp = rudp_make(&config);
    uint8_t out[93];
    assert_ok(rudp_send_byte(rudp, 1));
    assert_ok(cw_rudp_send(rudp, bytes, 90));
    assert_ok(rudp_send_byte(rudp, 2));
    rudp_play(rudp, "@1");
    assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), 0); /* 90 + 4 may be needed */
    static uint8_t enough[94];
    assert_int_equal(cw_rudp_transmit(rudp, enough, sizeof enough), 4);
    assert_int_equal(cw_rudp_transmit(rudp, enough, sizeof enough), 93);
    assert_int_equal(cw_rudp_transmit(rudp, enough, sizeof enough), 4);
    rudp_play(rudp, "=");
}

TEST(packages_wait_for_the_one_before_them)
{
    struct cw_rudp *rudp = rudp_make_small();
    uint64_t id = 77;
    assert_false(cw_rudp_waiting(rudp, &id));
    rudp_play(rudp, "<050001b1 <050003b3 .");
    assert_true(cw_rudp_waiting(rudp, &id));
    assert_int_equal(id, 0);
    /* The missing package is asked for in each round until it is here. */
    rudp_play(rudp, ">020000020002 >020000020002 <050000b0");
    assert_false(cw_rudp_waiting(rudp, &id));
    rudp_play(rudp, "0:b0 1:b1 . >020002");
    /* A package that came in the middle of a round is not asked for. */
    rudp_play(rudp, "@1 <050002b2 2:b2 3:b3 =00");
    assert_int_equal(rudp_stats(rudp).packages_received, 4);
    assert_int_equal(rudp_stats(rudp).requests_sent, 5);
}

TEST(each_package_is_delivered_once)
{
    struct cw_rudp *rudp = rudp_make_small();
    rudp_play(rudp, "<050001b1050001cc <050000b0 0:b0 <050000cc 1:b1 .");
    assert_int_equal(rudp_stats(rudp).packages_dropped, 2);
    /* An id from before the first one is old as well. */
    rudp_play(rudp, "<05ffffcc . >00");
}

TEST(what_is_asked_for_is_sent_again)
{
    struct cw_rudp *rudp = rudp_make_small();
    for (unsigned i = 0; i < 4; i++)
        assert_ok(rudp_send_byte(rudp, 0xa0 + i));
    rudp_play(rudp, ">050000a0050001a1050002a2050003a3");
    /* A request is answered once in a round, in order, and before new packages. */
    rudp_play(rudp, "<020003020001 <020001020003 +a4 >050001a1050003a3050004a4 >00 <020001 "
                    ">050001a1");
    assert_int_equal(rudp_stats(rudp).requests_received, 5);
    assert_int_equal(rudp_stats(rudp).packages_resent, 3);
    assert_int_equal(rudp_stats(rudp).packages_sent, 5);
}

TEST(a_package_that_was_never_sent_is_not_missing)
{
    struct cw_rudp *rudp = rudp_make_small();
    rudp_play(rudp, "<020000020001027fff028000 >00");
    /* An id from before the first is not missing either, however the ids are widened. */
    rudp_play(rudp, "+a0 >050000a0 <02ffff028002 >00");
    /* A package that is queued goes out as new, and only once. */
    rudp_play(rudp, "+a1 <020001 >050001a1 >00");
}

TEST(what_has_expired_is_told_as_missing)
{
    struct cw_rudp *rudp = rudp_make_small();
    struct cw_rudp *other = rudp_make_small();
    rudp_play(rudp,
              "+a0 >050000a0 +a1 >050001a1 @8"); /* 9 ticks after it went out it is still kept */
    rudp_play(rudp, "=00 <020000 @0");
    assert_int_equal(rudp_stats(rudp).packages_kept, 2);
    rudp_play(rudp, ">030000");
    assert_int_equal(rudp_stats(rudp).packages_kept, 1);
    assert_int_equal(rudp_stats(rudp).packages_expired, 1);
    assert_int_equal(rudp_stats(rudp).missing_sent, 1);

    /* The application is told so in the package's place, and the stream goes on. */
    rudp_play(other, "<050001a1 . <030000 0? 1:a1 >00");
    assert_int_equal(rudp_stats(other).packages_missing, 1);
    /* The package and the news of its loss come too late. */
    rudp_play(other, "<050000a0030001 .");
}

TEST(a_package_is_kept_for_the_ticks_of_its_expiry)
{
    for (uint32_t wait = 9; wait <= 10; wait++) {
        struct cw_rudp *rudp = rudp_make_small();
        rudp_play(rudp, "+a0 >050000a0 <020000");
        cw_rudp_update(rudp, wait);
        rudp_play(rudp, wait < 10 ? "=050000a0" : "=030000");
    }
}

TEST(a_package_that_came_after_all_is_not_missing)
{
    struct cw_rudp *rudp = rudp_make_small();
    rudp_play(rudp, "<030000050000b0"); /* the package was only late */
    rudp_play(rudp, "<050001b1030001 0:b0 1:b1 .");
}

TEST(a_heartbeat_makes_an_end_ask_for_what_may_be_next)
{
    struct cw_rudp *rudp = rudp_make_small();
    struct cw_rudp *other = rudp_make_small();
    /* The last package is lost, and none follows it. */
    rudp_play(rudp, "+a0 >050000a0 >00");
    rudp_play(other, "<00");
    /* A request alone says nothing of its own end's packages, so it is a heartbeat too. */
    rudp_play(other, ">02000000");
    rudp_play(rudp, "<02000000 >020000050000a0");
    rudp_play(other, "<020000050000a0 0:a0");
    /* Each heartbeat is answered once, behind the gaps. */
    rudp_play(other, ">00 <00050002b2 >020001020003 >020001");
}
