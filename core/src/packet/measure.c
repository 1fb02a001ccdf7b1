#include "packet/measure.h"

#include <math.h>

#define RTT_DEVIATION_SMOOTHING 0.25         /* weight of a new sample, as in RFC 6298 */
#define JITTER_SMOOTHING        (1.0 / 16.0) /* weight of a new sample, as in RFC 3550 */
#define TIMEOUT_BEFORE_SAMPLES  1.0          /* seconds, as in RFC 6298 */
#define RATE_SPAN               1.0          /* seconds over which a rate is the mean */
#define SILENCE_MEMORY          0.5 /* seconds in which shorter silences make the usual one fade */

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
    double timeout = rtt->sampled ? 2 * rtt->smoothed + 4 * rtt->deviation : TIMEOUT_BEFORE_SAMPLES;
    if (timeout > CW_LONGEST_TIMEOUT)
        timeout = CW_LONGEST_TIMEOUT;
    return timeout > at_least ? timeout : at_least;
}

/* A packet that comes soon after another belongs to the same round. A single silence, however long,
   at most doubles the usual one. A silence in which the other end may have been idle tells that a
   usual one is no longer than that, and no shorter than the part in which it was not idle. When an
   answer was due after that part, the answer tells how long the path is: only its own delay can be
   unusual. */
void cw_silence_end(struct cw_silence *silence, bool next, double now)
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
        const double faded = usual - usual * (length / SILENCE_MEMORY);
        silence->usual = faded > length ? faded : length;
    } else if (known > usual) {
        silence->usual = known;
    }
}

void cw_rate_refresh(struct cw_rate *rate, uint64_t bytes, double elapsed)
{
    const double now = (double)(bytes - rate->bytes_before) / elapsed;
    const double weight = elapsed < RATE_SPAN ? elapsed / RATE_SPAN : 1;
    rate->bytes_per_second += (now - rate->bytes_per_second) * weight;
    rate->bytes_before = bytes;
}
