/* The counters of what one session has carried. */
#ifndef CAUSEWAY_RELAY_TRAFFIC_H
#define CAUSEWAY_RELAY_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

/* Counters that count as those of the same names in stats/stats.h. */
struct traffic {
    uint64_t client_datagrams; /* datagrams from the browser */
    uint64_t client_bytes;
    uint64_t upstream_datagrams; /* datagrams from the game server */
    uint64_t upstream_bytes;
};

#endif
