/* Running measurements: each costs a few operations per sample and keeps no samples. */
#ifndef CAUSEWAY_MEASURE_H
#define CAUSEWAY_MEASURE_H

#include "base/shared.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define CW_RTT_DEVIATION_SMOOTHING 0.25         /* weight of a new sample, as in RFC 6298 */
#define CW_JITTER_SMOOTHING        (1.0 / 16.0) /* weight of a new sample, as in RFC 3550 */
#define CW_TIMEOUT_BEFORE_SAMPLES  1.0          /* seconds, as in RFC 6298 */
#define CW_SILENCE_MEMORY          0.5 /* seconds in which shorter silences make the usual one fade */

struct cw_rtt {
    double smoothed;
    double min;
    double deviation;
    double jitter;
    double last;
    bool sampled;
};

CW_SHARED void cw_rtt_sample(struct cw_rtt *rtt, double sample, double smoothing)
{
    if (sample < 0)
        sample = 0;
    if (!rtt->sampled) {
        rtt->sampled = true;
        rtt->smoothed = rtt->min = rtt->last = sample;
        rtt->deviation = sample / 2;
        return;
    }
    if (sample < rtt->min)
        rtt->min = sample;
    rtt->deviation += (fabs(sample - rtt->smoothed) - rtt->deviation) * CW_RTT_DEVIATION_SMOOTHING;
    rtt->smoothed += (sample - rtt->smoothed) * smoothing;
    rtt->jitter += (fabs(sample - rtt->last) - rtt->jitter) * CW_JITTER_SMOOTHING;
    rtt->last = sample;
}

/* The seconds after which an answer is overdue: 1 before the first sample, at most
   CW_LONGEST_TIMEOUT, but never less than at_least. */
#define CW_LONGEST_TIMEOUT 10.0

CW_SHARED double cw_rtt_timeout(const struct cw_rtt *rtt, double at_least)
{
    double timeout =
        rtt->sampled ? 2 * rtt->smoothed + 4 * rtt->deviation : CW_TIMEOUT_BEFORE_SAMPLES;
    if (timeout > CW_LONGEST_TIMEOUT)
        timeout = CW_LONGEST_TIMEOUT;
    return timeout > at_least ? timeout : at_least;
}

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
   silence in which the other end may have been idle counts only by its rest.

   A packet that comes soon after another belongs to the same round. A single silence, however long,
   at most doubles the usual one. A silence in which the other end may have been idle tells that a
   usual one is no longer than that, and no shorter than the part in which it was not idle. When an
   answer was due after that part, the answer tells how long the path is: only its own delay can be
   unusual. */
CW_SHARED void cw_silence_end(struct cw_silence *silence, bool next, double now)
{
    const double length = now - silence->last_arrival, usual = silence->usual;
    double known = usual > 0 ? length - silence->idle : length;
    silence->last_arrival = now;
    if (!(length > 0))
        return;
    const double unusual = silence->due ? known : length;
    if (usual > 0 && unusual > 2 * usual) {
        silence->excess = unusual - usual;
        if (known > 2 * usual)
            known = 2 * usual;
    } else if (silence->due || 2 * length > usual) {
        silence->excess = 0;
    }
    if (!next)
        return;
    if (length < usual) {
        const double faded = usual - usual * (length / CW_SILENCE_MEMORY);
        silence->usual = faded > length ? faded : length;
    } else if (known > usual) {
        silence->usual = known;
    }
}

/* A counter of bytes turned into bytes per second. */
struct cw_rate {
    uint64_t bytes_before; /* the counter when the rate was last refreshed */
    double bytes_per_second;
};

/* Takes the growth of a byte counter over the elapsed seconds; about the last second counts. */
void cw_rate_refresh(struct cw_rate *rate, uint64_t bytes, double elapsed);

/* Moves a share towards 1 by one packet that was lost, or towards 0 by one that was not. */
#define CW_LOSS_WEIGHT (1.0 / 128.0)

CW_SHARED double cw_loss_sample(double share, bool lost)
{
    return share + ((lost ? 1.0 : 0.0) - share) * CW_LOSS_WEIGHT;
}

#endif
