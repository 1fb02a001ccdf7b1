/* Tests of the world as a client saw it. */
#include "base/prng.h"
#include "config_error.h"
#include "owned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct body {
    float x;
    uint32_t entity;
};

static struct cw_history *make(uint32_t max_entities, uint32_t max_ticks)
{
    struct cw_history_config config = cw_history_config_default();
    config.state_size = sizeof(struct body);
    config.max_entities = max_entities;
    config.max_ticks = max_ticks;
    return history_with(&config);
}

static void add(struct cw_history *history, uint32_t entity, float x)
{
    const struct body body = {x, entity};
    assert_int_equal(cw_history_add(history, entity, &body), CW_OK);
}

/* Adds a tick with one entity, whose place is the tick's number. */
static void tick(struct cw_history *history, uint32_t number)
{
    assert_int_equal(cw_history_begin(history, number), CW_OK);
    add(history, 7, (float)(int32_t)number);
}

static float x_of(const struct cw_history *history, const struct cw_view *view, uint32_t entity)
{
    const void *from, *to;
    if (!cw_history_find(history, view, entity, &from, &to))
        return (float)INFINITY;
    const struct body *const a = from, *const b = to;
    assert_int_equal(a->entity, entity);
    assert_int_equal(b->entity, entity);
    return cw_lerp(a->x, b->x, view->fraction);
}

/* Returns what the rewound view shows of entity 7, or infinity when it is not there. */
static float shown(const struct cw_history *history, struct cw_view seen)
{
    struct cw_view view;
    assert_true(cw_history_rewind(history, &seen, &view));
    assert_true(view.fraction >= 0 && view.fraction <= 1);
    assert_true(cw_history_count(history, view.from) > 0);
    assert_true(cw_history_count(history, view.to) > 0);
    assert_true((int32_t)(view.to - view.from) >= 0);
    return x_of(history, &view, 7);
}

#define assert_shown(history, expected, ...)                                                       \
    assert_true(fabsf(shown(history, (struct cw_view){__VA_ARGS__}) - (float)(expected)) < 1e-4f)

TEST(a_view_is_what_the_client_saw)
{
    struct cw_history *history = make(4, 64);
    for (uint32_t i = 100; i <= 140; i++)
        tick(history, i);
    assert_shown(history, 120, 120, 123, 0);
    assert_shown(history, 121.5, 120, 123, 0.5f);
    assert_shown(history, 123, 120, 123, 1);
    assert_shown(history, 140, 140, 140, 0);
}

TEST(a_guess_is_compared_with_the_truth)
{
    struct cw_history *history = make(4, 64);
    struct cw_view view;
    for (uint32_t i = 100; i <= 140; i++)
        tick(history, i);
    assert_shown(history, 127.5, 120, 123, 2.5f);
    assert_true(cw_history_rewind(history, &(struct cw_view){120, 123, 2.5f}, &view));
    assert_int_equal(view.from, 127);
    assert_int_equal(view.to, 128);
    assert_shown(history, 140, 130, 140, 1.5f);
    assert_shown(history, 140, 130, 140, (float)INFINITY);
}

/* The view is of ticks that are kept, whatever a client says. */
TEST(the_rewind_is_bounded)
{
    struct cw_history *history = make(4, 16);
    struct cw_view view = {0};
    assert_false(cw_history_rewind(history, &view, &view));
    for (uint32_t i = (uint32_t)-10; i != 30; i++)
        tick(history, i);
    assert_shown(history, 14, 0, 3, 0.5f);
    assert_shown(history, 14, 14, 14, 0);
    assert_shown(history, 14, 12, 15, 0.5f);
    assert_shown(history, 14.25, 12, 15, 0.75f);
    assert_shown(history, 29, 29, 32, 0.5f);
    assert_shown(history, 29, 1000, 1003, 0.5f);
    assert_shown(history, 14, (uint32_t)-1000, (uint32_t)-997, 0.5f);
    assert_shown(history, 18.5, 20, 17, 0.5f);
    assert_shown(history, 20, 20, 23, (float)NAN);
    assert_shown(history, 20, 20, 23, -1);
    struct cw_prng random = {1};
    for (int i = 0; i < 100000; i++) {
        struct cw_view seen = {.from = (uint32_t)cw_prng_bits(&random),
                               .to = (uint32_t)cw_prng_bits(&random)};
        const uint32_t bits = (uint32_t)cw_prng_bits(&random);
        memcpy(&seen.fraction, &bits, sizeof bits);
        const float x = shown(history, seen);
        assert_true(x >= 14 && x <= 29);
    }
}

