#include "config_error.h"
#include "counted.h"
#include "owned.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct cw_simulator *make(const struct cw_simulator_path *path, uint64_t seed)
{
    struct cw_simulator_config config = cw_simulator_config_default();
    config.seed = seed;
    config.path = *path;
    config.max_datagrams = 4096;
    return simulator_with(&config);
}

static void put(struct cw_simulator *simulator, uint32_t number, double now)
{
    uint8_t datagram[100] = {0};
    memcpy(datagram, &number, sizeof number);
    assert_int_equal(cw_simulator_receive(simulator, datagram, sizeof datagram, now), CW_OK);
}

/* Takes a datagram that put made; returns -1 when none is due. */
static int64_t take(struct cw_simulator *simulator, double now)
{
    uint8_t datagram[1400];
    uint32_t number;
    const size_t size = cw_simulator_transmit(simulator, datagram, sizeof datagram, now);
    if (size == 0)
        return -1;
    assert_int_equal(size, 100);
    memcpy(&number, datagram, sizeof number);
    return number;
}

static struct cw_simulator_stats stats_of(const struct cw_simulator *simulator)
{
    struct cw_simulator_stats stats;
    cw_simulator_get_stats(simulator, &stats);
    assert_int_equal(stats.datagrams_received + stats.datagrams_duplicated,
                     stats.datagrams_lost + stats.datagrams_overflowed +
                         stats.datagrams_transmitted + stats.datagrams_under_way);
    return stats;
}

/* The caller that puts a datagram in may know what the path will do to it. */
TEST(the_newest_datagram_is_known)
{
    const struct cw_simulator_path path = {
        .latency_seconds = 1, .jitter_seconds = 0.5, .loss = 0.3, .duplicate = 0.3};
    struct cw_simulator *simulator = make(&path, 9);
    assert_true(cw_simulator_newest_due(simulator) == INFINITY);
    for (uint32_t i = 0; i < 1000; i++) {
        const uint64_t lost = stats_of(simulator).datagrams_lost;
        put(simulator, i, 100.0 * i);
        const double due = cw_simulator_newest_due(simulator);
        assert_true(due == cw_simulator_due(simulator));
        assert_true((due == INFINITY) == (stats_of(simulator).datagrams_lost > lost));
        while (take(simulator, 100.0 * i + 50) >= 0)
            assert_true(cw_simulator_newest_due(simulator) == due);
    }
}

TEST(a_perfect_path_changes_nothing)
{
    struct cw_simulator *simulator = make(&(struct cw_simulator_path){0}, 1);
    assert_true(cw_simulator_due(simulator) == INFINITY);
    for (uint32_t i = 0; i < 1000; i++)
        put(simulator, i, 5);
    assert_true(cw_simulator_due(simulator) == 5);
    assert_int_equal(take(simulator, 4.999), -1);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(take(simulator, 5), i);
    assert_int_equal(take(simulator, 5), -1);
    const struct cw_simulator_stats stats = stats_of(simulator);
    assert_int_equal(stats.datagrams_transmitted, 1000);
    assert_int_equal(stats.datagrams_reordered, 0);
    assert_int_equal(stats.bytes_received, 100000);
    assert_int_equal(stats.bytes_transmitted, 100000);
}

TEST(delay_is_latency_plus_up_to_jitter)
{
    struct cw_simulator *simulator =
        make(&(struct cw_simulator_path){.latency_seconds = 0.05, .jitter_seconds = 0.02}, 2);
    double lowest = 1, highest = 0, sum = 0, last = 0;
    uint64_t overtaken = 0;
    int64_t newest = -1;
    for (uint32_t i = 0; i < 4000; i++)
        put(simulator, i, i * 0.001);
    for (uint32_t i = 0; i < 4000; i++) {
        const double due = cw_simulator_due(simulator);
        const int64_t number = take(simulator, due);
        assert_true(due >= last);
        last = due;
        const double delay = due - (double)number * 0.001;
        lowest = fmin(lowest, delay);
        highest = fmax(highest, delay);
        sum += delay;
        overtaken += number < newest;
        newest = number > newest ? number : newest;
    }
    assert_true(lowest >= 0.05 - 1e-9 && lowest < 0.0505);
    assert_true(highest < 0.07 && highest > 0.0695);
    assert_true(fabs(sum / 4000 - 0.06) < 0.0005);
    assert_true(overtaken > 1000);
    assert_int_equal(stats_of(simulator).datagrams_reordered, overtaken);
}

