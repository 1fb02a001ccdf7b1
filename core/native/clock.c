#define _POSIX_C_SOURCE 200809L

#include "causeway/native/clock.h"

#include <time.h>

double cw_clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
