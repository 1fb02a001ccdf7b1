/* Tests of what is shown of snapshots: it is smooth, although they arrive as a network brings them.
 */
#include "config_error.h"
#include "owned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE  60.0 /* ticks a second */
#define FRAME (1 / 144.0)

static struct cw_interpolation *make(uint32_t entry_size, uint32_t max_entries)
{
    struct cw_interpolation_config config = cw_interpolation_config_default();
    config.entry_size = entry_size;
    config.max_entries = max_entries;
    return interpolation_with(&config);
}

static struct cw_interpolation_stats stats_of(const struct cw_interpolation *interpolation)
{
    struct cw_interpolation_stats stats;
    cw_interpolation_get_stats(interpolation, &stats);
    return stats;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.6f is not %.6f", value, expected);
}

/* A server that sends a snapshot every few ticks, and a client that shows them every frame. */
struct rig {
    struct cw_interpolation *interpolation;
    struct cw_simulator *path;
    uint32_t first_tick;
    uint32_t interval;            /* ticks from one snapshot to the next */
    uint32_t next;                /* ticks since the first one */
    double offset;                /* the client's clock minus the server's */
    double now;                   /* the server's clock */
    double shown;                 /* ticks since the first one */
    double least_step, most_step; /* the shown ticks of a frame, as a share of the clock's */
};

static void rig_start(struct rig *rig, const struct cw_simulator_path *path)
{
    struct cw_simulator_config config = cw_simulator_config_default();
    config.path = *path;
    config.seed = 1;
    config.max_datagrams = 16384;
    *rig = (struct rig){.interpolation = make(8, 64), .interval = 3, .first_tick = 1000};
    rig->path = simulator_with(&config);
}

static void rig_send(struct rig *rig)
{
    for (; rig->next <= rig->now * RATE; rig->next += rig->interval) {
        const uint32_t tick = rig->first_tick + rig->next;
        uint8_t data[4];
        memcpy(data, &tick, sizeof tick);
        cw_simulator_receive(rig->path, data, sizeof data, rig->next / RATE);
    }
}

static void rig_receive(struct rig *rig)
{
    uint8_t data[4];
    while (cw_simulator_transmit(rig->path, data, sizeof data, rig->now) > 0) {
        uint32_t tick;
        memcpy(&tick, data, sizeof tick);
        const uint64_t entry = (uint64_t)tick * 7;
        cw_interpolation_receive(rig->interpolation, tick, &entry, rig->now + rig->offset);
    }
}

/* Returns what the entries of the view say is shown, in ticks since the first one. */
static double rig_shown(const struct rig *rig, const struct cw_view *view)
{
    uint64_t from, to;
    memcpy(&from, cw_interpolation_entry(rig->interpolation, view->from), sizeof from);
    memcpy(&to, cw_interpolation_entry(rig->interpolation, view->to), sizeof to);
    assert_true(from == (uint64_t)view->from * 7 && to == (uint64_t)view->to * 7);
    const double start = view->from - rig->first_tick;
    return start + (view->to - view->from) * (double)view->fraction;
}

/* Lets frames pass without the client: the tab is hidden, and what arrives waits. */
static void rig_hide(struct rig *rig, double seconds)
{
    rig->now += seconds;
    rig_send(rig);
}

static void rig_run(struct rig *rig, double seconds)
{
    const double end = rig->now + seconds;
    rig->least_step = INFINITY;
    rig->most_step = -INFINITY;
    while (rig->now < end) {
        struct cw_view view;
        rig->now += FRAME;
        rig_send(rig);
        rig_receive(rig);
        if (!cw_interpolation_view(rig->interpolation, rig->now + rig->offset, &view))
            continue;
        const double shown = rig_shown(rig, &view);
        const double step = (shown - rig->shown) / (FRAME * RATE);
        rig->least_step = fmin(rig->least_step, step);
        rig->most_step = fmax(rig->most_step, step);
        rig->shown = shown;
    }
}

/* Returns how late the view is, in seconds after the moment it shows. */
static double rig_age(const struct rig *rig)
{
    return rig->now - rig->shown / RATE;
}