TEST(loss_is_even)
{
    struct cw_simulator *simulator = make(&(struct cw_simulator_path){.loss = 0.2}, 3);
    unsigned pairs = 0, lost = 0;
    bool before = false;
    for (uint32_t i = 0; i < 100000; i++) {
        put(simulator, i, i);
        const bool now = take(simulator, i) < 0;
        lost += now;
        pairs += now && before;
        before = now;
    }
    assert_int_equal(stats_of(simulator).datagrams_lost, lost);
    assert_in_range(lost, 19500, 20500);
    assert_in_range(pairs, 3700, 4300);
}

TEST(bursts_have_their_length_and_share)
{
    /* The path is bad a third of the time, for 20 datagrams in a row. */
    struct cw_simulator *simulator = make(
        &(struct cw_simulator_path){.burst_start = 0.025, .burst_end = 0.05, .burst_loss = 1}, 4);
    unsigned bursts = 0, lost = 0;
    bool before = false;
    for (uint32_t i = 0; i < 200000; i++) {
        put(simulator, i, i);
        const bool now = take(simulator, i) < 0;
        lost += now;
        bursts += now && !before;
        before = now;
    }
    assert_true(fabs(lost / 200000.0 - 1.0 / 3) < 0.02);
    assert_true(fabs((double)lost / bursts - 20) < 1);

    const struct cw_simulator_path mild = {
        .loss = 0.01, .burst_start = 0.5, .burst_end = 0.5, .burst_loss = 0.21};
    assert_int_equal(cw_simulator_change(simulator, &mild), CW_OK);
    lost = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        put(simulator, i, 200000 + i);
        lost += take(simulator, 200000 + i) < 0;
    }
    assert_in_range(lost, 10500, 11500);
}

TEST(copies_arrive_once_more)
{
    struct cw_simulator *simulator = make(&(struct cw_simulator_path){.latency_seconds = 0.1,
                                                                      .jitter_seconds = 0.05,
                                                                      .duplicate = 0.25},
                                          5);
    uint8_t arrived[4000] = {0};
    unsigned twice = 0;
    for (uint32_t i = 0; i < 2000; i++)
        put(simulator, i, 0);
    for (int64_t number; (number = take(simulator, 1)) >= 0;)
        arrived[number]++;
    for (uint32_t i = 0; i < 2000; i++) {
        assert_in_range(arrived[i], 1, 2);
        twice += arrived[i] == 2;
    }
    assert_in_range(twice, 450, 550);
    assert_int_equal(stats_of(simulator).datagrams_duplicated, twice);

    /* A copy right behind its original has overtaken nothing. */
    simulator = make(&(struct cw_simulator_path){.duplicate = 1}, 5);
    for (uint32_t i = 0; i < 10; i++)
        put(simulator, i, 0);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(take(simulator, 0), i / 2);
    assert_int_equal(stats_of(simulator).datagrams_reordered, 0);
}

TEST(some_are_held_up)
{
    struct cw_simulator *simulator = make(
        &(struct cw_simulator_path){
            .latency_seconds = 0.1, .reorder = 0.1, .reorder_delay_seconds = 0.025},
        6);
    unsigned late = 0;
    for (uint32_t i = 0; i < 4000; i++)
        put(simulator, i, i * 0.01);
    for (uint32_t i = 0; i < 4000; i++) {
        const double due = cw_simulator_due(simulator);
        const double delay = due - (double)take(simulator, due) * 0.01;
        if (delay < 0.11)
            assert_true(fabs(delay - 0.1) < 1e-9);
        else
            assert_true(fabs(delay - 0.125) < 1e-9);
        late += delay > 0.11;
    }
    assert_in_range(late, 350, 450);
    const uint64_t reordered = stats_of(simulator).datagrams_reordered;
    assert_true(reordered <= late && reordered > 300);
}