TEST(entities_come_and_go)
{
    struct cw_history *history = make(4, 16);
    cw_history_begin(history, 1);
    add(history, 3, 10);
    cw_history_begin(history, 2);
    add(history, 3, 20);
    add(history, 9, 50);
    cw_history_begin(history, 3);
    add(history, 9, 60);
    const struct cw_view early = {1, 2, 0.5f}, late = {2, 3, 0.5f}, last = {3, 3, 0};
    assert_true(x_of(history, &early, 3) == 15);
    assert_true(x_of(history, &early, 9) == (float)INFINITY);
    assert_true(x_of(history, &late, 3) == 20);
    assert_true(x_of(history, &late, 9) == 55);
    assert_true(x_of(history, &last, 3) == (float)INFINITY);
    assert_int_equal(cw_history_count(history, 1), 1);
    assert_int_equal(cw_history_count(history, 2), 2);
    assert_int_equal(cw_history_entity(history, 2, 0), 3);
    assert_int_equal(cw_history_entity(history, 2, 1), 9);
    assert_int_equal(cw_history_entity(history, 2, 2), 0);
    assert_int_equal(cw_history_count(history, 0), 0);
    assert_int_equal(cw_history_count(history, 4), 0);
    assert_int_equal(cw_history_entity(history, 4, 0), 0);
}

TEST(entities_may_come_in_any_order)
{
    struct cw_history *history = make(200, 8);
    struct cw_prng random = {1};
    for (uint32_t number = 0; number < 20; number++) {
        uint32_t entities[200];
        assert_int_equal(cw_history_begin(history, number), CW_OK);
        for (uint32_t i = 0; i < 200; i++) {
            const uint32_t other = cw_prng_below(&random, i + 1);
            entities[i] = entities[other];
            entities[other] = i * 1000003 + 5;
        }
        for (uint32_t i = 0; i < 200; i++)
            add(history, entities[i], (float)entities[i] + (float)number);
        const struct body body = {0};
        assert_int_equal(cw_history_add(history, entities[50], &body), CW_ERROR_DUPLICATE);
        assert_int_equal(cw_history_add(history, 1, &body), CW_ERROR_ENTITIES_FULL);
        const uint32_t back = number > 7 ? number - 7 : 0;
        for (uint32_t i = 0; i < 200; i++) {
            const struct cw_view view = {back, back, 0};
            const uint32_t entity = cw_history_entity(history, back, i);
            assert_int_equal(entity, i * 1000003 + 5);
            const float x = (float)entity + (float)back;
            assert_true(x_of(history, &view, entity) == x);
        }
        const struct cw_view view = {back, back, 0};
        assert_true(x_of(history, &view, 6) == (float)INFINITY);
    }
}

TEST(ticks_may_be_left_out)
{
    struct cw_history *history = make(4, 8);
    struct cw_view view;
    for (uint32_t i = (uint32_t)-30; i != 33; i += 3)
        tick(history, i);
    assert_shown(history, 22.5, 21, 24, 0.5f);
    assert_shown(history, 24, 21, 27, 0.5f);
    assert_shown(history, 20.5, 20, 21, 0.5f);
    assert_shown(history, 25.5, 21, 24, 1.5f);
    assert_shown(history, 9, 0, 3, 0.5f);
    assert_shown(history, 30, 29, 34, 1);
    assert_true(cw_history_rewind(history, &(struct cw_view){20, 21, 0.5f}, &view));
    assert_int_equal(view.from, 18);
    assert_int_equal(view.to, 21);
    assert_int_equal(cw_history_count(history, 21), 1);
    assert_int_equal(cw_history_count(history, 22), 0);
    assert_int_equal(cw_history_count(history, 31), 0);
    assert_int_equal(cw_history_count(history, 6), 0);
}