TEST(an_even_path_is_shown_evenly)
{
    struct rig rig;
    rig_start(&rig, &(struct cw_simulator_path){.latency_seconds = 0.05});
    rig.offset = -12345;
    rig_run(&rig, 5);
    rig_run(&rig, 5);
    assert_near(rig.least_step, 1, 0.001);
    assert_near(rig.most_step, 1, 0.001);
    /* One interval and a frame are delay enough. */
    assert_near(rig_age(&rig), 0.05 + 0.05 + FRAME / 2, FRAME);
    const struct cw_interpolation_stats stats = stats_of(rig.interpolation);
    assert_near(stats.delay_seconds, 0.05 + FRAME / 2, FRAME);
    assert_near(stats.target_seconds, stats.delay_seconds, 0.0001);
    assert_int_equal(stats.jumps, 0);
}

TEST(the_delay_follows_the_rate)
{
    static const uint32_t intervals[] = {1, 2, 3, 6};
    for (size_t i = 0; i < 4; i++) {
        struct rig rig;
        rig_start(&rig, &(struct cw_simulator_path){.latency_seconds = 0.05});
        rig.interval = intervals[i];
        rig_run(&rig, 20);
        assert_near(stats_of(rig.interpolation).delay_seconds, intervals[i] / RATE, 2 * FRAME);
    }
}

TEST(the_delay_covers_jitter_and_loss)
{
    struct rig rig;
    rig_start(&rig,
              &(struct cw_simulator_path){
                  .latency_seconds = 0.05, .jitter_seconds = 0.06, .loss = 0.2, .duplicate = 0.1});
    rig_run(&rig, 10);
    const struct cw_interpolation_stats before = stats_of(rig.interpolation);
    rig_run(&rig, 300);
    const struct cw_interpolation_stats after = stats_of(rig.interpolation);
    const double extrapolated =
        (double)(after.extrapolated - before.extrapolated) / (double)(after.views - before.views);
    print_message("delay %.0f ms, %.2f %% extrapolated, held %d, speed %.2f to %.2f\n",
                  after.delay_seconds * 1e3, extrapolated * 100, (int)after.frozen, rig.least_step,
                  rig.most_step);
    assert_true(extrapolated < 0.02);
    assert_in_range((int64_t)(after.delay_seconds * 1e3), 100, 260);
    /* The view never goes back, and never jumps. */
    assert_true(rig.least_step > 0.79 && rig.most_step < 1.11);
    assert_int_equal(after.jumps, 0);
    assert_true(after.refused > 0);
}

TEST(the_delay_follows_the_path)
{
    struct rig rig;
    rig_start(&rig, &(struct cw_simulator_path){.latency_seconds = 0.02});
    rig_run(&rig, 10);
    const double age = rig_age(&rig);
    const struct cw_simulator_path slow = {.latency_seconds = 0.25};
    cw_simulator_change(rig.path, &slow);
    rig_run(&rig, 10);
    assert_near(rig_age(&rig), age + 0.23, FRAME);
    assert_true(rig.least_step > 0.79);
    const struct cw_simulator_path quick = {.latency_seconds = 0.02};
    cw_simulator_change(rig.path, &quick);
    rig_run(&rig, 10);
    assert_near(rig_age(&rig), age, FRAME);
    assert_true(rig.most_step < 1.11);
    assert_int_equal(stats_of(rig.interpolation).jumps, 0);
}

TEST(the_limits_of_the_delay_hold)
{
    struct cw_interpolation_config config = cw_interpolation_config_default();
    struct rig rig;
    config.entry_size = 8;
    config.min_delay_seconds = config.max_delay_seconds = 0.2;
    for (int jitter = 0; jitter < 2; jitter++) {
        rig_start(&rig, &(struct cw_simulator_path){.jitter_seconds = jitter * 0.4});
        rig.interpolation = interpolation_with(&config);
        rig_run(&rig, 10);
        assert_near(stats_of(rig.interpolation).target_seconds, 0.2, 1e-9);
    }
}

