/* Tests of the grid that finds what is near. */

#include "fixture.h"

#include "random_schema.h"

#include "causeway/interest.h"

#include <float.h>
#include <math.h>

#define ENTITIES 500

static struct cw_interest_config config;
static struct cw_interest *grid;
static struct cw_priority found[ENTITIES];

static void close_grid(void *unused)
{
    (void)unused;
    cw_interest_destroy(grid);
    grid = NULL;
}

BEFORE_EACH_TEST
{
    config = cw_interest_config_default();
    config.max_entities = ENTITIES;
    config.radius = 100;
    config.full_radius = 25;
    assert_int_equal(cw_interest_create(&config, &grid), CW_OK);
    random_state = 1;
    own(&config, close_grid);
}

static void put(uint32_t entity, float x, float y)
{
    assert_int_equal(cw_interest_set(grid, entity, x, y, 1), CW_OK);
}

/* Returns the priority with which an entity is found from a place; 0 when it is not. */
static float seen_from(float x, float y, uint32_t entity)
{
    const size_t count = cw_interest_find(grid, x, y, found, ENTITIES);
    float priority = 0;
    for (size_t i = 0; i < count; i++)
        if (found[i].entity == entity) {
            assert_true(priority <= 0); /* nothing is found twice */
            priority = found[i].priority;
        }
    return priority;
}

/* An entity at a place, a search from another, and the priority with which it finds the entity. */
static const struct {
    const char *what;
    float x, y, from_x, from_y, priority;
} searches[] = {
    {"the same place", 0, 0, 0, 0, 1},
    {"within the full radius", 10, 10, 20, 20, 1},
    {"at the full radius", 25, 0, 0, 0, 1},
    {"at twice the full radius", 50, 0, 0, 0, 0.25f},
    {"at the radius", 0, 100, 0, 0, 1 / 16.0f},
    {"beyond the radius", 0, 100.1f, 0, 0, 0},
    {"in the corner of the square around the circle", 80, 80, 0, 0, 0},
    {"in the cell on the other side of the origin", -1, -1, 1, 1, 1},
    {"left of the origin", -130, 5, -60, 5, 25 * 25 / (70.0f * 70)},
    {"on the border of a cell", 50, 50, 49.9f, 49.9f, 1},
    {"one time round the grid", 0, 0, 50 * 16, 0, 0},
    {"far from the origin", 1e6f, -1e6f, 1e6f + 50, -1e6f, 0.25f},
    {"beyond the edge of the world", 1e20f, 1e20f, 1e20f, 1e20f, 1},
    {"at the other edge of the world", 1e20f, 0, -1e20f, 0, 0},
    {"as far apart as can be", FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX, 0},
    {"at the end of all numbers", -FLT_MAX, FLT_MAX, -FLT_MAX, FLT_MAX, 1},
    {"at the smallest number", FLT_MIN, -FLT_MIN, 0, 0, 1},
};

TEST(a_search_finds_by_distance)
{
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
        put(3, searches[i].x, searches[i].y);
        const float priority = seen_from(searches[i].from_x, searches[i].from_y, 3);
        if (fabsf(priority - searches[i].priority) > 1e-6f)
            fail_msg("%s: %g", searches[i].what, (double)priority);
    }
}

TEST(a_search_finds_all_that_is_near_and_nothing_else)
{
    float xs[ENTITIES], ys[ENTITIES];
    for (int round = 0; round < 50; round++) {
        /* The world is as large as the grid, or many times larger, so that cells fall together. */
        const float size = round % 2 ? 800 : 20000;
        for (uint32_t i = 0; i < ENTITIES; i++) {
            xs[i] = size * ((float)random_below(10001) / 5000 - 1);
            ys[i] = i % 2 ? 0 : size * ((float)random_below(10001) / 5000 - 1);
            put(i, xs[i], ys[i]);
        }
        for (uint32_t i = 0; i < ENTITIES; i += 50)
            cw_interest_remove(grid, i);
        for (uint32_t i = 1; i < ENTITIES; i += 10) {
            size_t near = 0;
            for (uint32_t j = 0; j < ENTITIES; j++) {
                const float x = xs[j] - xs[i], y = ys[j] - ys[i];
                const bool is_near = j % 50 != 0 && x * x + y * y <= 100 * 100;
                near += is_near;
                assert_int_equal(seen_from(xs[i], ys[i], j) > 0, is_near);
            }
            assert_int_equal(cw_interest_find(grid, xs[i], ys[i], found, ENTITIES), near);
        }
    }
}

