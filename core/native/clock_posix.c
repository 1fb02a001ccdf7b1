#define _POSIX_C_SOURCE 200809L

#include "causeway/native/clock.h"

#include <time.h>

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double cw_clock_now(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double cw_clock_unix(void)
{
    return seconds_of(CLOCK_REALTIME);
}
