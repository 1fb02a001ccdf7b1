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

/* The seconds after which an answer is overdue: 1 before the first sample, at most
   CW_LONGEST_TIMEOUT, but never less than at_least. */
#define CW_LONGEST_TIMEOUT 10.0

double cw_rtt_timeout(const struct cw_rtt *rtt, double at_least);

/* The silences of the other end between its rounds of packets. */
struct cw_silence {
    double last_arrival; /* when its newest packet arrived; NaN before the first: no time is after
                            it */
    double usual;   /* the longest recent silence; 0 before two packets in a row have arrived */
    double excess;  /* the excess of the silence before the packets that arrive now */
    double idle;    /* seconds of this silence in which the other end may be idle */
    bool due;       /* after these seconds the other end owes an answer */
    uint16_t asked; /* to this packet of ours */
};

/* The other end's next packet is late after this many of its usual silences. */
#define CW_SILENCES 1.25

/* Notes that the other end's newest packet has arrived. next says that it directly follows the
   newest one before, so that the time between the two was a silence and not a lost packet. A
   silence in which the other end may have been idle counts only by its rest. */
void cw_silence_end(struct cw_silence *silence, bool next, double now);

/* A counter of bytes turned into bytes per second. */
struct cw_rate {
    uint64_t bytes_before; /* the counter when the rate was last refreshed */
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
