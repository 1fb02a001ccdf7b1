/* The essentials of BBR's first version (draft-cardwell-iccrg-bbr-congestion-control-00): it paces
   by the best rate of ten rounds and the least RTT of ten seconds, and takes no loss for a sign.
   It has neither BBR's policer detection nor its bursts. */
#include "path_peer.h"

#include <math.h>

#define STARTUP_GAIN  2.885 /* 2 / ln 2 */
#define WINDOW_GAIN   2.0
#define LEAST_WINDOW  4    /* segments */
#define PHASES        8    /* phases of the gain's cycle */
#define FULL_ROUNDS   3    /* rounds in which the rate does not grow mean that the pipe is full */
#define FULL_GROWTH   1.25 /* a rate that grows less does not grow */
#define RTT_LASTS     10   /* seconds */
#define PROBE_SECONDS 0.2  /* for which the window is least */

static void begin(struct path_peer *peer)
{
    peer->bbr.least = INFINITY;
}

static double best_rate(const struct path_bbr *bbr)
{
    double best = 0;
    for (uint32_t i = 0; i < PEER_RATES; i++)
        best = fmax(best, bbr->rates[i]);
    return best;
}

static double pipe(const struct path_bbr *bbr)
{
    return best_rate(bbr) * bbr->least;
}

static void take_rate(struct path_bbr *bbr, const struct path_peer_ack *ack)
{
    if (ack->new_round)
        bbr->rates[++bbr->round % PEER_RATES] = 0;
    double *best = &bbr->rates[bbr->round % PEER_RATES];
    *best = fmax(*best, ack->rate);
}

static void begin_phase(struct path_bbr *bbr, uint32_t phase, double now)
{
    bbr->state = BBR_PROBE_BANDWIDTH;
    bbr->phase = phase % PHASES;
    bbr->phase_since = now;
    bbr->lost = false;
}

/* A cycle begins with any phase but the one that lets the queue drain. */
static void begin_cycle(struct path_peer *peer, double now)
{
    const uint32_t drawn = cw_prng_below(&peer->random, PHASES - 1);
    begin_phase(&peer->bbr, drawn == 0 ? 0 : drawn + 1, now);
}

static double gain_of(const struct path_bbr *bbr)
{
    static const double cycle[PHASES] = {1.25, 0.75, 1, 1, 1, 1, 1, 1};
    switch (bbr->state) {
    case BBR_STARTUP:
        return STARTUP_GAIN;
    case BBR_DRAIN:
        return 1 / STARTUP_GAIN;
    case BBR_PROBE_BANDWIDTH:
        return cycle[bbr->phase];
    default:
        return 1;
    }
}

/* Ends startup when the rate no longer grows, and then draining when the queue is empty. */
static void fill_pipe(struct path_peer *peer, const struct path_peer_ack *ack)
{
    struct path_bbr *bbr = &peer->bbr;
    if (bbr->state == BBR_STARTUP && ack->new_round) {
        bbr->full_rounds++;
        if (best_rate(bbr) >= bbr->full_rate * FULL_GROWTH) {
            bbr->full_rate = best_rate(bbr);
            bbr->full_rounds = 0;
        }
        if (bbr->full_rounds >= FULL_ROUNDS)
            bbr->state = BBR_DRAIN;
    }
    if (bbr->state == BBR_DRAIN && peer->in_flight <= pipe(bbr))
        begin_cycle(peer, ack->now);
}

static void cycle(struct path_peer *peer, double now)
{
    struct path_bbr *bbr = &peer->bbr;
    const double gain = gain_of(bbr);
    bool ends = now - bbr->phase_since > bbr->least;
    if (gain > 1)
        ends &= bbr->lost || peer->in_flight >= gain * pipe(bbr);
    else if (gain < 1)
        ends |= peer->in_flight <= pipe(bbr);
    if (ends)
        begin_phase(bbr, bbr->phase + 1, now);
}

/* Lets the queue drain when the least RTT has not been seen for ten seconds. */
static void probe_rtt(struct path_peer *peer, const struct path_peer_ack *ack)
{
    struct path_bbr *bbr = &peer->bbr;
    const bool old = ack->now - bbr->least_at > RTT_LASTS;
    if (ack->rtt <= bbr->least || old) {
        bbr->least = ack->rtt;
        bbr->least_at = ack->now;
    }
    if (old && bbr->state != BBR_PROBE_RTT) {
        bbr->state = BBR_PROBE_RTT;
        bbr->window_before = peer->window;
        bbr->probe_until = INFINITY;
    }
    if (bbr->state != BBR_PROBE_RTT)
        return;
    if (isinf(bbr->probe_until) && peer->in_flight <= LEAST_WINDOW)
        bbr->probe_until = ack->now + fmax(PROBE_SECONDS, ack->rtt);
    if (ack->now < bbr->probe_until)
        return;
    bbr->least_at = ack->now;
    peer->window = fmax(peer->window, bbr->window_before);
    if (bbr->full_rounds >= FULL_ROUNDS)
        begin_cycle(peer, ack->now);
    else
        bbr->state = BBR_STARTUP;
}

static void acked(struct path_peer *peer, const struct path_peer_ack *ack)
{
    struct path_bbr *bbr = &peer->bbr;
    take_rate(bbr, ack);
    fill_pipe(peer, ack);
    if (bbr->state == BBR_PROBE_BANDWIDTH)
        cycle(peer, ack->now);
    probe_rtt(peer, ack);
    const bool full = bbr->full_rounds >= FULL_ROUNDS;
    const double target = (full ? WINDOW_GAIN : STARTUP_GAIN) * pipe(bbr);
    if (full)
        peer->window = fmin(peer->window + 1, target);
    else if (peer->window < target)
        peer->window += 1;
    peer->window = fmax(peer->window, LEAST_WINDOW);
    if (bbr->state == BBR_PROBE_RTT)
        peer->window = LEAST_WINDOW;
    peer->pacing = gain_of(bbr) * best_rate(bbr);
}

static void lost(struct path_peer *peer)
{
    peer->bbr.lost = true;
}

static void timeout(struct path_peer *peer)
{
    peer->window = 1;
}

const struct path_peer_control path_peer_bbr = {"BBR", begin, acked, lost, timeout};
