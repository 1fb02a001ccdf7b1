/* Tests of a client that knows the server's time, and runs ahead of it. */
#include "clock_rig.h"
#include "config_error.h"
#include "fixture.h"

#include "base/prng.h"

#include <string.h>

#define STEP  0.001 /* seconds */
#define FRAME 0.005 /* seconds */

/* Returns the path of the guarantee: 50 ms there and back, jitter of 50 ms each way. */
static struct clock_rig_config bad_path(uint64_t seed)
{
    const struct cw_simulator_path path = {
        .latency_seconds = 0.025, .jitter_seconds = 0.05, .loss = 0.2};
    return (struct clock_rig_config){.ticks_per_second = 60,
                                     .stamps_per_second = 60,
                                     .echoes_per_second = 60,
                                     .up = path,
                                     .down = path,
                                     .drift = 200e-6,
                                     .first_tick = 1000,
                                     .seed = seed};
}

static struct clock_rig_config perfect_path(void)
{
    return (struct clock_rig_config){.ticks_per_second = 60,
                                     .stamps_per_second = 20,
                                     .echoes_per_second = 20,
                                     .up = {.latency_seconds = 0.02},
                                     .down = {.latency_seconds = 0.02},
                                     .seed = 1};
}

static struct cw_clock_sync_stats stats_of(const struct clock_rig *rig)
{
    struct cw_clock_sync_stats stats;
    cw_clock_sync_get_stats(rig->sync, clock_rig_client_clock(rig, rig->now), &stats);
    return stats;
}

/* Returns the greatest error of the following seconds. */
static double worst_error(struct clock_rig *rig, double seconds)
{
    double worst = 0;
    for (double end = rig->now + seconds; rig->now < end;) {
        clock_rig_step(rig, STEP);
        worst = fmax(worst, fabs(clock_rig_error(rig)));
    }
    return worst;
}

static double asymmetry(const struct clock_rig_config *config)
{
    return fabs(config->up.latency_seconds - config->down.latency_seconds);
}

TEST(the_error_is_half_the_asymmetry_and_2_ms_within_2_s)
{
    static const double latencies[][2] = {{0.025, 0.025}, {0.01, 0.04}, {0.2, 0.05}, {0.5, 0.5}};
    for (uint64_t seed = 1; seed <= 32; seed++) {
        struct clock_rig rig;
        struct clock_rig_config config = bad_path(seed);
        config.up.latency_seconds = latencies[seed % 4][0];
        config.down.latency_seconds = latencies[seed % 4][1];
        config.drift = seed & 4 ? 200e-6 : -200e-6;
        clock_rig_start(&rig, &config);
        worst_error(&rig, 2 + config.up.latency_seconds + config.down.latency_seconds);
        const double worst = worst_error(&rig, 30);
        if (worst > asymmetry(&config) / 2 + 0.002)
            fail_msg("seed %d: wrong by %g s", (int)seed, worst);
        clock_rig_stop(&rig);
    }
}

TEST(a_jump_of_the_rtt_changes_nothing)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct clock_rig rig;
        struct clock_rig_config config = bad_path(seed);
        clock_rig_start(&rig, &config);
        worst_error(&rig, 2.5);
        for (int i = 0; i < 6; i++) {
            config.up.latency_seconds = config.down.latency_seconds = i % 2 ? 0.025 : 0.125;
            cw_simulator_change(rig.up, &config.up);
            cw_simulator_change(rig.down, &config.down);
            assert_true(worst_error(&rig, 10) <= 0.002);
        }
        clock_rig_stop(&rig);
    }
}

/* When only one way becomes longer, the error is at most half of the difference. */
TEST(a_jump_of_one_way_costs_half_of_it_at_most)
{
    struct clock_rig rig;
    struct clock_rig_config config = bad_path(3);
    clock_rig_start(&rig, &config);
    worst_error(&rig, 2.5);
    config.up.latency_seconds = 0.225;
    cw_simulator_change(rig.up, &config.up);
    assert_true(worst_error(&rig, 10) <= 0.01);
    assert_true(worst_error(&rig, 900) <= 0.102);
    clock_rig_stop(&rig);
}