TEST(an_entity_is_where_it_went_last)
{
    put(1, 0, 0);
    for (int step = 1; step < 100; step++) {
        put(1, (float)step * 30, (float)step * -30);
        assert_true(seen_from((float)step * 30, (float)step * -30, 1) > 0);
        assert_false(seen_from((float)(step - 4) * 30, (float)(step - 4) * -30, 1) > 0);
    }
}

TEST(importance_counts)
{
    assert_int_equal(cw_interest_set(grid, 1, 0, 0, 8), CW_OK);
    assert_true(seen_from(50, 0, 1) == 2);
    assert_int_equal(cw_interest_set(grid, 1, 0, 0, 0), CW_OK);
    assert_true(seen_from(0, 0, 1) == 0);
}

TEST(what_is_removed_is_not_found)
{
    put(1, 0, 0);
    cw_interest_remove(grid, 1);
    cw_interest_remove(grid, 2);
    cw_interest_remove(grid, ENTITIES);
    assert_int_equal(cw_interest_find(grid, 0, 0, found, ENTITIES), 0);
    put(1, 0, 0);
    assert_int_equal(cw_interest_find(grid, 0, 0, found, ENTITIES), 1);
    cw_interest_reset(grid);
    assert_int_equal(cw_interest_find(grid, 0, 0, found, ENTITIES), 0);
}

TEST(of_a_crowd_the_most_urgent_are_found)
{
    /* Everybody stands on a line, so that the priorities fall with the id; then at one place. */
    for (uint32_t i = 0; i < ENTITIES; i++)
        put(i, 0, (float)i * 0.2f);
    const size_t count = cw_interest_find(grid, 0, 0, found, 300);
    assert_int_equal(count, 300);
    bool there[ENTITIES] = {false};
    for (size_t i = 0; i < count; i++) {
        assert_false(there[found[i].entity]);
        there[found[i].entity] = true;
        assert_in_range(found[i].entity, 0, 299);
    }
    for (uint32_t i = 0; i < ENTITIES; i++)
        put(i, 5, 5);
    assert_int_equal(cw_interest_set(grid, 77, 5, 5, 2), CW_OK);
    for (size_t most = 1; most < ENTITIES; most += 83) {
        assert_int_equal(cw_interest_find(grid, 0, 0, found, most), most);
        size_t important = 0;
        for (size_t i = 0; i < most; i++)
            important += found[i].entity == 77;
        assert_int_equal(important, 1);
    }
}

TEST(nonsense_is_refused)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    put(1, 0, 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(cw_interest_set(grid, 1, bad[i], 0, 1), CW_ERROR_INVALID_ARGUMENT);
        assert_int_equal(cw_interest_set(grid, 1, 0, bad[i], 1), CW_ERROR_INVALID_ARGUMENT);
        assert_int_equal(cw_interest_set(grid, 1, 0, 0, bad[i]), CW_ERROR_INVALID_ARGUMENT);
        assert_int_equal(cw_interest_find(grid, bad[i], 0, found, ENTITIES), 0);
        assert_int_equal(cw_interest_find(grid, 0, bad[i], found, ENTITIES), 0);
    }
    assert_int_equal(cw_interest_set(grid, 1, 0, 0, -1), CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_interest_set(grid, ENTITIES, 0, 0, 1), CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_interest_find(grid, 0, 0, found, 0), 0);
    assert_true(seen_from(0, 0, 1) == 1);
}
