/* Tests of a client that plays ahead of its server, and is put right. */
#include "causeway/prediction.h"

#include "config_error.h"
#include "owned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOVE_FIELDS(FIELD) FIELD(push, CW_INT(-100, 100))
CW_MESSAGE(move, MOVE_FIELDS)

#define BALL_FIELDS(FIELD)                                                                         \
    FIELD(x, CW_INT(INT32_MIN, INT32_MAX))                                                         \
    FIELD(speed, CW_INT(INT32_MIN, INT32_MAX))                                                     \
    FIELD(height, CW_FLOAT)                                                                        \
    FIELD(angle, CW_COMPRESSED_FLOAT(-10, 10, 0.01f))                                              \
    FIELD(name, CW_STRING(8))                                                                      \
    FIELD(trail, CW_ARRAY(CW_DOUBLE, 4))                                                           \
    FIELD(score, CW_OPTIONAL(CW_BITS(32)))
CW_MESSAGE(ball, BALL_FIELDS)

enum { X, SPEED, HEIGHT, ANGLE, NAME, TRAIL, SCORE, FIELDS };

/* The force that a tick adds. Ticks have no other state, but for what a test breaks. */
static int32_t wind;
static void step(struct ball *ball, const struct move *move)
{
    ball->speed += move->push + wind;
    ball->speed -= ball->speed / 16;
    ball->x += ball->speed;
    ball->height += 0.5f * (float)move->push;
}

struct rig {
    struct cw_schema *schema;
    struct cw_prediction *prediction;
    struct cw_prediction_config config;
    float tolerances[FIELDS], smooth_limits[FIELDS];
    struct ball ball; /* the client's ball */
    uint32_t tick;
    uint32_t replayed;
    uint32_t first_replayed;
};

static void rig_open(struct rig *rig)
{
    const struct cw_message_type types[] = {move_type, ball_type};
    const struct cw_schema_config schema = {.types = types, .count = 2};
    *rig = (struct rig){0};
    wind = 0;
    rig->schema = schema_with(&schema);
    rig->config = cw_prediction_config_default(rig->schema);
    rig->config.tolerances = rig->tolerances;
    rig->config.smooth_limits = rig->smooth_limits;
}

static void rig_start(struct rig *rig)
{
    rig->prediction = prediction_with(&rig->config);
}

static struct cw_prediction_stats stats_of(const struct rig *rig)
{
    struct cw_prediction_stats stats;
    cw_prediction_get_stats(rig->prediction, &stats);
    return stats;
}

static struct move move_of(uint32_t tick)
{
    return (struct move){(int32_t)(tick * 37 % 201) - 100};
}

static void rig_replay(struct rig *rig)
{
    struct move move;
    uint32_t tick;
    rig->replayed = 0;
    while (cw_prediction_replay(rig->prediction, &rig->ball, &tick, &move)) {
        if (rig->replayed++ == 0)
            rig->first_replayed = tick;
        assert_int_equal(move.push, move_of(tick).push);
        step(&rig->ball, &move);
    }
}

static void rig_play(struct rig *rig, uint32_t ticks)
{
    for (; ticks > 0; ticks--) {
        const struct move move = move_of(++rig->tick);
        step(&rig->ball, &move);
        assert_int_equal(cw_prediction_add(rig->prediction, rig->tick, &move, &rig->ball), CW_OK);
        rig_replay(rig);
    }
}

/* Returns where the ball is at a later tick, from its place at a tick. */
static struct ball played_on(struct ball ball, uint32_t from, uint32_t to)
{
    for (uint32_t tick = from + 1; tick != to + 1; tick++) {
        const struct move move = move_of(tick);
        step(&ball, &move);
    }
    return ball;
}

static bool same(const struct rig *rig, const struct ball *a, const struct ball *b)
{
    return a->x == b->x && a->speed == b->speed && a->height == b->height && a->angle == b->angle &&
           strcmp(a->name, b->name) == 0 && rig->schema;
}

TEST(nothing_happens_while_both_agree)
{
    struct rig rig;
    rig_open(&rig);
    rig_start(&rig);
    const struct ball start = rig.ball;
    rig_play(&rig, 50);
    const struct ball before = rig.ball;
    for (uint32_t tick = 1; tick <= 50; tick++) {
        const struct ball server = played_on(start, 0, tick);
        assert_false(cw_prediction_correct(rig.prediction, tick, &server));
        rig_replay(&rig);
        assert_int_equal(rig.replayed, 0);
    }
    assert_memory_equal(&before, &rig.ball, sizeof before);
    const struct cw_prediction_stats stats = stats_of(&rig);
    assert_int_equal(stats.compared, 50);
    assert_int_equal(stats.corrections, 0);
    assert_int_equal(stats.error_field, CW_FIELD_NONE);
}

