/* A small generator of pseudo-random numbers, the same everywhere. It must not make secrets. */
#ifndef CAUSEWAY_PRNG_H
#define CAUSEWAY_PRNG_H

#include <stdbool.h>
#include <stdint.h>

/* SplitMix64: a counter whose steps are mixed. Any state is a good seed. */
struct cw_prng {
    uint64_t state;
};

static inline uint64_t cw_prng_bits(struct cw_prng *random)
{
    uint64_t mixed = random->state += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

/* Returns numbers evenly distributed from 0 to below 1. */
static inline double cw_prng_share(struct cw_prng *random)
{
    return (double)(cw_prng_bits(random) >> 11) * 0x1p-53;
}

/* Returns true with the given chance, 0 to 1. */
static inline bool cw_prng_chance(struct cw_prng *random, double chance)
{
    return cw_prng_share(random) < chance;
}

/* Returns numbers evenly distributed from 0 to below limit, which must be above 0. */
static inline uint32_t cw_prng_below(struct cw_prng *random, uint32_t limit)
{
    return (uint32_t)((cw_prng_bits(random) >> 32) * limit >> 32);
}

#endif