TEST(every_rate_and_distance_works)
{
    static const double rates[] = {10, 20, 30, 60, 128};
    static const double ways[] = {0.00005, 0.005, 0.1, 0.5};
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 4; j++) {
            struct clock_rig rig;
            struct clock_rig_config config = perfect_path();
            config.ticks_per_second = rates[i];
            config.stamps_per_second = rates[4 - i];
            config.echoes_per_second = rates[i] / 2;
            config.up.latency_seconds = config.down.latency_seconds = ways[j];
            config.drift = -200e-6;
            clock_rig_start(&rig, &config);
            worst_error(&rig, 3);
            assert_true(worst_error(&rig, 10) <= 0.002);
            const struct cw_clock_sync_stats stats = stats_of(&rig);
            assert_true(fabs(stats.rtt_seconds - 2 * ways[j]) < 0.001);
            assert_true(stats.error_seconds < ways[j] + 0.002);
            assert_int_equal(stats.restarts, 0); /* nobody takes the events */
            clock_rig_stop(&rig);
        }
    }
}

/* The client sends one stamp per second, and answers come as part of each state. */
TEST(few_stamps_and_many_answers_will_do)
{
    struct clock_rig rig;
    struct clock_rig_config config = bad_path(9);
    config.stamps_per_second = 1;
    clock_rig_start(&rig, &config);
    worst_error(&rig, 60);
    assert_true(worst_error(&rig, 60) <= 0.02);
    clock_rig_stop(&rig);
}

TEST(times_never_go_back_and_slew_by_5_percent_at_most)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct clock_rig rig;
        const struct clock_rig_config config = bad_path(seed);
        struct cw_prng random = {seed};
        double before = 0, server = 0, client = 0;
        clock_rig_start(&rig, &config);
        while (rig.now < 20) {
            clock_rig_step(&rig, 0.03 * cw_prng_share(&random));
            for (int i = 0; i < 3; i++) {
                /* The clocks are also read between updates, and after long ones. */
                const double now = clock_rig_client_clock(&rig, rig.now) + i * 0.0001;
                const double next_server = cw_clock_sync_server_time(rig.sync, now);
                const double next_client = cw_clock_sync_client_time(rig.sync, now);
                const double passed = (now - before) * 60;
                if (before > 0 && server > 0 && passed > 0) {
                    assert_true(next_server - server >= 0.9499 * passed - 1e-6);
                    assert_true(next_server - server <= 1.0501 * passed + 1e-6);
                    assert_true(next_client - client >= 0.9499 * passed - 1e-6);
                    assert_true(next_client - client <= 1.0501 * passed + 1e-6);
                }
                before = now;
                server = next_server;
                client = next_client;
            }
            rig.now += 0.0002;
        }
        assert_true(stats_of(&rig).synced);
        clock_rig_stop(&rig);
    }
}

/* Takes all events. Returns how many ticks came, which must go on from *next without gaps. */
static uint32_t take_ticks(struct clock_rig *rig, uint32_t *next, uint32_t *restarts)
{
    struct cw_clock_sync_event event;
    uint32_t ticks = 0;
    while (cw_clock_sync_next(rig->sync, &event)) {
        if (event.type == CW_CLOCK_SYNC_EVENT_RESTART) {
            *next = event.tick;
            ++*restarts;
            continue;
        }
        assert_int_equal(event.tick, *next);
        ++*next;
        ticks++;
    }
    return ticks;
}

TEST(ticks_come_one_by_one_and_across_the_wrap)
{
    struct clock_rig rig;
    struct clock_rig_config config = perfect_path();
    config.first_tick = 4294967296.0 - 300;
    uint32_t next = 0, restarts = 0, ticks = 0;
    clock_rig_start(&rig, &config);
    assert_int_equal(take_ticks(&rig, &next, &restarts), 0);
    double before = 0;
    while (rig.now < 10) {
        clock_rig_step(&rig, 0.01);
        ticks += take_ticks(&rig, &next, &restarts);
        const double time =
            cw_clock_sync_client_time(rig.sync, clock_rig_client_clock(&rig, rig.now));
        assert_true(time >= before);
        before = time;
        if (stats_of(&rig).synced)
            assert_int_equal(next, cw_tick_of(time) + 1);
    }
    assert_int_equal(restarts, 1);
    assert_int_equal(stats_of(&rig).restarts, 1);
    assert_in_range(ticks, 580, 610);
    assert_in_range(next, 290, 320);
    assert_true(fabs(clock_rig_error(&rig)) < 0.001);
    clock_rig_stop(&rig);
}

