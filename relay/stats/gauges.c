#include "stats/gauges.h"

#include <string.h>

const char *const gauges_transports[GAUGES_TRANSPORTS] = {"websocket", "webrtc"};

unsigned gauges_transport(const char *name)
{
    unsigned place = 0;
    while (place + 1 < GAUGES_TRANSPORTS && strcmp(gauges_transports[place], name) != 0)
        place++;
    return place;
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