TEST(a_correction_plays_the_inputs_again)
{
    struct rig rig;
    rig_open(&rig);
    rig_start(&rig);
    rig_play(&rig, 30);
    struct ball server = played_on((struct ball){0}, 0, 12);
    server.x += 1000;
    server.speed -= 3;
    assert_true(cw_prediction_correct(rig.prediction, 12, &server));
    rig_replay(&rig);
    assert_int_equal(rig.first_replayed, 13);
    assert_int_equal(rig.replayed, 18);
    const struct ball expected = played_on(server, 12, 30);
    assert_true(same(&rig, &rig.ball, &expected));
    const struct cw_prediction_stats stats = stats_of(&rig);
    assert_int_equal(stats.corrections, 1);
    assert_int_equal(stats.replayed, 18);
    assert_int_equal(stats.depth, 18);
    assert_true(stats.error == 1000);
    assert_int_equal(stats.error_field, X);
    assert_int_equal(stats.wrong_field, X);
    assert_int_equal(stats.wrong_tick, 12);

    /* The states that follow from it are predicted now. */
    rig_play(&rig, 5);
    for (uint32_t tick = 13; tick <= 35; tick++) {
        const struct ball next = played_on(server, 12, tick);
        assert_false(cw_prediction_correct(rig.prediction, tick, &next));
    }
    assert_int_equal(stats_of(&rig).max_depth, 18);
}

TEST(corrections_that_come_together)
{
    struct rig rig;
    rig_open(&rig);
    rig_start(&rig);
    rig_play(&rig, 30);
    struct ball server = played_on((struct ball){0}, 0, 12);
    server.x += 1000;
    assert_true(cw_prediction_correct(rig.prediction, 12, &server));
    server = played_on(server, 12, 15);
    server.x += 7;
    assert_true(cw_prediction_correct(rig.prediction, 15, &server));
    /* The third state brings no news, but the newest is not known until the inputs were played. */
    server = played_on((struct ball){0}, 0, 20);
    assert_true(cw_prediction_correct(rig.prediction, 20, &server));
    rig_replay(&rig);
    assert_int_equal(rig.first_replayed, 21);
    const struct ball expected = played_on(server, 20, 30);
    assert_true(same(&rig, &rig.ball, &expected));
}

/* A right state is played on from again, as others may have changed what follows. */
TEST(ticks_are_played_again_after_a_right_state)
{
    struct rig rig;
    rig_open(&rig);
    rig_start(&rig);
    assert_false(cw_prediction_again(rig.prediction));
    rig_play(&rig, 30);
    assert_false(cw_prediction_again(rig.prediction));
    for (uint32_t tick = 12; tick <= 15; tick += 3) {
        const struct ball server = played_on((struct ball){0}, 0, tick);
        assert_false(cw_prediction_correct(rig.prediction, tick, &server));
        assert_true(cw_prediction_again(rig.prediction)); /* the second one before the replay */
    }
    rig_replay(&rig);
    assert_int_equal(rig.first_replayed, 16);
    assert_int_equal(rig.replayed, 15);
    assert_int_equal(stats_of(&rig).corrections, 0);

    wind = 1;
    assert_true(cw_prediction_again(rig.prediction));
    rig_replay(&rig);
    const struct cw_prediction_stats stats = stats_of(&rig);
    assert_int_equal(stats.corrections, 1);
    assert_int_equal(stats.wrong_field, X);
    assert_int_equal(stats.wrong_tick, 30);
    assert_int_equal(stats.depth, 15);
}

TEST(the_newest_tick_is_corrected_too)
{
    struct rig rig;
    rig_open(&rig);
    rig_start(&rig);
    rig_play(&rig, 5);
    const struct ball server = {.x = 42};
    assert_true(cw_prediction_correct(rig.prediction, 5, &server));
    rig_replay(&rig);
    assert_int_equal(rig.replayed, 0);
    assert_int_equal(rig.ball.x, 42);
}

