/* Running measurements: each costs a few operations per sample and keeps no samples. */
#ifndef CAUSEWAY_MEASURE_H
#define CAUSEWAY_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

struct cw_rtt {
    double smoothed;
    double min;
    double deviation;
    double jitter;
    double last;
    bool sampled;
};

void cw_rtt_sample(struct cw_rtt *rtt, double sample, double smoothing);

/* Seconds after which an answer is overdue: 1 before the first sample, and never more than the
   longest, unless at_least is. */
#define CW_LONGEST_TIMEOUT 10.0

double cw_rtt_timeout(const struct cw_rtt *rtt, double at_least);

/* How long the other end sends nothing from one round of packets to its next. */
struct cw_silence {
    double heard;  /* when its newest packet arrived; NaN before the first: no time is after it */
    double usual;  /* the longest of late; 0 before two in a row have arrived */
    double excess; /* by which that before the packets that arrive now was longer */
};

/* The newest packet of theirs arrived; next: it is the one after that which was the newest, so that
   the time between the two was theirs and not that of a packet lost. */
void cw_silence_end(struct cw_silence *silence, bool next, double now);

/* Bytes turned into bytes per second. */
struct cw_rate {
    uint64_t bytes_before; /* value of the counter when the rate was refreshed last */
    double bytes_per_second;
};

/* Takes the growth of a byte counter over the elapsed seconds; about the last second counts. */
void cw_rate_refresh(struct cw_rate *rate, uint64_t bytes, double elapsed);

/* Moves a share towards 1 by one packet that was lost, or towards 0 by one that was not. */
#define CW_LOSS_WEIGHT (1.0 / 128.0)

static inline double cw_loss_sample(double share, bool lost)
{
    return share + ((lost ? 1.0 : 0.0) - share) * CW_LOSS_WEIGHT;
}

#endif
