/* Tests of the world of cubes that snapshots are measured with: it moves as bodies do, and far
   enough. */
#include "lab/cubes.h"

#include "fixture.h"

#include <math.h>
#include <string.h>

/* Figures are taken over the worlds of the seeds 1 to CUBES_SEEDS, each from its beginning. */
#ifndef CUBES_SEEDS
#define CUBES_SEEDS   4
#define CUBES_SECONDS 40
#endif

/* Returns a hash of the state of all cubes. */
static uint64_t hash_of(const struct cw_lab_cubes *cubes, uint64_t hash)
{
    for (uint32_t i = 0; i < CW_LAB_CUBES_COUNT; i++) {
        struct cw_lab_cubes_body body;
        uint64_t words[7];
        cw_lab_cubes_look(cubes, i, &body);
        memcpy(words, body.position, sizeof body.position);
        memcpy(words + 3, body.orientation, sizeof body.orientation);
        for (int word = 0; word < 7; word++)
            hash = (hash ^ words[word]) * 0x100000001b3u;
    }
    return hash;
}

static uint64_t run(uint64_t seed, int steps)
{
    uint64_t hash = 0;
    struct cw_lab_cubes *const cubes = cw_lab_cubes_create(seed);
    assert_non_null(cubes);
    for (int i = 0; i < steps; i++) {
        cw_lab_cubes_step(cubes);
        hash = hash_of(cubes, hash);
    }
    cw_lab_cubes_destroy(cubes);
    return hash;
}

TEST(a_seed_gives_one_run)
{
    assert_true(run(1, 120) == run(1, 120));
    assert_true(run(1, 120) != run(2, 120));
}

static double length(const double *vector)
{
    return sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
}

/* Checks that a body which is quantized and turned back is within half a step of each number. */
static void check_quantized(const struct cw_lab_cubes_body *body, const struct cw_lab_cube *cube)
{
    assert_true(fabs(cube->x / 512.0 - body->position[0]) < 0.0011);
    assert_true(fabs(cube->y / 512.0 - body->position[1]) < 0.0011);
    assert_true(fabs(cube->z / 512.0 - body->position[2]) < 0.0011);
    const uint32_t parts[] = {cube->a, cube->b, cube->c};
    double q[4], rest = 1, along = 0;
    for (uint32_t i = 0, next = 0; i < 4; i++)
        if (i != cube->largest) {
            q[i] = (parts[next++] / 511.0 - 0.5) * 1.4142135623730951;
            rest -= q[i] * q[i];
        }
    q[cube->largest] = sqrt(rest > 0 ? rest : 0);
    for (int i = 0; i < 4; i++)
        along += q[i] * body->orientation[i];
    assert_true(fabs(along) > 0.99998);
    assert_true(cube->touched == body->touched);
}

/* Sums over the cubes that changed. */
struct sums {
    double changed, speed, spin, turned, lifted;
};

static void look_at(const struct cw_lab_cubes_body *body, struct cw_lab_cube *last,
                    struct sums *sums)
{
    struct cw_lab_cube cube;
    cw_lab_cubes_quantize(body, &cube);
    assert_true(body->position[2] > 0.1 && length(body->velocity) < 15);
    const bool turned = cube.largest != last->largest || cube.a != last->a || cube.b != last->b ||
                        cube.c != last->c;
    if (turned || cube.x != last->x || cube.y != last->y || cube.z != last->z ||
        cube.touched != last->touched) {
        check_quantized(body, &cube);
        sums->changed++;
        sums->speed += length(body->velocity);
        sums->spin += length(body->spin);
        sums->turned += turned;
        sums->lifted += body->position[2] > 0.3;
    }
    *last = cube;
}

TEST(enough_cubes_move_as_bodies_do)
{
    struct sums sums = {0};
    for (uint64_t seed = 1; seed <= CUBES_SEEDS; seed++) {
        struct cw_lab_cube last[CW_LAB_CUBES_COUNT] = {{0}};
        struct cw_lab_cubes *const cubes = cw_lab_cubes_create(seed);
        assert_non_null(cubes);
        for (int step = 0; step < CUBES_SECONDS * CW_LAB_CUBES_RATE; step++) {
            cw_lab_cubes_step(cubes);
            for (uint32_t i = 0; i < CW_LAB_CUBES_COUNT; i++) {
                struct cw_lab_cubes_body body;
                cw_lab_cubes_look(cubes, i, &body);
                look_at(&body, &last[i], &sums);
            }
        }
        cw_lab_cubes_destroy(cubes);
    }
    const double steps = CUBES_SEEDS * CUBES_SECONDS * CW_LAB_CUBES_RATE;
    print_message("%.1f cubes change per step, at %.2f m/s and %.2f rad/s\n", sums.changed / steps,
                  sums.speed / sums.changed, sums.spin / sums.changed);
    assert_true(sums.changed / steps >= 80);
    assert_true(sums.speed / sums.changed > 1.5);
    assert_true(sums.spin / sums.changed > 0.8);
    assert_true(sums.turned / sums.changed > 0.75);
    assert_true(sums.lifted / sums.changed > 0.15);
}

TEST(a_cube_that_is_left_alone_rests)
{
    struct cw_lab_cubes *const cubes = cw_lab_cubes_create(1);
    uint32_t rested = 0;
    bool touched[CW_LAB_CUBES_COUNT] = {false};
    assert_non_null(cubes);
    for (int step = 0; step < 30 * CW_LAB_CUBES_RATE; step++) {
        cw_lab_cubes_step(cubes);
        for (uint32_t i = 1; i < CW_LAB_CUBES_COUNT; i++) {
            struct cw_lab_cubes_body body;
            cw_lab_cubes_look(cubes, i, &body);
            rested += touched[i] && body.asleep;
            assert_false(body.touched && body.asleep);
            touched[i] = body.touched;
        }
    }
    cw_lab_cubes_destroy(cubes);
    print_message("%u came to rest\n", rested);
    assert_true(rested > 20);
}
