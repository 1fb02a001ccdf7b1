/* Random tests repeat what they do CAUSEWAY_FUZZ_TIMES as often as by default. */
#ifndef CAUSEWAY_TESTS_FUZZ_TIMES_H
#define CAUSEWAY_TESTS_FUZZ_TIMES_H

#include <stdint.h>
#include <stdlib.h>

static inline uint32_t fuzz_times(uint32_t rounds)
{
    const char *const times = getenv("CAUSEWAY_FUZZ_TIMES");
    const unsigned long factor = times ? strtoul(times, NULL, 10) : 1;
    return rounds * (uint32_t)(factor > 0 ? factor : 1);
}

#endif
