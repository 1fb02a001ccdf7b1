#include "causeway/congestion.h"

#include <math.h>

#define MAX_RATE  1e6
#define MAX_TIME  1e6
#define MAX_BURST 60
#define ROUNDING  1e-6 /* of a packet: sums of ticks fall short of whole packets by less */

struct cw_congestion_config cw_congestion_config_default(void)
{
    return (struct cw_congestion_config){
        .rtt_threshold_seconds = 0.25,
        .good_packets_per_second = 30,
        .bad_packets_per_second = 10,
        .penalty_seconds = 4,
        .min_penalty_seconds = 1,
        .max_penalty_seconds = 60,
        .good_period_seconds = 10,
        .burst_seconds = 0.1,
    };
}

/* Written so that NaN is refused. */
static enum cw_error check_config(const struct cw_congestion_config *config)
{
    if (!(config->rtt_threshold_seconds > 0 && config->rtt_threshold_seconds <= MAX_TIME) ||
        !(config->min_penalty_seconds >= 0 &&
          config->penalty_seconds >= config->min_penalty_seconds) ||
        !(config->max_penalty_seconds >= config->penalty_seconds &&
          config->max_penalty_seconds <= MAX_TIME) ||
        !(config->good_period_seconds > 0 && config->good_period_seconds <= MAX_TIME) ||
        !(config->burst_seconds >= 0 && config->burst_seconds <= MAX_BURST))
        return CW_ERROR_CONFIG_TIME;
    if (!(config->bad_packets_per_second > 0 &&
          config->good_packets_per_second >= config->bad_packets_per_second &&
          config->good_packets_per_second <= MAX_RATE))
        return CW_ERROR_CONFIG_RATE;
    return CW_OK;
}

enum cw_error cw_congestion_init(struct cw_congestion *congestion,
                                 const struct cw_congestion_config *config, double now)
{
    if (!congestion || !config || !isfinite(now))
        return CW_ERROR_INVALID_ARGUMENT;
    const enum cw_error error = check_config(config);
    if (error != CW_OK)
        return error;
    *congestion = (struct cw_congestion){
        .mode = CW_CONGESTION_BAD,
        .reason = CW_CONGESTION_NO_RTT,
        .packets_per_second = config->bad_packets_per_second,
        .penalty_seconds = config->penalty_seconds,
        .config = *config,
        .now = now,
        .saved = 1,
    };
    return CW_OK;
}

static double most_saved(const struct cw_congestion *c)
{
    return 1 + c->packets_per_second * c->config.burst_seconds;
}

static void advance(struct cw_congestion *c, double now)
{
    if (!(now > c->now))
        return;
    c->saved += (now - c->now) * c->packets_per_second;
    if (c->saved > most_saved(c))
        c->saved = most_saved(c);
    c->now = now;
}

static void halve_penalty(struct cw_congestion *c)
{
    while (c->penalty_seconds > c->config.min_penalty_seconds &&
           c->now - c->halved >= c->config.good_period_seconds) {
        c->halved += c->config.good_period_seconds;
        c->penalty_seconds /= 2;
        if (c->penalty_seconds < c->config.min_penalty_seconds)
            c->penalty_seconds = c->config.min_penalty_seconds;
    }
}

static void enter_bad(struct cw_congestion *c)
{
    if (c->now - c->good_since < c->config.good_period_seconds) {
        c->penalty_seconds *= 2;
        if (c->penalty_seconds > c->config.max_penalty_seconds)
            c->penalty_seconds = c->config.max_penalty_seconds;
    }
    c->mode = CW_CONGESTION_BAD;
    c->reason = CW_CONGESTION_HIGH_RTT;
    c->packets_per_second = c->config.bad_packets_per_second;
    c->conditions_good = false;
    if (c->saved > most_saved(c))
        c->saved = most_saved(c);
}

static void enter_good(struct cw_congestion *c)
{
    c->mode = CW_CONGESTION_GOOD;
    c->reason = CW_CONGESTION_RECOVERED;
    c->packets_per_second = c->config.good_packets_per_second;
    c->good_since = c->halved = c->now;
}

void cw_congestion_update(struct cw_congestion *c, double rtt, double now)
{
    if (!c || !isfinite(now))
        return;
    advance(c, now);
    if (c->mode == CW_CONGESTION_GOOD) {
        halve_penalty(c);
        if (rtt > c->config.rtt_threshold_seconds)
            enter_bad(c);
        return;
    }
    if (!(rtt > 0))
        return;
    if (rtt > c->config.rtt_threshold_seconds) {
        c->conditions_good = false;
        c->reason = CW_CONGESTION_HIGH_RTT;
        return;
    }
    if (!c->conditions_good) {
        c->conditions_good = true;
        c->good_since = c->now;
        c->reason = CW_CONGESTION_PENALTY;
    }
    if (c->now - c->good_since >= c->penalty_seconds)
        enter_good(c);
}

uint32_t cw_congestion_allowance(struct cw_congestion *c, double now)
{
    if (!c || !isfinite(now))
        return 0;
    advance(c, now);
    return c->saved > 0 ? (uint32_t)(c->saved + ROUNDING) : 0;
}

void cw_congestion_sent(struct cw_congestion *c, uint32_t packets)
{
    if (!c)
        return;
    c->saved -= packets;
    if (c->saved < -most_saved(c))
        c->saved = -most_saved(c);
}