TEST(states_that_come_twice_or_late_are_ignored)
{
    struct rig rig;
    rig_open(&rig);
    rig.config.max_ticks = 16;
    rig_start(&rig);
    rig_play(&rig, 30);
    const struct ball server = {.x = 42};
    assert_false(cw_prediction_correct(rig.prediction, 14, &server));
    assert_true(cw_prediction_correct(rig.prediction, 15, &server));
    rig_replay(&rig);
    assert_int_equal(rig.replayed, 15);
    assert_false(cw_prediction_correct(rig.prediction, 15, &server));
    assert_false(cw_prediction_correct(rig.prediction, 13, &server));
    assert_int_equal(stats_of(&rig).stale, 3);
    assert_int_equal(stats_of(&rig).corrections, 1);
}

/* A client that begins, or that slept, goes on from the server's state. */
TEST(a_state_that_was_not_predicted_is_taken)
{
    struct rig rig;
    rig_open(&rig);
    rig_start(&rig);
    for (int i = 0; i < 2; i++) {
        const struct ball server = {.x = 1000 * i, .speed = 5};
        rig.tick += 500;
        assert_true(cw_prediction_correct(rig.prediction, rig.tick, &server));
        rig_replay(&rig);
        assert_int_equal(rig.replayed, 0);
        assert_true(same(&rig, &rig.ball, &server));
        rig_play(&rig, 20);
        const struct ball expected = played_on(server, rig.tick - 20, rig.tick - 10);
        assert_false(cw_prediction_correct(rig.prediction, rig.tick - 10, &expected));
    }
    assert_int_equal(stats_of(&rig).corrections, 0);
    /* The client's own ticks have a gap. */
    rig.tick += 5;
    rig_play(&rig, 3);
    assert_false(cw_prediction_correct(rig.prediction, rig.tick - 4, &rig.ball));
    assert_int_equal(stats_of(&rig).stale, 1);
    assert_true(cw_prediction_correct(rig.prediction, rig.tick - 2, &rig.ball));
    rig_replay(&rig);
    assert_int_equal(rig.replayed, 2);
}

TEST(ticks_wrap)
{
    struct rig rig;
    rig_open(&rig);
    rig.config.max_ticks = 20;
    rig.tick = (uint32_t)-50;
    rig_start(&rig);
    for (uint32_t i = 0; i < 100; i++) {
        rig_play(&rig, 1);
        if (i < 10)
            continue;
        struct ball server = {.x = (int32_t)i * 100};
        assert_true(cw_prediction_correct(rig.prediction, rig.tick - 7, &server));
        rig_replay(&rig);
        assert_int_equal(rig.replayed, 7);
        const struct ball expected = played_on(server, rig.tick - 7, rig.tick);
        assert_true(same(&rig, &rig.ball, &expected));
    }
}

/* Returns whether prediction sees a difference after edit has changed one tick's state. */
static bool differs(struct rig *rig, void (*edit)(struct ball *))
{
    struct ball ball = {.x = 1 << 24,
                        .height = 1,
                        .angle = 1,
                        .name = "a",
                        .trail = {2, {1, 2}},
                        .score = {true, 7}};
    const struct move move = {0};
    cw_prediction_reset(rig->prediction);
    cw_prediction_add(rig->prediction, 1, &move, &ball);
    edit(&ball);
    return cw_prediction_correct(rig->prediction, 1, &ball);
}

static void edit_nothing(struct ball *ball)
{
    /* These places are beyond the count, and behind the NUL. */
    ball->trail.items[3] = 9;
    ball->name[5] = 'z';
}
static void edit_x(struct ball *ball)
{
    ball->x += 3;
}
static void edit_height(struct ball *ball)
{
    ball->height -= 0.25f;
}
static void edit_height_to_none(struct ball *ball)
{
    ball->height = (float)NAN;
}
static void edit_angle_a_little(struct ball *ball)
{
    ball->angle += 0.001f;
}
static void edit_angle(struct ball *ball)
{
    ball->angle += 0.02f;
}
static void edit_name(struct ball *ball)
{
    ball->name[0] = 'b';
}
static void edit_trail(struct ball *ball)
{
    ball->trail.items[1] += 0.5;
}
static void edit_count(struct ball *ball)
{
    ball->trail.count = 3;
}
static void edit_score(struct ball *ball)
{
    ball->score.value--;
}
static void edit_presence(struct ball *ball)
{
    ball->score.present = false;
}

