#include "causeway/native/clock.h"

double cw_clock_next_tick(double tick, double interval_seconds)
{
    const double now = cw_clock_now(), next = tick + interval_seconds;
    return next > now ? next : now;
}
