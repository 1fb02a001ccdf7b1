/* Tests of the cubes of the lab: each coding shows the world as it is, and takes fewer bits than
   the one before, over a path that loses datagrams. */
#include "lab/cubes_server.h"
#include "lab/cubes_view.h"
#include "lab/cubes_wire.h"

#include "base/prng.h"
#include "fixture.h"

#include <math.h>
#include <string.h>

#define KEY     7
#define TICKS   240
#define LATENCY 6 /* ticks until an ack comes */

struct scene {
    struct cw_lab_cubes_server *server;
    struct cw_lab_cubes_view *view;
    struct cw_lab_cubes *world; /* runs along with the server's, which has the same seed */
    struct cw_prng random;
    double loss;
    uint8_t acks[LATENCY][CW_LAB_CUBES_VIEW_SIZE];
    uint32_t tick;
};

static const struct cw_address here = {.type = CW_ADDRESS_IPV4, .port = 1, .bytes = {127, 0, 0, 1}};

static void end(void *memory)
{
    struct scene *const scene = memory;
    cw_lab_cubes_server_destroy(scene->server);
    cw_lab_cubes_view_destroy(scene->view);
    cw_lab_cubes_destroy(scene->world);
    free(scene);
}

static void fill(void *context, uint8_t *out, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)cw_prng_bits(context);
}

static struct scene *begin(double loss)
{
    const struct cw_allocator allocator = {0};
    struct scene *const scene = own(calloc(1, sizeof *scene), end);
    const struct cw_random random = {.fill = fill, .context = &scene->random};
    assert_ok(cw_lab_cubes_server_create(1, &random, &allocator, &scene->server));
    assert_ok(cw_lab_cubes_view_create(KEY, &scene->view));
    scene->world = cw_lab_cubes_create(1);
    scene->random.state = 1;
    scene->loss = loss;
    return scene;
}

/* Sends what the view says, LATENCY ticks later, and hands it the answer. */
static void ask(struct scene *scene, double now)
{
    uint8_t out[CW_LAB_CUBES_VIEW_SIZE], *const slot = scene->acks[scene->tick % LATENCY];
    const size_t size =
        cw_lab_cubes_server_receive(scene->server, &here, slot, CW_LAB_CUBES_VIEW_SIZE, now, out);
    assert_true(size <= CW_LAB_CUBES_VIEW_SIZE);
    if (size > 0)
        cw_lab_cubes_view_receive(scene->view, out, size);
    assert_int_equal(cw_lab_cubes_view_transmit(scene->view, 0, 0, slot, CW_LAB_CUBES_VIEW_SIZE),
                     CW_LAB_CUBES_VIEW_SIZE);
}

/* Lets a tick pass; returns the datagrams that came. */
static uint32_t step(struct scene *scene)
{
    uint8_t data[CW_LAB_CUBES_MAX_DATAGRAM];
    struct cw_address to;
    uint32_t came = 0;
    size_t size;
    const double now = (double)scene->tick / CW_LAB_CUBES_RATE;
    ask(scene, now);
    cw_lab_cubes_server_step(scene->server, now);
    while ((size = cw_lab_cubes_server_transmit(scene->server, data, &to)) > 0) {
        assert_true(cw_address_equal(&to, &here));
        if (!cw_prng_chance(&scene->random, scene->loss))
            cw_lab_cubes_view_receive(scene->view, data, size);
        came++;
    }
    if (came > 0)
        cw_lab_cubes_step(scene->world);
    scene->tick++;
    return came;
}

static void check_shown(const struct scene *scene)
{
    const float *const figures = cw_lab_cubes_view_figures(scene->view);
    for (uint32_t i = 0; i < CW_LAB_CUBES_COUNT; i++) {
        struct cw_lab_cubes_body body;
        const float *const cube = figures + CW_LAB_CUBES_FIGURES * i;
        double along = 0;
        cw_lab_cubes_look(scene->world, i, &body);
        for (int j = 0; j < 3; j++)
            assert_true(fabs(cube[j] - body.position[j]) < 0.0011);
        for (int j = 0; j < 4; j++)
            along += cube[3 + j] * body.orientation[j];
        assert_true(fabs(along) > 0.9999);
        assert_true((cube[7] > 0) == body.touched);
    }
}

TEST(every_coding_shows_the_world)
{
    struct scene *const scene = begin(0);
    for (uint32_t coding = 0; coding < cw_lab_cubes_view_codings(); coding++) {
        cw_lab_cubes_view_choose(scene->view, coding);
        for (int i = 0; i < 90; i++)
            step(scene);
        check_shown(scene);
    }
}

