/* The time for native programs. */
#ifndef CAUSEWAY_NATIVE_CLOCK_H
#define CAUSEWAY_NATIVE_CLOCK_H

#include "causeway/base.h"

CW_BEGIN_DECLARATIONS

/* Seconds since some moment in the past. It never goes back, and does not follow changes of the
   wall clock. */
double cw_clock_now(void);

/* Seconds since 1970 by the wall clock: Unix time, as in tokens. */
double cw_clock_unix(void);

/* The time of the next tick: interval_seconds after this one, or now if that time has passed. So a
   loop that was held up goes on from now and skips the ticks that it missed. */
double cw_clock_next_tick(double tick, double interval_seconds);

CW_END_DECLARATIONS

#endif
