/* A ring holds the server's events for the application, in order. It always has room for CONNECTED
   and DISCONNECTED of every slot, and for one payload. */
#ifndef CAUSEWAY_SERVER_EVENTS_H
#define CAUSEWAY_SERVER_EVENTS_H

#include "base/memory.h"

#include "causeway/netcode_server.h"

struct cw_server_events {
    struct cw_netcode_server_event *ring;
    uint32_t capacity, first, count;
    bool payload_waits; /* a PAYLOAD is in the ring: its bytes must stay */
};

void cw_server_events_layout(struct cw_server_events *events, struct cw_arena *arena,
                             uint32_t max_clients);

void cw_server_events_put(struct cw_server_events *events,
                          const struct cw_netcode_server_event *event);

/* Returns the oldest event, which stays in the queue, or NULL when there is none. */
const struct cw_netcode_server_event *cw_server_events_first(const struct cw_server_events *events);

/* Takes the PAYLOAD back that was put last. Returns false when there is none. */
bool cw_server_events_take_payload(struct cw_server_events *events,
                                   struct cw_netcode_server_event *event);

/* Drops the oldest event. There must be one. */
void cw_server_events_drop(struct cw_server_events *events);

#endif
