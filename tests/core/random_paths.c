/* Properties of congestion control on paths drawn at random, in virtual time. CAUSEWAY_SEED draws
   others than usual.
     test_core_random_paths [PATHS] */
#include "random_path.h"

#define OWN_MAIN
#include "fixture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef RANDOM_PATHS
#define RANDOM_PATHS 48
#endif

#define MOST_DROPS 20 /* percent; a receiver that ticks at 5 Hz tells of losses late */

static uint32_t paths = RANDOM_PATHS;

static uint64_t seed(void)
{
    const char *text = getenv("CAUSEWAY_SEED");
    return text ? strtoull(text, NULL, 10) : 1;
}

static void fail_path(const struct random_path *path, uint32_t number, const char *what,
                      double figure)
{
    random_path_print(path);
    fail_msg("\nCAUSEWAY_SEED=%" PRIu64 ", path %u: %s (%g)", seed(), number, what, figure);
}

/* On every path the window is bounded by what the path carries in a round trip, and a flow that has
   the path for itself never holds its own against others. */
TEST(test_windows_are_bounded_and_lone_flows_do_not_compete)
{
    for (uint32_t i = 0; i < paths; i++) {
        const struct random_path path = random_path_draw(seed(), i);
        const struct random_result result = random_path_run(&path, seed() + i);
        if (!(result.window <= 1))
            fail_path(&path, i, "a window beyond its bound", result.window);
        if (path.flows == 1 && result.competed)
            fail_path(&path, i, "a lone flow competes", 1);
    }
}

/* A path that drops what is above its rate, and whose bucket holds ten packets, drops little of a
   flow. A control that tolerated losses that come from its own rate would lose half of it. */
TEST(test_losses_that_rise_with_the_rate_lower_the_rate)
{
    for (uint32_t i = 0; i < paths / 8; i++) {
        struct random_path path = random_path_draw(seed(), i * RANDOM_CLASSES + RANDOM_POLICER);
        path.kbit = fmax(path.kbit, 3000);
        path.queue = fmax(path.queue, 0.03);
        path.ticks[0] = fmin(path.ticks[0], path.queue * 0.8);
        const struct random_result result = random_path_run(&path, seed() + i);
        if (result.drops > MOST_DROPS)
            fail_path(&path, i, "percent are dropped", result.drops);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        paths = (uint32_t)strtoul(argv[1], NULL, 10);
    print_message("seed %" PRIu64 ", %u paths\n", seed(), paths);
    return fixture_run();
}