TEST(the_bandwidth_limit_spaces_and_drops)
{
    /* The path passes 100 datagrams a second, and ten may wait. */
    struct cw_simulator *simulator = make(&(struct cw_simulator_path){.latency_seconds = 1,
                                                                      .bytes_per_second = 10000,
                                                                      .queue_bytes = 1000},
                                          7);
    for (uint32_t i = 0; i < 20; i++)
        put(simulator, i, 0);
    assert_int_equal(stats_of(simulator).datagrams_overflowed, 9);
    for (uint32_t i = 0; i < 11; i++) {
        const double due = cw_simulator_due(simulator);
        assert_true(fabs(due - (1 + 0.01 * (i + 1))) < 1e-9);
        assert_int_equal(take(simulator, due), i);
    }
    /* Half of the 1100 bytes are through at 0.055, so five more find at most 1000. */
    for (uint32_t i = 0; i < 20; i++)
        put(simulator, i, 0.055);
    assert_int_equal(stats_of(simulator).datagrams_overflowed, 9 + 15);

    struct cw_simulator_path path = {.latency_seconds = 1};
    assert_int_equal(cw_simulator_change(simulator, &path), CW_OK);
    put(simulator, 77, 0.06);
    assert_true(unit_same(cw_simulator_due(simulator), 1.06));

    /* A datagram always passes a link on which nothing waits. */
    simulator = make(&(struct cw_simulator_path){.bytes_per_second = 50}, 8);
    put(simulator, 1, 0);
    put(simulator, 2, 1.9);
    put(simulator, 3, 2);
    assert_int_equal(take(simulator, 4), 1);
    assert_int_equal(take(simulator, 4), 3);
    assert_int_equal(stats_of(simulator).datagrams_overflowed, 1);
}

TEST(a_limited_path_has_no_time_of_its_own)
{
    struct cw_simulator *simulator =
        make(&(struct cw_simulator_path){.bytes_per_second = 1000, .queue_bytes = 1000}, 1);
    put(simulator, 1, -50);
    put(simulator, 2, -50);
    assert_true(unit_same(cw_simulator_due(simulator), -49.9));
    assert_int_equal(take(simulator, -49.9), 1);
    assert_int_equal(take(simulator, -49.8), 2);
}

TEST(places_are_bounded_and_come_back)
{
    struct cw_simulator_config config = cw_simulator_config_default();
    config.max_datagram_size = 100;
    config.max_datagrams = 3;
    config.path.duplicate = 1;
    config.path.latency_seconds = 1;
    struct cw_simulator *simulator = simulator_with(&config);
    for (uint32_t lap = 0; lap < 10; lap++) {
        for (uint32_t i = 0; i < 4; i++)
            put(simulator, i, lap);
        assert_int_equal(take(simulator, lap + 1), 0);
        assert_int_equal(take(simulator, lap + 1), 0);
        assert_int_equal(take(simulator, lap + 1), 1);
        assert_int_equal(take(simulator, lap + 1), -1);
    }
    assert_int_equal(stats_of(simulator).datagrams_overflowed, 20);
}

TEST(sizes_are_kept_and_checked)
{
    struct cw_simulator *simulator = make(&(struct cw_simulator_path){0}, 9);
    uint8_t in[1401], out[1401] = {0};
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(i * 7);
    assert_int_equal(cw_simulator_receive(simulator, in, 0, 0), CW_ERROR_MALFORMED);
    assert_int_equal(cw_simulator_receive(simulator, in, 1401, 0), CW_ERROR_PACKET_TOO_LARGE);
    assert_int_equal(stats_of(simulator).datagrams_received, 0);
    assert_int_equal(cw_simulator_receive(simulator, in, 1400, 0), CW_OK);
    assert_int_equal(cw_simulator_receive(simulator, in, 1, 0), CW_OK);
    assert_int_equal(cw_simulator_transmit(simulator, out, 1399, 0), 0);
    assert_int_equal(cw_simulator_transmit(simulator, out, 1400, 0), 1400);
    assert_memory_equal(in, out, 1400);
    assert_int_equal(out[1400], 0);
    assert_int_equal(cw_simulator_transmit(simulator, out, 1400, 0), 1);
}

