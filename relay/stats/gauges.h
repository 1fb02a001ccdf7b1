/* The gauges of the relay, which go up and down. They are plain numbers, so that processes can
   share them. */
#ifndef CAUSEWAY_RELAY_GAUGES_H
#define CAUSEWAY_RELAY_GAUGES_H

#define GAUGES_TRANSPORTS 2
#define GAUGES_UPSTREAMS  64

/* The names of the transports. */
extern const char *const gauges_transports[GAUGES_TRANSPORTS];

struct gauges {
    unsigned sessions_max;
    unsigned sessions_unanswered; /* sessions that the game server has not answered */
    unsigned sessions_waiting;    /* sessions that wait for a link */
    unsigned links[GAUGES_TRANSPORTS];
    /* game servers that a process has found to be down, by the --upstream that allows them */
    unsigned upstreams_down[GAUGES_UPSTREAMS];
};

/* Returns the index of a transport among these names. */
unsigned gauges_transport(const char *name);

/* Adds the gauges of another process. */
void gauges_add(struct gauges *sum, const struct gauges *other);

#endif