TEST(a_pause_leaves_ticks_out)
{
    static const double pauses[] = {2, 30, 600};
    for (size_t i = 0; i < 3; i++) {
        struct clock_rig rig;
        const struct clock_rig_config config = bad_path(i + 1);
        uint32_t next = 0, restarts = 0;
        clock_rig_start(&rig, &config);
        while (rig.now < 5) {
            clock_rig_step(&rig, STEP);
            take_ticks(&rig, &next, &restarts);
        }
        assert_int_equal(restarts, 1);
        const double server =
            cw_clock_sync_server_time(rig.sync, clock_rig_client_clock(&rig, rig.now));
        /* After a hidden tab is shown again, it reads what arrived in between. */
        const double end = rig.now + pauses[i];
        while (rig.now < end) {
            uint8_t data[16];
            rig.now += 1.0 / 60;
            rig.next_stamp = rig.now + 1;
            if (cw_simulator_due(rig.down) < end - 3)
                cw_simulator_transmit(rig.down, data, sizeof data, rig.now);
            clock_rig_departures(&rig);
        }
        rig.next_stamp = rig.now;
        uint8_t data[16];
        size_t size;
        while ((size = cw_simulator_transmit(rig.down, data, sizeof data, rig.now)) > 0)
            cw_clock_sync_receive(rig.sync, data, size, clock_rig_client_clock(&rig, rig.now));
        clock_rig_step(&rig, STEP);
        assert_true(fabs(clock_rig_error(&rig)) < 0.003 + pauses[i] * 200e-6);
        assert_true(cw_clock_sync_server_time(rig.sync, clock_rig_client_clock(&rig, rig.now)) >
                    server);
        assert_int_equal(take_ticks(&rig, &next, &restarts), 1);
        assert_int_equal(restarts, 2);
        worst_error(&rig, 4);
        assert_true(worst_error(&rig, 10) <= 0.002);
        clock_rig_stop(&rig);
    }
}

TEST(a_jump_of_the_servers_ticks_is_told)
{
    static const double jumps[] = {-100000, 5000, -200, 2000000000.0, -1900000000.0};
    struct clock_rig rig;
    const struct clock_rig_config config = bad_path(5);
    uint32_t next = 0, restarts = 0;
    clock_rig_start(&rig, &config);
    for (size_t i = 0; i < 5; i++) {
        for (double end = rig.now + 5; rig.now < end;) {
            clock_rig_step(&rig, STEP);
            take_ticks(&rig, &next, &restarts);
        }
        assert_int_equal(restarts, i + 1);
        rig.tick_jump += jumps[i];
    }
    worst_error(&rig, 0.2);
    take_ticks(&rig, &next, &restarts);
    worst_error(&rig, 2);
    assert_true(worst_error(&rig, 5) <= 0.002);
    clock_rig_stop(&rig);
}

/* The ticks jump as far as they can; only the sanitizer sees what is wrong then. */
TEST(a_jump_of_half_of_all_ticks_is_told)
{
    const struct clock_rig_config config = perfect_path();
    for (int32_t before = -90; before <= 30; before++) {
        struct clock_rig rig;
        uint32_t next = 0, restarts = 0;
        clock_rig_start(&rig, &config);
        worst_error(&rig, 0.2);
        take_ticks(&rig, &next, &restarts);
        rig.tick_jump += 2147483647.0 + before;
        for (int i = 0; i < 20; i++) {
            clock_rig_step(&rig, 0.01);
            take_ticks(&rig, &next, &restarts);
        }
        assert_int_equal(restarts, 2);
        clock_rig_stop(&rig);
    }
}