/* The server falls silent: the view guesses for a quarter of a second, then nothing moves. */
TEST(silence_is_bridged_up_to_a_limit)
{
    struct rig rig;
    rig_start(&rig, &(struct cw_simulator_path){.latency_seconds = 0.05});
    rig_run(&rig, 5);
    const struct cw_simulator_path dead = {.loss = 1};
    const double last = rig.next - rig.interval;
    cw_simulator_change(rig.path, &dead);
    rig_run(&rig, 0.2);
    assert_near(rig.least_step, 1, 0.001);
    rig_run(&rig, 3);
    assert_near(rig.shown, last + 0.25 * RATE, 0.01);
    assert_near(rig.least_step, 0, 0);
    const struct cw_interpolation_stats silent = stats_of(rig.interpolation);
    assert_true(silent.frozen > 300 && silent.extrapolated > silent.frozen);

    /* When the server comes back, the view is at once where it was before. */
    const struct cw_simulator_path alive = {.latency_seconds = 0.05};
    cw_simulator_change(rig.path, &alive);
    rig_run(&rig, 1);
    assert_near(rig_age(&rig), 0.1, 2 * FRAME);
    assert_int_equal(stats_of(rig.interpolation).jumps, 1);
}

TEST(a_hidden_tab_catches_up_at_once)
{
    struct rig rig;
    rig_start(&rig, &(struct cw_simulator_path){.latency_seconds = 0.05, .jitter_seconds = 0.01});
    rig_run(&rig, 10);
    rig_hide(&rig, 600);
    rig_run(&rig, FRAME / 2);
    assert_true(rig_age(&rig) < 0.05 + 0.5);
    rig_run(&rig, 10);
    assert_near(rig_age(&rig), 0.11, 2 * FRAME);
    assert_true(rig.least_step >= 0);

    /* The page wakes up once per second, as browsers allow it. */
    for (int second = 0; second < 120; second++) {
        rig_hide(&rig, 1);
        rig_run(&rig, FRAME / 2);
    }
    rig_run(&rig, 10);
    assert_near(rig_age(&rig), 0.11, 2 * FRAME);
}

/* The server's ticks begin anew, far ahead or behind. */
TEST(ticks_that_jump_begin_anew)
{
    static const uint32_t jumps[] = {700, 1u << 30, 0u - 700, 0u - 1000000, 0x7fffffff, 0x80000000};
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        struct rig rig;
        rig_start(&rig, &(struct cw_simulator_path){.latency_seconds = 0.05});
        rig_run(&rig, 5);
        rig.first_tick += jumps[i];
        rig_hide(&rig, 0.05);
        rig_run(&rig, 1);
        assert_near(rig_age(&rig), 0.1, 2 * FRAME);
    }
}

TEST(one_tick_from_far_away_is_forgotten)
{
    static const uint32_t jumps[] = {700, 1u << 30, 0u - 700, 0u - 1000000, 0x7fffffff, 0x80000000};
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        struct rig rig;
        struct cw_view view;
        const uint32_t tick = 1300 + jumps[i];
        const uint64_t entry = (uint64_t)tick * 7;
        rig_start(&rig, &(struct cw_simulator_path){.latency_seconds = 0.05});
        rig_run(&rig, 5);
        cw_interpolation_receive(rig.interpolation, tick, &entry, rig.now + rig.offset);
        assert_true(cw_interpolation_view(rig.interpolation, rig.now + rig.offset, &view));
        assert_true(view.from == tick || view.to == tick);
        rig_run(&rig, 1);
        assert_near(rig_age(&rig), 0.1, 2 * FRAME);
    }
}

TEST(who_joins_late_sees_the_first_until_the_second)
{
    struct cw_interpolation *interpolation = make(0, 8);
    struct cw_view view;
    assert_false(cw_interpolation_view(interpolation, 1, &view));
    assert_int_equal(cw_interpolation_receive(interpolation, 777, NULL, 1), CW_OK);
    for (double now = 1; now < 1.05; now += FRAME) {
        assert_true(cw_interpolation_view(interpolation, now, &view));
        assert_int_equal(view.from, 777);
        assert_int_equal(view.to, 777);
        assert_near(view.fraction, 0, 0);
    }
    assert_int_equal(cw_interpolation_receive(interpolation, 780, NULL, 1.05), CW_OK);
    assert_true(cw_interpolation_view(interpolation, 1.05, &view));
    assert_int_equal(view.from, 777);
    assert_true(cw_interpolation_view(interpolation, 1.075, &view));
    assert_int_equal(view.from, 777);
    assert_int_equal(view.to, 780);
    assert_near(view.fraction, 0.5, 0.01);
    assert_null(cw_interpolation_entry(interpolation, 777));

    /* The third comes late: the view waits until it is late enough, and does not go back. */
    assert_true(cw_interpolation_view(interpolation, 1.25, &view));
    assert_int_equal(view.from, 777);
    assert_near(view.fraction, 12 / 3.0, 1e-5);
    assert_int_equal(cw_interpolation_receive(interpolation, 783, NULL, 1.25), CW_OK);
    assert_int_equal(cw_interpolation_receive(interpolation, 795, NULL, 1.25), CW_OK);
    for (double now = 1.25; now < 1.4; now += FRAME) {
        assert_true(cw_interpolation_view(interpolation, now, &view));
        assert_int_equal(view.from, 783);
        assert_near(view.fraction, 0.5, 1e-5);
    }
    assert_true(cw_interpolation_view(interpolation, 1.45, &view));
    assert_near(view.fraction, 0.75, 1e-5);
}

