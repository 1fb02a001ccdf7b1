#include "net/gauges.h"

#include <string.h>

const char *const gauges_transports[GAUGES_TRANSPORTS] = {"websocket", "webrtc"};

void gauges_count_link(struct gauges *gauges, const char *transport)
{
    for (unsigned i = 0; i < GAUGES_TRANSPORTS; i++)
        gauges->links[i] += strcmp(gauges_transports[i], transport) == 0;
}

void gauges_add(struct gauges *sum, const struct gauges *more)
{
    sum->sessions_max += more->sessions_max;
    sum->sessions_unanswered += more->sessions_unanswered;
    sum->sessions_waiting += more->sessions_waiting;
    for (unsigned i = 0; i < GAUGES_TRANSPORTS; i++)
        sum->links[i] += more->links[i];
    sum->upstreams_down += more->upstreams_down;
}
