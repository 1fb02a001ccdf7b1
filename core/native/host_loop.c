#include "native/host_loop.h"

#include "causeway/native/clock.h"

#include <math.h>

bool cw_host_loop_next(const struct cw_host_loop *loop, double until, void *event)
{
    if (!isfinite(until))
        until = cw_clock_now();
    for (;;) {
        if (loop->next(loop->host, event))
            return true;
        if (loop->receive(loop->host, until))
            continue;
        const double now = cw_clock_now();
        loop->transmit(loop->host, now);
        if (now >= until)
            return false;
        cw_socket_wait(loop->socket, until - now);
    }
}
