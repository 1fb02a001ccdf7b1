/* Tests of congestion control by two states, good and bad, in virtual time. */
#include "packet/congestion.h"

#include "config_error.h"
#include "fixture.h"

#include <stdlib.h>

#define FINE 0.1        /* seconds of an RTT below the threshold */
#define HIGH 0.3        /* seconds of an RTT above the threshold */
#define TICK (1.0 / 64) /* seconds, whose sums are exact */

static struct cw_congestion_config binary_config(void)
{
    struct cw_congestion_config config = cw_congestion_config_default();
    config.mode = CW_CONGESTION_BINARY;
    return config;
}

/* Returns how many packets may be sent now. */
static uint32_t allowed(const struct cw_congestion *c)
{
    struct cw_congestion copy = *c;
    uint32_t packets = 0;
    for (; cw_congestion_limit(&copy, packets % 2) == CW_CONGESTION_LIMIT_NONE; packets++)
        cw_congestion_sent(&copy, false, 0, 100);
    assert_int_equal(cw_congestion_limit(&copy, true), CW_CONGESTION_LIMIT_RATE);
    assert_int_equal(cw_congestion_limit(&copy, false), CW_CONGESTION_LIMIT_RATE);
    return packets;
}

/* Returns how many packets may be sent at a later time, with an RTT that says nothing new. */
static uint32_t allowed_at(struct cw_congestion *c, double now)
{
    cw_congestion_update(c, 0, TICK, now);
    return allowed(c);
}

static void send(struct cw_congestion *c, uint32_t packets)
{
    while (packets-- > 0)
        cw_congestion_sent(c, false, 0, 100);
}

static struct cw_congestion made(void)
{
    struct cw_congestion c;
    const struct cw_congestion_config config = binary_config();
    assert_int_equal(cw_congestion_init(&c, &config, 0), CW_OK);
    return c;
}

/* Ticks for some seconds with the same RTT. */
static void run(struct cw_congestion *c, double rtt, double seconds)
{
    const double end = c->now + seconds;
    while (c->now < end)
        cw_congestion_update(c, rtt, TICK, c->now + TICK);
}

/* Returns a control in good mode for the first time, with a penalty time of 4 s. */
static struct cw_congestion made_good(void)
{
    struct cw_congestion c = made();
    run(&c, FINE, 4 + TICK);
    assert_int_equal(c.binary.state, CW_CONGESTION_GOOD);
    return c;
}

static void assert_is(const struct cw_congestion *c, enum cw_congestion_state mode,
                      enum cw_congestion_reason reason, double penalty)
{
    assert_int_equal(c->binary.state, mode);
    assert_int_equal(c->binary.reason, reason);
    assert_true(c->binary.packets_per_second == (mode == CW_CONGESTION_GOOD ? 30 : 10));
    if (c->binary.penalty_seconds != penalty)
        fail_msg("the penalty time is %g, not %g", c->binary.penalty_seconds, penalty);
}

TEST(test_defaults_are_those_of_the_header)
{
    const struct cw_congestion_config config = cw_congestion_config_default();
    assert_int_equal(config.mode, CW_CONGESTION_DELAY);
    assert_true(unit_same(config.target_seconds, 0.03));
    assert_true(config.rtt_threshold_seconds == 0.25);
    assert_true(config.good_packets_per_second == 30);
    assert_true(config.bad_packets_per_second == 10);
    assert_true(config.penalty_seconds == 4);
    assert_true(config.min_penalty_seconds == 1);
    assert_true(config.max_penalty_seconds == 60);
    assert_true(config.good_period_seconds == 10);
    assert_true(unit_same(config.burst_seconds, 0.1));
}

static void refuse(const struct cw_congestion_config *config, const char *field)
{
    struct cw_congestion c = {.binary.penalty_seconds = 77};
    assert_error_names(cw_congestion_init(&c, config, 0), field);
    assert_true(c.binary.penalty_seconds == 77);
}

