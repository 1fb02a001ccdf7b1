#include "packet/congestion.h"

#define ROUNDING 1e-6 /* packets; sums of ticks fall short of whole packets by less */

static double most_saved(const struct cw_congestion *c)
{
    return 1 + c->binary.packets_per_second * c->config.burst_seconds;
}

static void advance(struct cw_congestion *c, double now)
{
    if (!(now > c->now))
        return;
    c->binary.saved += (now - c->now) * c->binary.packets_per_second;
    if (c->binary.saved > most_saved(c))
        c->binary.saved = most_saved(c);
    c->now = now;
}

static void halve_penalty(struct cw_congestion *c)
{
    while (c->binary.penalty_seconds > c->config.min_penalty_seconds &&
           c->now - c->binary.halved >= c->config.good_period_seconds) {
        c->binary.halved += c->config.good_period_seconds;
        c->binary.penalty_seconds /= 2;
        if (c->binary.penalty_seconds < c->config.min_penalty_seconds)
            c->binary.penalty_seconds = c->config.min_penalty_seconds;
    }
}

static void enter_bad(struct cw_congestion *c)
{
    if (c->now - c->binary.good_since < c->config.good_period_seconds) {
        c->binary.penalty_seconds *= 2;
        if (c->binary.penalty_seconds > c->config.max_penalty_seconds)
            c->binary.penalty_seconds = c->config.max_penalty_seconds;
    }
    c->binary.state = CW_CONGESTION_BAD;
    c->binary.reason = CW_CONGESTION_HIGH_RTT;
    c->binary.packets_per_second = c->config.bad_packets_per_second;
    c->binary.conditions_good = false;
    if (c->binary.saved > most_saved(c))
        c->binary.saved = most_saved(c);
}

static void enter_good(struct cw_congestion *c)
{
    c->binary.state = CW_CONGESTION_GOOD;
    c->binary.reason = CW_CONGESTION_RECOVERED;
    c->binary.packets_per_second = c->config.good_packets_per_second;
    c->binary.good_since = c->binary.halved = c->now;
}

void cw_binary_init(struct cw_congestion *c)
{
    c->binary = (struct cw_congestion_binary){
        .state = CW_CONGESTION_BAD,
        .reason = CW_CONGESTION_NO_RTT,
        .packets_per_second = c->config.bad_packets_per_second,
        .penalty_seconds = c->config.penalty_seconds,
        .saved = 1,
    };
}

void cw_binary_update(struct cw_congestion *c, double rtt, double now)
{
    advance(c, now);
    c->binary.rtt = rtt;
    if (c->binary.state == CW_CONGESTION_GOOD) {
        halve_penalty(c);
        if (rtt > c->config.rtt_threshold_seconds)
            enter_bad(c);
        return;
    }
    if (!(rtt > 0))
        return;
    if (rtt > c->config.rtt_threshold_seconds) {
        c->binary.conditions_good = false;
        c->binary.reason = CW_CONGESTION_HIGH_RTT;
        return;
    }
    if (!c->binary.conditions_good) {
        c->binary.conditions_good = true;
        c->binary.good_since = c->now;
        c->binary.reason = CW_CONGESTION_PENALTY;
    }
    if (c->now - c->binary.good_since >= c->binary.penalty_seconds)
        enter_good(c);
}

double cw_binary_good_seconds(const struct cw_congestion *c)
{
    const bool good = c->binary.state == CW_CONGESTION_GOOD || c->binary.conditions_good;
    return good ? c->now - c->binary.good_since : 0;
}

bool cw_binary_allows(const struct cw_congestion *c)
{
    return c->binary.saved + ROUNDING >= 1;
}

void cw_binary_sent(struct cw_congestion *c)
{
    c->binary.saved -= 1;
    if (c->binary.saved < -most_saved(c))
        c->binary.saved = -most_saved(c);
}
