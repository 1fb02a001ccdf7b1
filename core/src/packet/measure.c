#include "packet/measure.h"

#include <math.h>

#define RTT_DEVIATION_SMOOTHING 0.25
#define JITTER_SMOOTHING        (1.0 / 16.0)
#define TIMEOUT_BEFORE_SAMPLES  1.0
#define RATE_SPAN               1.0
#define SILENCE_MEMORY          0.5 /* seconds */

void cw_rtt_sample(struct cw_rtt *rtt, double sample, double smoothing)
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
    rtt->deviation += (fabs(sample - rtt->smoothed) - rtt->deviation) * RTT_DEVIATION_SMOOTHING;
    rtt->smoothed += (sample - rtt->smoothed) * smoothing;
    rtt->jitter += (fabs(sample - rtt->last) - rtt->jitter) * JITTER_SMOOTHING;
    rtt->last = sample;
}

double cw_rtt_timeout(const struct cw_rtt *rtt, double at_least)
{
    const double timeout =
        rtt->sampled ? 2 * rtt->smoothed + 4 * rtt->deviation : TIMEOUT_BEFORE_SAMPLES;
    return timeout > at_least ? timeout : at_least;
}

void cw_silence_end(struct cw_silence *silence, bool next, double now)
{
    const double length = now - silence->heard;
    if (next && length > 0) {
        silence->usual -= silence->usual * (length / SILENCE_MEMORY);
        if (silence->usual < length)
            silence->usual = length;
    }
    silence->heard = now;
}

void cw_rate_refresh(struct cw_rate *rate, uint64_t bytes, double elapsed)
{
    const double now = (double)(bytes - rate->bytes_before) * 8 / elapsed;
    const double weight = elapsed < RATE_SPAN ? elapsed / RATE_SPAN : 1;
    rate->bits_per_second += (now - rate->bits_per_second) * weight;
    rate->bytes_before = bytes;
}