TEST(test_a_config_that_cannot_work_is_refused)
{
    struct cw_congestion_config config;
    const double nan = strtod("nan", NULL), infinity = strtod("inf", NULL);
    const double no_time[] = {-1, nan, infinity};
#define REFUSED(field, value)                                                                      \
    do {                                                                                           \
        config = cw_congestion_config_default();                                                   \
        config.field = (value);                                                                    \
        refuse(&config, #field);                                                                   \
    } while (0)
    for (size_t i = 0; i < 3; i++) {
        REFUSED(target_seconds, no_time[i]);
        REFUSED(rtt_threshold_seconds, no_time[i]);
        REFUSED(penalty_seconds, no_time[i]);
        REFUSED(min_penalty_seconds, no_time[i]);
        REFUSED(max_penalty_seconds, no_time[i]);
        REFUSED(good_period_seconds, no_time[i]);
        REFUSED(burst_seconds, no_time[i]);
        REFUSED(good_packets_per_second, no_time[i]);
        REFUSED(bad_packets_per_second, no_time[i]);
    }
    REFUSED(mode, (enum cw_congestion_mode)3);
    REFUSED(target_seconds, 0);
    REFUSED(rtt_threshold_seconds, 0);
    REFUSED(good_period_seconds, 0);
    REFUSED(penalty_seconds, 0.9);
    REFUSED(max_penalty_seconds, 3);
    REFUSED(burst_seconds, 61);
    REFUSED(bad_packets_per_second, 0);
    REFUSED(good_packets_per_second, 9);
    REFUSED(good_packets_per_second, 1000001);
    /* When two fields do not go together, the error names the upper one. */
    config = cw_congestion_config_default();
    config.penalty_seconds = 61;
    refuse(&config, "max_penalty_seconds");
    config = cw_congestion_config_default();
    config.min_penalty_seconds = 5;
    refuse(&config, "penalty_seconds");
    config = cw_congestion_config_default();
    config.bad_packets_per_second = 31;
    refuse(&config, "good_packets_per_second");
}

TEST(test_it_begins_in_bad_mode)
{
    struct cw_congestion c = made();
    assert_is(&c, CW_CONGESTION_BAD, CW_CONGESTION_NO_RTT, 4);
    run(&c, 0, 1000); /* no RTT is not a good RTT */
    assert_is(&c, CW_CONGESTION_BAD, CW_CONGESTION_NO_RTT, 4);
    run(&c, strtod("nan", NULL), 10);
    assert_is(&c, CW_CONGESTION_BAD, CW_CONGESTION_NO_RTT, 4);
}

TEST(test_good_mode_comes_after_the_penalty_time)
{
    struct cw_congestion c = made();
    cw_congestion_update(&c, FINE, TICK, TICK); /* the RTT is fine from now on */
    run(&c, FINE, 4 - TICK);
    assert_is(&c, CW_CONGESTION_BAD, CW_CONGESTION_PENALTY, 4);
    run(&c, FINE, TICK);
    assert_is(&c, CW_CONGESTION_GOOD, CW_CONGESTION_RECOVERED, 4);
}

TEST(test_the_penalty_time_starts_again_with_every_high_rtt)
{
    struct cw_congestion c = made();
    for (int i = 0; i < 50; i++) {
        run(&c, FINE, 3.9);
        assert_is(&c, CW_CONGESTION_BAD, CW_CONGESTION_PENALTY, 4);
        run(&c, HIGH, TICK);
        assert_is(&c, CW_CONGESTION_BAD, CW_CONGESTION_HIGH_RTT, 4);
    }
    run(&c, FINE, 4 + TICK);
    assert_is(&c, CW_CONGESTION_GOOD, CW_CONGESTION_RECOVERED, 4);
}

TEST(test_the_threshold_itself_is_good)
{
    struct cw_congestion c = made();
    run(&c, 0.25, 5);
    assert_int_equal(c.binary.state, CW_CONGESTION_GOOD);
    cw_congestion_update(&c, 0.2500001, TICK, c.now + TICK);
    assert_int_equal(c.binary.state, CW_CONGESTION_BAD);
}

TEST(test_bad_mode_comes_at_once)
{
    struct cw_congestion c = made_good();
    cw_congestion_update(&c, HIGH, TICK, c.now + TICK);
    assert_is(&c, CW_CONGESTION_BAD, CW_CONGESTION_HIGH_RTT, 8);
    c = made_good();
    cw_congestion_update(&c, strtod("inf", NULL), TICK, c.now + TICK);
    assert_int_equal(c.binary.state, CW_CONGESTION_BAD);
}

TEST(test_the_penalty_time_doubles_up_to_60_seconds)
{
    struct cw_congestion c = made();
    double penalty = 4;
    for (int i = 0; i < 10; i++) {
        run(&c, FINE, penalty);
        assert_int_equal(c.binary.state, CW_CONGESTION_BAD);
        run(&c, FINE, TICK);
        assert_is(&c, CW_CONGESTION_GOOD, CW_CONGESTION_RECOVERED, penalty);
        run(&c, FINE, 9.5);
        run(&c, HIGH, TICK);
        penalty = penalty * 2 < 60 ? penalty * 2 : 60;
        assert_is(&c, CW_CONGESTION_BAD, CW_CONGESTION_HIGH_RTT, penalty);
    }
    assert_true(c.binary.penalty_seconds == 60);
}

TEST(test_good_mode_of_ten_seconds_is_not_punished)
{
    struct cw_congestion c = made_good();
    const double begin = c.now;
    cw_congestion_update(&c, HIGH, TICK, begin + 10 - TICK);
    assert_is(&c, CW_CONGESTION_BAD, CW_CONGESTION_HIGH_RTT, 8);
    c = made_good();
    cw_congestion_update(&c, HIGH, TICK, begin + 10);
    assert_is(&c, CW_CONGESTION_BAD, CW_CONGESTION_HIGH_RTT, 2);
}

TEST(test_the_penalty_time_halves_every_ten_seconds_down_to_1)
{
    struct cw_congestion c = made_good();
    run(&c, FINE, 10 - TICK);
    assert_is(&c, CW_CONGESTION_GOOD, CW_CONGESTION_RECOVERED, 4);
    run(&c, FINE, TICK);
    assert_is(&c, CW_CONGESTION_GOOD, CW_CONGESTION_RECOVERED, 2);
    run(&c, FINE, 10 - TICK);
    assert_is(&c, CW_CONGESTION_GOOD, CW_CONGESTION_RECOVERED, 2);
    run(&c, FINE, TICK);
    assert_is(&c, CW_CONGESTION_GOOD, CW_CONGESTION_RECOVERED, 1);
    run(&c, FINE, 100);
    assert_is(&c, CW_CONGESTION_GOOD, CW_CONGESTION_RECOVERED, 1);
    run(&c, HIGH, TICK);
    assert_is(&c, CW_CONGESTION_BAD, CW_CONGESTION_HIGH_RTT, 1);
    run(&c, FINE, 1 + TICK);
    assert_is(&c, CW_CONGESTION_GOOD, CW_CONGESTION_RECOVERED, 1);
    run(&c, HIGH, TICK);
    assert_is(&c, CW_CONGESTION_BAD, CW_CONGESTION_HIGH_RTT, 2);
}

TEST(test_rare_updates_count_the_same_time)
{
    struct cw_congestion_config config = binary_config();
    struct cw_congestion c;
    config.penalty_seconds = 48;
    assert_int_equal(cw_congestion_init(&c, &config, 0), CW_OK);
    cw_congestion_update(&c, FINE, TICK, 1);
    cw_congestion_update(&c, FINE, TICK, 100);
    assert_is(&c, CW_CONGESTION_GOOD, CW_CONGESTION_RECOVERED, 48);
    cw_congestion_update(&c, FINE, TICK, 135);
    assert_is(&c, CW_CONGESTION_GOOD, CW_CONGESTION_RECOVERED, 6);
    cw_congestion_update(&c, FINE, TICK, 140);
    assert_is(&c, CW_CONGESTION_GOOD, CW_CONGESTION_RECOVERED, 3);
    cw_congestion_update(&c, FINE, TICK, 1e9);
    assert_is(&c, CW_CONGESTION_GOOD, CW_CONGESTION_RECOVERED, 1);
}

TEST(test_good_mode_outlasts_an_rtt_that_is_not_known)
{
    struct cw_congestion c = made_good();
    run(&c, 0, 5);
    assert_int_equal(c.binary.state, CW_CONGESTION_GOOD);
}

TEST(test_time_does_not_run_backwards)
{
    struct cw_congestion c = made_good();
    const struct cw_congestion before = c;
    cw_congestion_update(&c, FINE, TICK, 1);
    assert_true(c.now == before.now);
    assert_true(allowed_at(&c, 2) == allowed(&c));
    cw_congestion_update(&c, HIGH, TICK, 1);
    assert_is(&c, CW_CONGESTION_BAD, CW_CONGESTION_HIGH_RTT, 8);
}

/* Returns the packets sent in ten seconds by an end that asks `ticks` times a second and sends all
   that is allowed. */
static unsigned sent_in_ten_seconds(struct cw_congestion *c, double rtt, unsigned ticks)
{
    unsigned sent = 0;
    const double begin = c->now;
    for (unsigned i = 1; i <= 10 * ticks; i++) {
        const double now = begin + i / (double)ticks;
        cw_congestion_update(c, rtt, TICK, now);
        const uint32_t packets = allowed(c);
        send(c, packets);
        sent += packets;
    }
    return sent;
}

TEST(test_the_allowance_adds_up_to_the_rate)
{
    const unsigned ticks[] = {20, 30, 50, 60, 64, 100, 144, 1000};
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        struct cw_congestion c = made_good();
        send(&c, allowed(&c));
        assert_in_range(sent_in_ten_seconds(&c, FINE, ticks[i]), 299, 300);
        cw_congestion_update(&c, HIGH, TICK, c.now);
        assert_in_range(sent_in_ten_seconds(&c, HIGH, ticks[i]), 99, 101);
    }
}