TEST(each_coding_takes_fewer_bytes)
{
    double before = INFINITY;
    for (uint32_t coding = 0; coding < cw_lab_cubes_view_codings(); coding++) {
        struct scene *const scene = begin(0.02);
        struct cw_lab_cubes_view_stats stats;
        cw_lab_cubes_view_choose(scene->view, coding);
        for (int i = 0; i < TICKS; i++)
            step(scene);
        cw_lab_cubes_view_get_stats(scene->view, &stats);
        const uint32_t ticks = stats.newest - stats.first + 1;
        const double kbit = 8.0 * stats.bytes / ticks * CW_LAB_CUBES_RATE / 1000;
        print_message("coding %u: %.0f kbit/s, %u of %u snapshots\n", coding, kbit, stats.snapshots,
                      ticks);
        assert_true(kbit < before);
        assert_true(ticks > TICKS / 2 && stats.snapshots > ticks / 4);
        before = kbit;
    }
}

TEST(a_stranger_gets_nothing_but_a_cookie)
{
    struct scene *const scene = begin(0);
    struct cw_address to;
    uint8_t data[CW_LAB_CUBES_MAX_DATAGRAM], out[CW_LAB_CUBES_VIEW_SIZE];
    cw_lab_cubes_view_transmit(scene->view, 1, 1, data, sizeof data);
    for (int i = 0; i < 3; i++) {
        const size_t size =
            cw_lab_cubes_server_receive(scene->server, &here, data, CW_LAB_CUBES_VIEW_SIZE, 0, out);
        assert_in_range(size, 1, CW_LAB_CUBES_VIEW_SIZE);
        cw_lab_cubes_server_step(scene->server, 0);
        assert_int_equal(cw_lab_cubes_server_transmit(scene->server, data + 32, &to), 0);
    }
}

TEST(more_views_than_places_are_told)
{
    struct scene *const scene = begin(0);
    uint8_t data[CW_LAB_CUBES_VIEW_SIZE], out[CW_LAB_CUBES_VIEW_SIZE];
    struct cw_address from = here;
    struct cw_lab_cubes_view_stats stats;
    for (int i = 0; i <= CW_LAB_CUBES_VIEWS; i++) {
        from.port++;
        cw_lab_cubes_view_transmit(scene->view, 0, 0, data, sizeof data);
        const size_t size =
            cw_lab_cubes_server_receive(scene->server, &from, data, sizeof data, 0, out);
        cw_lab_cubes_view_receive(scene->view, out, size);
        cw_lab_cubes_view_get_stats(scene->view, &stats);
        assert_true(stats.full == (i == CW_LAB_CUBES_VIEWS));
    }
    assert_true(cw_lab_cubes_server_receive(scene->server, &from, data, sizeof data, 3, out) > 0);
    cw_lab_cubes_view_receive(scene->view, out, sizeof out);
    cw_lab_cubes_view_get_stats(scene->view, &stats);
    assert_false(stats.full);
}

TEST(a_view_that_is_silent_gets_no_more)
{
    struct scene *const scene = begin(0);
    struct cw_address to;
    uint8_t data[CW_LAB_CUBES_MAX_DATAGRAM];
    while (step(scene) == 0)
        assert_true(scene->tick < 60);
    cw_lab_cubes_server_step(scene->server, 10);
    assert_int_equal(cw_lab_cubes_server_transmit(scene->server, data, &to), 0);
}

/* Datagrams of each coding with bytes changed, or cut short, do no harm. */
TEST(broken_datagrams_are_harmless)
{
    struct scene *const scene = begin(0);
    for (uint32_t coding = 0; coding < cw_lab_cubes_view_codings(); coding++) {
        cw_lab_cubes_view_choose(scene->view, coding);
        for (int i = 0; i < 40; i++) {
            uint8_t data[CW_LAB_CUBES_MAX_DATAGRAM];
            struct cw_address to;
            size_t size;
            step(scene);
            cw_lab_cubes_server_step(scene->server, (double)scene->tick / CW_LAB_CUBES_RATE);
            while ((size = cw_lab_cubes_server_transmit(scene->server, data, &to)) > 0) {
                uint8_t *const exact = malloc(size);
                const size_t cut = cw_prng_below(&scene->random, (uint32_t)size) + 1;
                memcpy(exact, data, size);
                exact[7 + cw_prng_below(&scene->random, (uint32_t)size - 7)] ^=
                    (uint8_t)(1u << cw_prng_below(&scene->random, 8));
                cw_lab_cubes_view_receive(scene->view, exact + size - cut, cut);
                cw_lab_cubes_view_receive(scene->view, exact, cut);
                cw_lab_cubes_view_receive(scene->view, exact, size);
                free(exact);
            }
        }
    }
    uint8_t noise[CW_LAB_CUBES_VIEW_SIZE], out[CW_LAB_CUBES_VIEW_SIZE];
    for (int i = 0; i < 10000; i++) {
        for (size_t j = 0; j < sizeof noise; j++)
            noise[j] = (uint8_t)cw_prng_bits(&scene->random);
        noise[0] = CW_LAB_CUBES_VERSION;
        noise[13] %= CW_LAB_CUBES_CODING_COUNT;
        cw_lab_cubes_server_receive(scene->server, &here, noise, sizeof noise, i, out);
    }
}