TEST(fields_are_compared_by_what_they_are)
{
    struct rig rig;
    rig_open(&rig);
    rig_start(&rig);
    assert_false(differs(&rig, edit_nothing));
    assert_true(differs(&rig, edit_x));
    assert_true(differs(&rig, edit_height));
    assert_int_equal(stats_of(&rig).error_field, HEIGHT);
    assert_true(differs(&rig, edit_height_to_none));
    assert_false(differs(&rig, edit_angle_a_little));
    assert_true(differs(&rig, edit_angle));
    assert_true(differs(&rig, edit_name));
    assert_int_equal(stats_of(&rig).error_field, CW_FIELD_NONE);
    assert_int_equal(stats_of(&rig).wrong_field, NAME);
    assert_int_equal(stats_of(&rig).wrong_tick, 1);
    assert_true(differs(&rig, edit_trail));
    assert_true(differs(&rig, edit_count));
    assert_true(differs(&rig, edit_score));
    assert_int_equal(stats_of(&rig).error_field, SCORE);
    assert_true(differs(&rig, edit_presence));
}

TEST(numbers_may_be_off_by_their_tolerance)
{
    struct rig rig;
    rig_open(&rig);
    rig.tolerances[X] = 3;
    rig.tolerances[HEIGHT] = rig.tolerances[TRAIL] = 0.5f;
    rig.tolerances[ANGLE] = 0.03f;
    rig.tolerances[SCORE] = 1;
    rig_start(&rig);
    assert_false(differs(&rig, edit_x));
    assert_false(differs(&rig, edit_height));
    assert_true(differs(&rig, edit_height_to_none));
    assert_false(differs(&rig, edit_angle));
    assert_true(differs(&rig, edit_name));
    assert_false(differs(&rig, edit_trail));
    assert_true(differs(&rig, edit_count));
    assert_false(differs(&rig, edit_score));
    assert_true(differs(&rig, edit_presence));
    rig.tolerances[X] = 2.5f;
    rig.tolerances[HEIGHT] = rig.tolerances[TRAIL] = 0.2f;
    rig_start(&rig);
    assert_true(differs(&rig, edit_x));
    assert_true(differs(&rig, edit_height));
    assert_true(differs(&rig, edit_trail));
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) < 1e-4))
        fail_msg("%.6f is not %.6f", value, expected);
}

TEST(what_is_shown_does_not_jump)
{
    struct rig rig;
    rig_open(&rig);
    rig.smooth_limits[X] = 100;
    rig.smooth_limits[TRAIL] = 5;
    rig.config.smooth_seconds = 0.5;
    rig_start(&rig);
    const struct move move = {0};
    struct ball ball = {.x = 50, .height = 1, .trail = {2, {10, 10}}}, shown = ball;
    cw_prediction_add(rig.prediction, 1, &move, &ball);
    cw_prediction_smooth(rig.prediction, &shown, 7);
    assert_memory_equal(&shown, &ball, sizeof ball);

    ball.x = 0;
    ball.height = 0;
    ball.trail.items[0] = 6;
    ball.trail.items[1] = 4;
    assert_true(cw_prediction_correct(rig.prediction, 1, &ball));
    rig_replay(&rig);
    for (double passed = 0; passed < 3; passed += 0.125) {
        shown = ball;
        cw_prediction_smooth(rig.prediction, &shown, 7 + passed);
        assert_int_equal(shown.x, (int)floor(50 * exp(-passed / 0.5) + 0.5));
        assert_near((double)shown.height, 0);
        assert_near(shown.trail.items[0], 6 + 4 * exp(-passed / 0.5));
        assert_near(shown.trail.items[1], 4);
    }
    shown = ball;
    cw_prediction_smooth(rig.prediction, &shown, 100);
    assert_int_equal(shown.x, 0);

    /* Errors add up, and time does not go back. */
    for (uint32_t tick = 2; tick < 4; tick++) {
        cw_prediction_add(rig.prediction, tick, &move, &ball);
        ball.x -= 40;
        assert_true(cw_prediction_correct(rig.prediction, tick, &ball));
        rig_replay(&rig);
    }
    shown = ball;
    cw_prediction_smooth(rig.prediction, &shown, 99);
    assert_int_equal(shown.x, ball.x + 80);
    cw_prediction_add(rig.prediction, 4, &move, &ball);
    ball.x -= 40;
    assert_true(cw_prediction_correct(rig.prediction, 4, &ball));
    rig_replay(&rig);
    shown = ball;
    cw_prediction_smooth(rig.prediction, &shown, 100);
    assert_int_equal(shown.x, ball.x);
}

