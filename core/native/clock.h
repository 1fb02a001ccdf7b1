/* The time for native programs. */
#ifndef CAUSEWAY_NATIVE_CLOCK_H
#define CAUSEWAY_NATIVE_CLOCK_H

#include "causeway/linkage.h"

CW_BEGIN_DECLARATIONS

/* Seconds since some moment in the past; never goes back and does not follow changes of the wall
   clock. */
double cw_clock_now(void);

/* Seconds since 1970 by the wall clock, as tokens tell the time. */
double cw_clock_unix(void);

/* The time of the tick after this one: interval seconds later, or now when that has passed. A loop
   that was held up starts over then, and does not make up for the ticks that it missed. */
double cw_clock_next_tick(double tick, double interval);

CW_END_DECLARATIONS

#endif