static const struct cw_simulator_path everything = {.latency_seconds = 0.04,
                                                    .jitter_seconds = 0.03,
                                                    .loss = 0.05,
                                                    .burst_start = 0.01,
                                                    .burst_end = 0.1,
                                                    .burst_loss = 0.7,
                                                    .duplicate = 0.1,
                                                    .reorder = 0.1,
                                                    .reorder_delay_seconds = 0.05,
                                                    .bytes_per_second = 30000,
                                                    .queue_bytes = 5000};

/* Returns a hash over everything that comes out of a run, with the bits of its time. */
static uint64_t fingerprint(uint64_t seed)
{
    struct cw_simulator *simulator = make(&everything, seed);
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < 20000; i++) {
        const double now = i / 300.0;
        uint64_t bits;
        put(simulator, i, now);
        for (double due; (due = cw_simulator_due(simulator)) <= now;) {
            memcpy(&bits, &due, sizeof bits);
            hash = (hash ^ bits) * 0x100000001b3u;
            hash = (hash ^ (uint64_t)take(simulator, now)) * 0x100000001b3u;
        }
    }
    return hash;
}

TEST(a_seed_repeats_bit_for_bit)
{
    assert_int_equal(fingerprint(1), fingerprint(1));
    assert_int_not_equal(fingerprint(1), fingerprint(2));
    /* The hash is the same on every machine and by every compiler that rounds each operation. */
    if (FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 1)
        assert_int_equal(fingerprint(1), 0x4fb8450cf9e75bd4u);
}

TEST(use_allocates_nothing)
{
    static struct counted counted;
    struct cw_simulator_config config = cw_simulator_config_default();
    config.allocator = counted_allocator(&counted);
    struct cw_simulator *simulator = simulator_with(&config);
    for (uint32_t i = 0; i < 1000; i++)
        put(simulator, i, 0);
    assert_int_equal(counted.allocations, 1);
    cw_simulator_destroy(NULL);
}

static void refuse(struct cw_simulator_config config, const char *field)
{
    struct cw_simulator *simulator = NULL;
    assert_error_names(cw_simulator_create(&config, &simulator), field);
    assert_null(simulator);
    assert_int_equal(cw_simulator_memory(&config), 0);
}

TEST(impossible_paths_are_refused)
{
    struct cw_simulator_config config = cw_simulator_config_default();
    config.path.loss = 1.001;
    refuse(config, "loss");
    struct cw_simulator *simulator = make(&(struct cw_simulator_path){.loss = 1}, 1);
    const struct cw_simulator_path wrong = {.burst_loss = 2};
    assert_error_names(cw_simulator_change(simulator, &wrong), "burst_loss");
    put(simulator, 1, 0);
    assert_int_equal(take(simulator, 0), -1);
}

/* A burst that is under way when the path changes to one without bursts ends there. */
TEST(a_path_without_bursts_ends_a_burst)
{
    const struct cw_simulator_path burst = {.burst_start = 1, .burst_loss = 1};
    const struct cw_simulator_path even = {.burst_loss = 1};
    struct cw_simulator *simulator = make(&burst, 1);
    for (uint32_t i = 0; i < 10; i++)
        put(simulator, i, 0);
    assert_int_equal(stats_of(simulator).datagrams_lost, 10);
    assert_int_equal(cw_simulator_change(simulator, &even), CW_OK);
    for (uint32_t i = 0; i < 10; i++)
        put(simulator, i, 0);
    assert_int_equal(stats_of(simulator).datagrams_lost, 10);
}
