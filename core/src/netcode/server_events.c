#include "netcode/server_events.h"

#include <assert.h>

void cw_server_events_layout(struct cw_server_events *events, struct cw_arena *arena,
                             uint32_t max_clients)
{
    events->capacity = 2 * max_clients + 1;
    events->ring = cw_arena_take(arena, events->capacity * sizeof(*events->ring));
}

void cw_server_events_put(struct cw_server_events *events,
                          const struct cw_netcode_server_event *event)
{
    assert(events->count < events->capacity);
    events->ring[(events->first + events->count++) % events->capacity] = *event;
    if (event->type == CW_NETCODE_SERVER_EVENT_PAYLOAD)
        events->payload_waits = true;
}

const struct cw_netcode_server_event *cw_server_events_first(const struct cw_server_events *events)
{
    return events->count > 0 ? &events->ring[events->first] : NULL;
}

bool cw_server_events_take_payload(struct cw_server_events *events,
                                   struct cw_netcode_server_event *event)
{
    if (!events->payload_waits)
        return false;
    events->payload_waits = false;
    *event = events->ring[(events->first + --events->count) % events->capacity];
    return true;
}

void cw_server_events_drop(struct cw_server_events *events)
{
    if (events->ring[events->first].type == CW_NETCODE_SERVER_EVENT_PAYLOAD)
        events->payload_waits = false;
    events->first = (events->first + 1) % events->capacity;
    events->count--;
}