TEST(errors_end_where_something_else_begins)
{
    struct rig rig;
    rig_open(&rig);
    rig.smooth_limits[X] = 1000;
    rig_start(&rig);
    const struct move move = {0};
    for (int gap = 0; gap < 2; gap++) {
        struct ball ball = {0}, shown;
        cw_prediction_add(rig.prediction, 1, &move, &ball);
        ball.x = 30;
        assert_true(cw_prediction_correct(rig.prediction, 1, &ball));
        rig_replay(&rig);
        shown = ball;
        cw_prediction_smooth(rig.prediction, &shown, 0);
        assert_int_equal(shown.x, 0);
        if (gap)
            assert_true(cw_prediction_correct(rig.prediction, 9, &ball));
        else
            cw_prediction_reset(rig.prediction);
        rig_replay(&rig);
        shown = ball;
        cw_prediction_smooth(rig.prediction, &shown, 0);
        assert_int_equal(shown.x, 30);
    }
}

/* A number that comes to be there later has no error. */
TEST(what_is_not_there_is_not_moved)
{
    struct rig rig;
    rig_open(&rig);
    rig.smooth_limits[TRAIL] = rig.smooth_limits[SCORE] = 1000;
    rig_start(&rig);
    const struct move move = {0};
    struct ball ball = {.trail = {1, {1, 100}}, .score = {false, 50}};
    cw_prediction_add(rig.prediction, 1, &move, &ball);
    ball = (struct ball){.trail = {2, {1, 7}}, .score = {true, 9}};
    assert_true(cw_prediction_correct(rig.prediction, 1, &ball));
    rig_replay(&rig);
    struct ball shown = ball;
    cw_prediction_smooth(rig.prediction, &shown, 0);
    assert_memory_equal(&shown, &ball, sizeof ball);
    assert_true(stats_of(&rig).error == 0);
}

TEST(stress_finds_what_is_not_in_the_state)
{
    struct rig rig;
    rig_open(&rig);
    rig.config.stress = true;
    rig_start(&rig);
    rig_play(&rig, 100);
    assert_int_equal(rig.replayed, 1);
    struct ball server = {.x = 3};
    assert_true(cw_prediction_correct(rig.prediction, 90, &server));
    rig_replay(&rig);
    assert_int_equal(rig.replayed, 2 * 10);
    const struct ball expected = played_on(server, 90, 100);
    assert_true(same(&rig, &rig.ball, &expected));
    assert_int_equal(stats_of(&rig).desyncs, 0);
    assert_int_equal(stats_of(&rig).replayed, 10);

    /* The weather changes between the two times. */
    const struct move move = move_of(++rig.tick);
    step(&rig.ball, &move);
    cw_prediction_add(rig.prediction, rig.tick, &move, &rig.ball);
    const struct ball before = rig.ball;
    wind = 1;
    rig_replay(&rig);
    assert_int_equal(stats_of(&rig).desyncs, 1);
    assert_int_equal(stats_of(&rig).desync_tick, 101);
    assert_true(same(&rig, &rig.ball, &before));
    rig_play(&rig, 5);
    assert_int_equal(stats_of(&rig).desyncs, 1);
}

TEST(a_reset_forgets_everything)
{
    struct rig rig;
    rig_open(&rig);
    rig.smooth_limits[X] = 1000;
    rig_start(&rig);
    rig_play(&rig, 10);
    const struct ball server = {.x = 3};
    assert_true(cw_prediction_correct(rig.prediction, 9, &server));
    cw_prediction_reset(rig.prediction);
    rig_replay(&rig);
    assert_int_equal(rig.replayed, 0);
    assert_int_equal(stats_of(&rig).corrections, 0);
    assert_true(cw_prediction_correct(rig.prediction, 1, &server));
    rig_replay(&rig);
    assert_int_equal(rig.ball.x, 3);
}

static void refuse(const struct cw_prediction_config *config, const char *field)
{
    struct cw_prediction *prediction = NULL;
    assert_error_names(cw_prediction_create(config, &prediction), field);
    assert_null(prediction);
    assert_int_equal(cw_prediction_memory(config), 0);
}

TEST(impossible_configs_are_refused)
{
    struct rig rig;
    rig_open(&rig);
    struct cw_prediction_config bad = rig.config;
    bad.input_type = 2;
    refuse(&bad, "input_type");
    bad = rig.config;
    bad.state_type = 2;
    refuse(&bad, "state_type");
    rig.tolerances[X] = -1;
    refuse(&rig.config, "tolerances");
    rig.tolerances[X] = 0;
    rig.smooth_limits[SCORE] = (float)INFINITY;
    refuse(&rig.config, "smooth_limits");
}
