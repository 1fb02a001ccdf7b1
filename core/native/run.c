#include "causeway/native/clock.h"

#include <math.h>

enum cw_error cw_run(bool (*tick)(void *context, double until), void *context,
                     double interval_seconds)
{
    if (!tick || !(interval_seconds > 0 && isfinite(interval_seconds)))
        return CW_ERROR_INVALID_ARGUMENT;
    double until = cw_clock_now();
    while (tick(context, until))
        until = cw_clock_next_tick(until, interval_seconds);
    return CW_OK;
}
