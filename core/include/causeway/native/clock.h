/* This header has the time for native programs, and a loop that ticks by it. */
#ifndef CAUSEWAY_NATIVE_CLOCK_H
#define CAUSEWAY_NATIVE_CLOCK_H

#include "causeway/base.h"

#include <stdbool.h>

CW_BEGIN_DECLARATIONS

/* Returns the seconds since some moment in the past. The time never goes back, and does not follow
   changes of the wall clock. */
double cw_clock_now(void);

/* Returns the seconds since 1970 by the wall clock: Unix time, as in tokens. */
double cw_clock_unix(void);

/* Returns the time of the next tick: interval_seconds after this one, or now if that time has
   passed. So a loop that was held up goes on from now and skips the ticks that it missed. */
double cw_clock_next_tick(double tick, double interval_seconds);

/* The loop of a game that runs natively and in a page, from one source:

       static bool tick(void *game, double until)
       {
           while (cw_client_host_next(host, until, &event))
               ...what the server said...
           ...what the game does in a tick...
           cw_client_host_update(host);
           return running;
       }

   Calls tick every interval_seconds until it returns false. `until` is when the tick is due, and
   tick is called before that, to wait for events in cw_client_host_next or cw_host_next. A loop
   that was held up goes on from now and skips the ticks that it missed.

   In a page nothing may wait, so there the browser calls tick when it is due, and cw_run does not
   return: put nothing after it, and let the last tick clean up. A page that draws does so between
   ticks, in a loop of its own (emscripten_request_animation_frame_loop).

   Errors: CW_ERROR_INVALID_ARGUMENT without a tick or with an interval that is not above 0. */
enum cw_error cw_run(bool (*tick)(void *context, double until), void *context,
                     double interval_seconds);

CW_END_DECLARATIONS

#endif
