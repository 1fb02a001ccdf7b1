/* A minimal TCP Reno (RFC 5681, with the partial acks of RFC 6582) that sends without end. It is
   the competitor for a bottleneck; no real bytes are carried. */
#ifndef CAUSEWAY_TESTS_PATH_RENO_H
#define CAUSEWAY_TESTS_PATH_RENO_H

#include <stdbool.h>
#include <stdint.h>

#define RENO_SEGMENT 1040 /* bytes of a datagram */
#define RENO_ACK     40
#define RENO_RING    4096 /* segments that may be out of order at the receiver */

struct path_reno {
    bool active;
    /* members of the sender; everything is counted in segments */
    uint32_t next, acked, recover;
    uint32_t duplicates; /* acks in a row that acked nothing new */
    bool recovering;
    double window, threshold;
    double deadline; /* the time when the oldest segment is given up */
    double rtt, deviation;
    double timed_at; /* the time when the segment `timed` was sent, or below 0 */
    uint32_t timed;
    uint32_t resend; /* 1: the oldest unacked segment is to be sent again */
    /* members of the receiver */
    uint32_t expected;
    bool arrived[RENO_RING];
};

void path_reno_begin(struct path_reno *reno, double now);

/* Returns the next segment to be sent now; false when there is none. */
bool path_reno_transmit(struct path_reno *reno, double now, uint32_t *segment);

/* Takes a segment that arrived; returns the ack to be sent, the next segment that is expected. */
uint32_t path_reno_take(struct path_reno *reno, uint32_t segment);
void path_reno_acked(struct path_reno *reno, uint32_t ack, double now);
void path_reno_timeout(struct path_reno *reno, double now);

#endif