/* Runs the ticks that are due, and gives for each what the server says about it. */
static void run_with_need(struct clock_rig *rig, double seconds, double need)
{
    struct cw_clock_sync_event event;
    for (double end = rig->now + seconds; rig->now < end;) {
        clock_rig_step(rig, FRAME);
        const double now = clock_rig_client_clock(rig, rig->now);
        while (cw_clock_sync_next(rig->sync, &event)) {
            const double arrives = cw_clock_sync_server_time(rig->sync, now) + need * 60;
            const double early =
                cw_tick_difference(event.tick, cw_tick_of(arrives)) - (arrives - floor(arrives));
            if (event.type == CW_CLOCK_SYNC_EVENT_TICK)
                assert_int_equal(cw_clock_sync_adjust(rig->sync, event.tick, early, now), CW_OK);
        }
    }
}

/* The client's ticks get ahead by as much as the server says that they need. */
TEST(the_lead_follows_the_servers_word)
{
    struct clock_rig rig;
    const struct clock_rig_config config = perfect_path();
    clock_rig_start(&rig, &config);
    assert_int_equal(cw_clock_sync_adjust(rig.sync, 7, 0, 1), CW_ERROR_STALE);
    /* The lead becomes as long as the path takes, plus a frame and some reserve. */
    static const double needs[] = {0.1, 0.3, 0.05, 0};
    for (size_t i = 0; i < 4; i++) {
        run_with_need(&rig, 25, needs[i]);
        const double lead = stats_of(&rig).lead_seconds;
        const double spare = fmax(needs[i] - 0.02, 0) / 4 + 0.25 / 60;
        if (fabs(lead - needs[i] - spare - FRAME) > 0.002)
            fail_msg("lead %g for %g", lead, needs[i]);
    }
    assert_int_equal(stats_of(&rig).restarts, 1);
    const uint32_t tick =
        cw_tick_of(cw_clock_sync_client_time(rig.sync, clock_rig_client_clock(&rig, rig.now)));
    assert_int_equal(cw_clock_sync_adjust(rig.sync, tick, 0, 1), CW_OK);
    assert_int_equal(cw_clock_sync_adjust(rig.sync, tick + 1, 0, 1), CW_ERROR_STALE);
    assert_int_equal(cw_clock_sync_adjust(rig.sync, tick - 512, 0, 1), CW_ERROR_STALE);
    clock_rig_stop(&rig);
}

/* The guess is half of the round trip, and the wait for a frame and for a tick. */
TEST(the_lead_is_guessed_before_the_servers_word)
{
    struct clock_rig rig;
    const struct clock_rig_config config = perfect_path();
    clock_rig_start(&rig, &config);
    while (rig.now < 5)
        clock_rig_step(&rig, 0.02);
    assert_true(fabs(stats_of(&rig).lead_seconds - 0.02 - 0.02 - 1.0 / 60) < 0.001);
    clock_rig_stop(&rig);
}

TEST(a_long_frame_is_forgotten)
{
    struct clock_rig rig;
    const struct clock_rig_config config = perfect_path();
    clock_rig_start(&rig, &config);
    while (rig.now < 5)
        clock_rig_step(&rig, 0.01);
    const double before = stats_of(&rig).lead_seconds;
    clock_rig_step(&rig, 0.2);
    while (rig.now < 6.5)
        clock_rig_step(&rig, 0.01);
    assert_true(stats_of(&rig).lead_seconds > before + 0.05);
    while (rig.now < 30)
        clock_rig_step(&rig, 0.01);
    assert_true(stats_of(&rig).lead_seconds < before + 0.002);
    /* From the time of a hidden page, the client remembers no more than the ticks it catches up
       with. */
    clock_rig_step(&rig, 60);
    while (rig.now < 91)
        clock_rig_step(&rig, 0.01);
    assert_true(stats_of(&rig).lead_seconds < before + 0.25);
    clock_rig_stop(&rig);
}

TEST(the_servers_word_goes_out_of_date)
{
    struct clock_rig rig;
    const struct clock_rig_config config = perfect_path();
    clock_rig_start(&rig, &config);
    run_with_need(&rig, 10, 0.3);
    assert_true(stats_of(&rig).lead_seconds > 0.3);
    worst_error(&rig, 20); /* the server says nothing */
    run_with_need(&rig, 6, 0.05);
    assert_true(stats_of(&rig).lead_seconds < 0.1);
    clock_rig_stop(&rig);
}

