#include "path_reno.h"

#include <math.h>

#define FIRST_WINDOW    10  /* segments */
#define LEAST_TIMEOUT   0.2 /* seconds, as in Linux */
#define LONGEST_TIMEOUT 60  /* seconds */
#define DUPLICATES      3   /* acks that mean a loss (RFC 5681) */

static double timeout(const struct path_reno *reno)
{
    const double value = reno->rtt > 0 ? reno->rtt + 4 * reno->deviation : 1;
    return fmin(fmax(value, reno->rtt + LEAST_TIMEOUT), LONGEST_TIMEOUT);
}

void path_reno_begin(struct path_reno *reno, double now)
{
    *reno = (struct path_reno){
        .active = true,
        .window = FIRST_WINDOW,
        .threshold = INFINITY,
        .timed_at = -1,
    };
    reno->deadline = now + timeout(reno);
}

bool path_reno_transmit(struct path_reno *reno, double now, uint32_t *segment)
{
    if (reno->resend) {
        reno->resend = 0;
        reno->timed_at = -1; /* Karn's rule: nothing is measured while segments are sent again */
        *segment = reno->acked;
        return true;
    }
    if (reno->next - reno->acked >= (uint32_t)reno->window)
        return false;
    if (reno->timed_at < 0) {
        reno->timed_at = now;
        reno->timed = reno->next;
    }
    *segment = reno->next++;
    return true;
}

uint32_t path_reno_take(struct path_reno *reno, uint32_t segment)
{
    if (segment - reno->expected < RENO_RING)
        reno->arrived[segment % RENO_RING] = true;
    while (reno->arrived[reno->expected % RENO_RING])
        reno->arrived[reno->expected++ % RENO_RING] = false;
    return reno->expected;
}

static void sample(struct path_reno *reno, uint32_t ack, double now)
{
    if (reno->timed_at < 0 || ack <= reno->timed)
        return;
    const double rtt = now - reno->timed_at;
    reno->timed_at = -1;
    if (reno->rtt <= 0) {
        reno->rtt = rtt;
        reno->deviation = rtt / 2;
        return;
    }
    reno->deviation += (fabs(rtt - reno->rtt) - reno->deviation) / 4;
    reno->rtt += (rtt - reno->rtt) / 8;
}

static void halve(struct path_reno *reno)
{
    const double flight = (double)(reno->next - reno->acked);
    reno->threshold = fmax(flight / 2, 2);
}

static void duplicate(struct path_reno *reno)
{
    reno->duplicates++;
    if (reno->recovering) {
        reno->window += 1;
    } else if (reno->duplicates == DUPLICATES) {
        halve(reno);
        reno->window = reno->threshold + DUPLICATES;
        reno->recovering = true;
        reno->recover = reno->next;
        reno->resend = 1;
    }
}

void path_reno_acked(struct path_reno *reno, uint32_t ack, double now)
{
    if (ack <= reno->acked) {
        if (ack == reno->acked && reno->next > reno->acked)
            duplicate(reno);
        return;
    }
    sample(reno, ack, now);
    const uint32_t news = ack - reno->acked;
    reno->acked = ack;
    if (reno->next < ack)
        reno->next = ack;
    reno->duplicates = 0;
    reno->deadline = now + timeout(reno);
    if (reno->recovering && ack < reno->recover) {
        reno->resend = 1;
        reno->window = fmax(reno->window - news + 1, 1);
    } else if (reno->recovering) {
        reno->recovering = false;
        reno->window = reno->threshold;
    } else {
        reno->window += reno->window < reno->threshold ? news : news / reno->window;
    }
}

void path_reno_timeout(struct path_reno *reno, double now)
{
    halve(reno);
    reno->window = 1;
    reno->recovering = false;
    reno->duplicates = 0;
    reno->timed_at = -1;
    reno->next = reno->acked;
    reno->deadline = now + 2 * timeout(reno);
}
