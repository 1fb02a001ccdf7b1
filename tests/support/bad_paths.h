/* Two simulated paths between two ends, in virtual time, with what makes them bad at random. */
#ifndef CAUSEWAY_TESTS_BAD_PATHS_H
#define CAUSEWAY_TESTS_BAD_PATHS_H

#include "base/prng.h"

#include "owned.h"

#include <string.h>

struct bad_paths {
    struct cw_prng random;
    double now;
    struct cw_simulator *from[2]; /* the paths from each end to the other */
};

static inline struct bad_paths bad_paths(uint64_t seed)
{
    struct bad_paths paths = {.random = {seed}, .now = 1000};
    struct cw_simulator_config config = cw_simulator_config_default();
    for (int i = 0; i < 2; i++) {
        config.seed = cw_prng_bits(&paths.random);
        paths.from[i] = simulator_with(&config);
    }
    return paths;
}

static inline void bad_paths_set(struct bad_paths *paths, const struct cw_simulator_path *path)
{
    for (int i = 0; i < 2; i++)
        assert_ok(cw_simulator_change(paths->from[i], path));
}

static inline void bad_paths_calm(struct bad_paths *paths)
{
    bad_paths_set(paths,
                  &(struct cw_simulator_path){.latency_seconds = 0.02, .queue_bytes = 65536});
}

/* Makes both paths lose, double, delay and reorder datagrams. */
static inline void bad_paths_lose(struct bad_paths *paths, double loss)
{
    const struct cw_simulator_path path = {.latency_seconds = 0.15 * cw_prng_share(&paths->random),
                                           .jitter_seconds = 0.04 * cw_prng_share(&paths->random),
                                           .loss = loss,
                                           .duplicate = 0.1,
                                           .reorder = 0.1,
                                           .reorder_delay_seconds = 0.05,
                                           .queue_bytes = 65536};
    bad_paths_set(paths, &path);
}

/* Lets nothing arrive for up to ten seconds of 60 ticks, in one direction or in both. */
static inline void bad_paths_fail(struct bad_paths *paths, int ticks, void (*tick)(void *world),
                                  void *world)
{
    struct cw_simulator_path path = {
        .latency_seconds = 0.05, .jitter_seconds = 0.01, .queue_bytes = 65536};
    for (int i = 0, next = 0; i < ticks; i++, tick(world)) {
        if (i < next)
            continue;
        for (int end = 0; end < 2; end++) {
            path.loss = cw_prng_chance(&paths->random, 0.5) ? 1 : 0.2;
            assert_ok(cw_simulator_change(paths->from[end], &path));
        }
        next = i + (int)cw_prng_below(&paths->random, 600);
    }
}

/* Returns the next datagram that arrives from that end now, in memory of exactly its size; NULL
   when there is none. The caller frees it. */
static inline uint8_t *bad_paths_next(struct bad_paths *paths, int from, size_t *size)
{
    uint8_t data[2048];
    *size = cw_simulator_transmit(paths->from[from], data, sizeof data, paths->now);
    return *size ? memcpy(malloc(*size), data, *size) : NULL;
}

#endif
