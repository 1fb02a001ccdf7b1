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

void gauges_add(struct gauges *sum, const struct gauges *other)
{
    sum->sessions_max += other->sessions_max;
    sum->sessions_unanswered += other->sessions_unanswered;
    sum->sessions_waiting += other->sessions_waiting;
    for (unsigned i = 0; i < GAUGES_TRANSPORTS; i++)
        sum->links[i] += other->links[i];
    for (unsigned i = 0; i < GAUGES_UPSTREAMS; i++)
        sum->upstreams_down[i] += other->upstreams_down[i];
}
