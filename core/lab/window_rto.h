/* When to send again: the round trip time and the retransmission timeout (RFC 6298, with the
   variance of Linux). Internal to the lab. */
#ifndef CAUSEWAY_LAB_WINDOW_RTO_H
#define CAUSEWAY_LAB_WINDOW_RTO_H

#include "causeway/lab/window_config.h"

struct cw_window_rto {
    const struct cw_window_config *config;
    double rtt;       /* smoothed, seconds; 0 before the first sample */
    double deviation; /* mean deviation of samples from it */
    double timeout;   /* seconds, without backoff */
    uint32_t doublings;
};

void cw_window_rto_init(struct cw_window_rto *rto, const struct cw_window_config *config);

/* Takes the round trip time of a segment that was sent only once (Karn). */
void cw_window_rto_sample(struct cw_window_rto *rto, double seconds);

/* The timeout has passed: the next one is twice as long. */
void cw_window_rto_back_off(struct cw_window_rto *rto);

/* There was progress: the backoff ends. Karn would wait for a sample; Linux has one in each ack,
   because it sends timestamps. */
void cw_window_rto_progress(struct cw_window_rto *rto);

/* The timeout now, in seconds. */
double cw_window_rto_seconds(const struct cw_window_rto *rto);

#endif