/* Ticks wrap, arrive out of order, arrive twice, or never arrive. */
TEST(snapshots_find_their_place)
{
    struct cw_interpolation *interpolation = make(4, 4);
    static const uint32_t ticks[] = {4, UINT32_MAX, 1, UINT32_MAX - 2};
    struct cw_view view;
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(cw_interpolation_receive(interpolation, ticks[i], &ticks[i], 1), CW_OK);
    assert_int_equal(cw_interpolation_receive(interpolation, 1, &ticks[0], 1), CW_ERROR_DUPLICATE);
    assert_int_equal(cw_interpolation_receive(interpolation, UINT32_MAX - 3, &ticks[0], 1),
                     CW_ERROR_STALE);
    for (uint32_t i = 0; i < 4; i++)
        assert_memory_equal(cw_interpolation_entry(interpolation, ticks[i]), &ticks[i], 4);
    assert_null(cw_interpolation_entry(interpolation, 0));
    assert_null(cw_interpolation_entry(interpolation, 5));
    assert_null(cw_interpolation_entry(interpolation, UINT32_MAX - 5));

    const uint32_t next = 5;
    assert_int_equal(cw_interpolation_receive(interpolation, next, &next, 1), CW_OK);
    assert_null(cw_interpolation_entry(interpolation, UINT32_MAX - 2));
    assert_memory_equal(cw_interpolation_entry(interpolation, UINT32_MAX), &ticks[1], 4);
    const struct cw_interpolation_stats stats = stats_of(interpolation);
    assert_int_equal(stats.received, 5);
    assert_int_equal(stats.refused, 2);

    cw_interpolation_reset(interpolation);
    assert_false(cw_interpolation_view(interpolation, 2, &view));
    assert_null(cw_interpolation_entry(interpolation, 5));
    assert_int_equal(stats_of(interpolation).received, 0);
    assert_int_equal(cw_interpolation_receive(interpolation, 3, &next, 0), CW_OK);
    assert_true(cw_interpolation_view(interpolation, 0, &view));
    assert_int_equal(view.from, 3);
}

TEST(ticks_wrap_on_the_way)
{
    struct rig plain, wrapping;
    const struct cw_simulator_path path = {
        .latency_seconds = 0.05, .jitter_seconds = 0.03, .loss = 0.1};
    rig_start(&plain, &path);
    rig_start(&wrapping, &path);
    wrapping.first_tick = (uint32_t)-100;
    rig_run(&plain, 10);
    /* rig_shown compares the entries with the ticks in each frame, most of which come after the
       wrap. */
    while (wrapping.now < plain.now) {
        struct cw_view view;
        wrapping.now += FRAME;
        rig_send(&wrapping);
        rig_receive(&wrapping);
        if (cw_interpolation_view(wrapping.interpolation, wrapping.now, &view))
            wrapping.shown = rig_shown(&wrapping, &view);
    }
    assert_near(wrapping.shown, plain.shown, 1e-3);
}

TEST(impossible_configs_are_refused)
{
    struct cw_interpolation *interpolation = NULL;
    struct cw_interpolation_config bad = cw_interpolation_config_default();
    bad.ticks_per_second = 1001;
    assert_error_names(cw_interpolation_create(&bad, &interpolation), "ticks_per_second");
    bad = cw_interpolation_config_default();
    bad.min_delay_seconds = bad.max_delay_seconds + 0.1;
    assert_error_names(cw_interpolation_create(&bad, &interpolation), "min_delay_seconds");
    assert_null(interpolation);
}