TEST(a_lead_that_is_far_off_is_jumped_to)
{
    struct clock_rig rig;
    const struct clock_rig_config config = perfect_path();
    clock_rig_start(&rig, &config);
    run_with_need(&rig, 5, 0.1);
    assert_int_equal(stats_of(&rig).restarts, 1);
    run_with_need(&rig, 1, 0.9);
    assert_int_equal(stats_of(&rig).restarts, 2);
    assert_true(stats_of(&rig).lead_seconds > 0.9);
    clock_rig_stop(&rig);
}

/* The lead is from 0 to its maximum, whatever the server says. */
TEST(the_lead_has_limits)
{
    struct clock_rig rig;
    const struct clock_rig_config config = perfect_path();
    struct cw_clock_sync_event event;
    clock_rig_start(&rig, &config);
    static const double early[] = {1e300, -1e300};
    for (size_t i = 0; i < 2; i++) {
        for (double end = rig.now + 30; rig.now < end;) {
            clock_rig_step(&rig, 0.005);
            const double now = clock_rig_client_clock(&rig, rig.now);
            while (cw_clock_sync_next(rig.sync, &event))
                if (event.type == CW_CLOCK_SYNC_EVENT_TICK)
                    assert_int_equal(cw_clock_sync_adjust(rig.sync, event.tick, early[i], now),
                                     CW_OK);
        }
        const double lead = stats_of(&rig).lead_seconds;
        assert_true(lead >= 0 && lead <= 1.5 + 1e-9);
        assert_true(i == 0 ? lead < 0.01 : lead > 1.49);
    }
    clock_rig_stop(&rig);
}

/* A minute of noise changes the time by no more than the limits allow, and the clock recovers from
   it. */
TEST(hostile_bytes_are_refused_or_harmless)
{
    struct clock_rig rig;
    const struct clock_rig_config config = perfect_path();
    struct cw_prng random = {77};
    uint8_t data[32];
    clock_rig_start(&rig, &config);
    worst_error(&rig, 1);
    const double now = clock_rig_client_clock(&rig, rig.now);
    for (size_t size = 0; size <= sizeof data; size++) {
        memset(data, 0xFF, sizeof data);
        if (size != CW_CLOCK_ECHO_SIZE)
            assert_int_equal(cw_clock_sync_receive(rig.sync, data, size, now), CW_ERROR_MALFORMED);
        if (size != CW_CLOCK_STAMP_SIZE)
            assert_int_equal(cw_clock_echo_receive(&rig.echo, data, size, now), CW_ERROR_MALFORMED);
    }
    /* Two stamps are refused: one that was never made, and one that was answered before it was
       asked. */
    memcpy(data, (uint8_t[]){19, 1, 0, 0}, 4); /* takes the place of 19, which was made */
    assert_int_equal(cw_clock_sync_receive(rig.sync, data, CW_CLOCK_ECHO_SIZE, now),
                     CW_ERROR_STALE);
    memcpy(data, (uint8_t[]){0x02, 0, 0xFE, 0xFF}, 4);
    assert_int_equal(cw_clock_sync_receive(rig.sync, data, CW_CLOCK_ECHO_SIZE, now),
                     CW_ERROR_MALFORMED);
    assert_true(fabs(clock_rig_error(&rig)) < 0.001);

    for (int i = 0; i < 60000; i++) {
        for (size_t j = 0; j < CW_CLOCK_ECHO_SIZE; j++)
            data[j] = (uint8_t)cw_prng_bits(&random);
        data[1] = 0;
        cw_clock_sync_receive(rig.sync, data, CW_CLOCK_ECHO_SIZE,
                              clock_rig_client_clock(&rig, rig.now));
        clock_rig_step(&rig, STEP);
        assert_true(isfinite(clock_rig_error(&rig)));
    }
    worst_error(&rig, 3);
    assert_true(worst_error(&rig, 3) <= 0.002);
    clock_rig_stop(&rig);
}

