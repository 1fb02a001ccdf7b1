/* The loop of a page: the browser calls it, and must not be kept waiting. */
#include "causeway/native/clock.h"

#include <emscripten/emscripten.h>
#include <emscripten/html5.h>
#include <math.h>
#include <stdlib.h>

struct run {
    bool (*tick)(void *context, double until);
    void *context;
    double interval_seconds;
    double until; /* when the next tick is due */
};

static void run_tick(void *context);

static void wait_for_tick(struct run *run)
{
    const double left = run->until - cw_clock_now();
    emscripten_set_timeout(run_tick, fmax(ceil(left * 1000), 0), run);
}

static void run_tick(void *context)
{
    struct run *run = context;
    if (cw_clock_now() < run->until) { /* timers may fire early */
        wait_for_tick(run);
    } else if (run->tick(run->context, run->until)) {
        run->until = cw_clock_next_tick(run->until, run->interval_seconds);
        wait_for_tick(run);
    } else {
        free(run);
    }
}

enum cw_error cw_run(bool (*tick)(void *context, double until), void *context,
                     double interval_seconds)
{
    if (!tick || !(interval_seconds > 0 && isfinite(interval_seconds)))
        return CW_ERROR_INVALID_ARGUMENT;
    struct run *run = malloc(sizeof *run);
    if (!run)
        return CW_ERROR_NO_MEMORY;
    *run = (struct run){tick, context, interval_seconds, cw_clock_now()};
    wait_for_tick(run);
    emscripten_exit_with_live_runtime();
}