TEST(test_ticks_that_divide_evenly_send_evenly)
{
    struct cw_congestion c = made_good();
    send(&c, allowed(&c));
    const double begin = c.now;
    for (int i = 1; i <= 6000; i++) {
        const uint32_t packets = allowed_at(&c, begin + i / 60.0);
        assert_int_equal(packets, i % 2 == 0);
        send(&c, packets);
    }
}

TEST(test_the_first_packet_goes_at_once)
{
    struct cw_congestion c = made();
    assert_int_equal(allowed_at(&c, 0), 1);
    send(&c, 1);
    assert_int_equal(allowed_at(&c, 0), 0);
    assert_int_equal(allowed_at(&c, 0.09), 0);
    assert_int_equal(allowed_at(&c, 0.1), 1);
}

TEST(test_what_is_saved_up_is_bounded)
{
    struct cw_congestion c = made_good();
    assert_int_equal(allowed_at(&c, c.now + 1000), 1 + 3);
    assert_int_equal(allowed(&c), 1 + 3);
    cw_congestion_update(&c, HIGH, TICK, c.now); /* bad mode may not use what good mode saved */
    assert_int_equal(allowed(&c), 1 + 1);
}

TEST(test_what_was_sent_too_much_is_made_up_for_within_a_burst)
{
    struct cw_congestion c = made();
    send(&c, 3);
    assert_int_equal(allowed_at(&c, 0), 0);
    c = made();
    send(&c, 2);
    assert_int_equal(allowed_at(&c, 0.15), 0);
    assert_int_equal(allowed_at(&c, 0.2), 1);
    send(&c, 1000);
    assert_int_equal(allowed_at(&c, 0.45), 0);
    assert_int_equal(allowed_at(&c, 0.5), 1);
}