TEST(an_echo_tells_the_newest_stamp_and_not_too_old_ones)
{
    struct cw_clock_echo echo = {0};
    struct cw_clock_sync *sync = NULL;
    const struct cw_clock_sync_config config = cw_clock_sync_config_default();
    struct cw_clock_sync_stats stats;
    uint8_t first[2], second[2], answer[10];
    assert_int_equal(cw_clock_sync_create(&config, &sync), CW_OK);
    assert_int_equal(cw_clock_sync_transmit(sync, first, 1, 5), 0);
    assert_int_equal(cw_clock_sync_transmit(sync, first, sizeof first, 5), 2);
    assert_int_equal(cw_clock_sync_transmit(sync, second, sizeof second, 6), 2);

    assert_int_equal(cw_clock_echo_transmit(&echo, 40, answer, 9, 1), 0);
    assert_int_equal(cw_clock_echo_transmit(&echo, 1e17, answer, 10, 1), 0);
    assert_int_equal(cw_clock_echo_transmit(&echo, (double)NAN, answer, 10, 1), 0);
    assert_int_equal(cw_clock_echo_transmit(&echo, 40, answer, 10, 1), 10);
    assert_int_equal(cw_clock_sync_receive(sync, answer, 10, 6), CW_ERROR_STALE);

    assert_int_equal(cw_clock_echo_receive(&echo, second, 2, 10), CW_OK);
    assert_int_equal(cw_clock_echo_receive(&echo, first, 2, 10), CW_ERROR_STALE);
    assert_int_equal(cw_clock_echo_receive(&echo, second, 2, 10), CW_ERROR_STALE);
    assert_int_equal(cw_clock_echo_transmit(&echo, 40, answer, 10, 14), 10);
    assert_int_equal(cw_clock_sync_receive(sync, answer, 10, 10), CW_ERROR_STALE);
    assert_int_equal(cw_clock_echo_transmit(&echo, 40.5, answer, 10, 10.25), 10);
    cw_clock_sync_get_stats(sync, 7, &stats);
    assert_false(stats.synced);
    assert_true(cw_clock_sync_server_time(sync, 7) == 0);
    assert_int_equal(cw_clock_sync_receive(sync, answer, 10, 6.5), CW_OK);
    cw_clock_sync_get_stats(sync, 6.5, &stats);
    assert_true(stats.synced && stats.answers == 1);
    assert_true(fabs(stats.rtt_seconds - 0.25) < 1e-9);
    /* The answer was sent at 40.5, and took half of 250 ms. */
    assert_true(fabs(cw_clock_sync_server_time(sync, 6.5) - 48) < 0.01);

    /* This answer has waited for a page that was hidden. */
    assert_int_equal(cw_clock_sync_transmit(sync, first, sizeof first, 20), 2);
    assert_int_equal(cw_clock_echo_receive(&echo, first, 2, 24), CW_OK);
    assert_int_equal(cw_clock_echo_transmit(&echo, 900, answer, 10, 24), 10);
    assert_int_equal(cw_clock_sync_receive(sync, answer, 10, 25.1), CW_ERROR_STALE);
    cw_clock_sync_get_stats(sync, 25.1, &stats);
    assert_true(fabs(stats.rtt_seconds - 0.25) < 1e-9);
    assert_int_equal(cw_clock_sync_receive(sync, answer, 10, 24.9), CW_OK);

    cw_clock_sync_reset(sync);
    cw_clock_sync_get_stats(sync, 7, &stats);
    assert_false(stats.synced);
    assert_int_equal(cw_clock_sync_receive(sync, answer, 10, 7), CW_ERROR_STALE);
    /* A server that knows the old stamps takes the new ones. */
    assert_int_equal(cw_clock_sync_transmit(sync, first, sizeof first, 30), 2);
    assert_int_equal(cw_clock_echo_receive(&echo, first, 2, 30), CW_OK);
    cw_clock_sync_destroy(sync);
}

TEST(a_tick_time_below_0_has_its_tick)
{
    assert_int_equal(cw_tick_of(0), 0);
    assert_int_equal(cw_tick_of(7.99), 7);
    assert_int_equal(cw_tick_of(-0.01), UINT32_MAX);
    assert_int_equal(cw_tick_of(4294967296.0 + 5.5), 5);
    assert_int_equal(cw_tick_of((double)NAN), 0);
    assert_int_equal(cw_tick_of(1e300), 0);
    assert_int_equal(cw_tick_difference(2, UINT32_MAX), 3);
    assert_int_equal(cw_tick_difference(UINT32_MAX, 2), -3);
}

TEST(memory_is_little)
{
    const struct cw_clock_sync_config good = cw_clock_sync_config_default();
    assert_in_range(cw_clock_sync_memory(&good), 1, 16384);
}
