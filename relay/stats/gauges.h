/* The gauges of the relay, which go up and down. Plain numbers, so that processes can share them.
 */
#ifndef CAUSEWAY_RELAY_GAUGES_H
#define CAUSEWAY_RELAY_GAUGES_H

#define GAUGES_TRANSPORTS 2

/* The names of the transports. */
extern const char *const gauges_transports[GAUGES_TRANSPORTS];

struct gauges {
    unsigned sessions_max;
    unsigned sessions_unanswered; /* by the game server */
    unsigned sessions_waiting;    /* for a link */
    unsigned links[GAUGES_TRANSPORTS];
    unsigned upstreams_down; /* game servers that a process has found to be down */
};

/* The place of a transport among these. */
unsigned gauges_transport(const char *name);

/* Adds those of another process. */
void gauges_add(struct gauges *sum, const struct gauges *more);

#endif
