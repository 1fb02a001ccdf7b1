/* The loop natively. The test emscripten.library covers it in a page. */
#include "causeway/native/clock.h"

#include "fixture.h"

#include <math.h>

#define INTERVAL 0.001

struct game {
    int ticks;
    int last;
    double until;
    double began;
};

static bool tick(void *context, double until)
{
    struct game *game = context;
    /* The x87 would compare with a sum that no double can be. */
    volatile double next = game->until + INTERVAL;
    assert_true(until >= (game->ticks == 0 ? game->began : next));
    game->until = until;
    return ++game->ticks < game->last;
}

TEST(it_ticks_until_it_is_told_to_stop)
{
    struct game game = {.last = 5, .began = cw_clock_now()};
    assert_ok(cw_run(tick, &game, INTERVAL));
    assert_int_equal(game.ticks, 5);
}

TEST(it_refuses_what_is_no_loop)
{
    struct game game = {.last = 1};
    assert_int_equal(cw_run(NULL, &game, INTERVAL), CW_ERROR_INVALID_ARGUMENT);
    const double wrong[] = {0, -1, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(cw_run(tick, &game, wrong[i]), CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(game.ticks, 0);
}