TEST(ticks_that_go_back_begin_anew)
{
    struct cw_history *history = make(4, 16);
    const struct body body = {0};
    assert_int_equal(cw_history_add(history, 1, &body), CW_ERROR_INVALID_ARGUMENT);
    for (uint32_t i = 1; i < 10; i++)
        tick(history, i);
    tick(history, 9);
    assert_int_equal(cw_history_count(history, 9), 1);
    assert_shown(history, 9, 5, 6, 0.5f);
    tick(history, 8);
    assert_shown(history, 8, 5, 6, 0.5f);
    cw_history_reset(history);
    assert_int_equal(cw_history_count(history, 8), 0);
    assert_int_equal(cw_history_add(history, 1, &body), CW_ERROR_INVALID_ARGUMENT);
    tick(history, 3);
    assert_shown(history, 3, 2, 2, 0);
}

/* This test covers the whole way: a client shows the snapshots of a bad path by interpolation, says
   what it saw, and the server finds exactly that. */
TEST(the_server_sees_what_the_client_showed)
{
    struct cw_simulator_config path = cw_simulator_config_default();
    struct cw_interpolation_config config = cw_interpolation_config_default();
    struct cw_history *history = make(4, 64);
    path.path =
        (struct cw_simulator_path){.latency_seconds = 0.05, .jitter_seconds = 0.03, .loss = 0.1};
    config.entry_size = sizeof(struct body);
    struct cw_simulator *down = simulator_with(&path);
    struct cw_interpolation *client = interpolation_with(&config);
    uint32_t compared = 0;
    for (uint32_t number = 0; number < 3600; number++) {
        const double now = number / 60.0;
        struct body body = {sinf((float)now) * 100, 7};
        uint8_t data[4 + sizeof body];
        assert_int_equal(cw_history_begin(history, number), CW_OK);
        assert_int_equal(cw_history_add(history, 7, &body), CW_OK);
        memcpy(data, &number, 4);
        memcpy(data + 4, &body, sizeof body);
        if (number % 3 == 0)
            cw_simulator_receive(down, data, sizeof data, now);
        while (cw_simulator_transmit(down, data, sizeof data, now) > 0) {
            uint32_t received;
            memcpy(&received, data, 4);
            cw_interpolation_receive(client, received, data + 4, now);
        }
        struct cw_view seen, view;
        if (!cw_interpolation_view(client, now, &seen) || seen.fraction > 1)
            continue;
        const struct body *const a = cw_interpolation_entry(client, seen.from);
        const struct body *const b = cw_interpolation_entry(client, seen.to);
        assert_true(cw_history_rewind(history, &seen, &view));
        assert_true(x_of(history, &view, 7) == cw_lerp(a->x, b->x, seen.fraction));
        compared++;
    }
    print_message("%u views compared\n", compared);
    assert_in_range(compared, 3400, 3600);
}

TEST(impossible_configs_are_refused)
{
    static const struct cw_history_config bad[] = {
        {.state_size = 65536, .max_entities = 1025, .max_ticks = 16},
        /* Padding would make these small states exceed 32 bits. */
        {.state_size = 1, .max_entities = 65536, .max_ticks = 4096},
        {.state_size = 4, .max_entities = 65536, .max_ticks = 1025},
    };
    struct cw_history *history = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_error_names(cw_history_create(&bad[i], &history),
                           "state_size max_entities max_ticks");
        assert_int_equal(cw_history_memory(&bad[i]), 0);
    }
    assert_null(history);
}
