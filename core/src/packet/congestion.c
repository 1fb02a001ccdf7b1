#include "packet/congestion.h"

#include "base/config_fields.h"

struct cw_congestion_config cw_congestion_config_default(void)
{
    return (struct cw_congestion_config){
        .mode = CW_CONGESTION_DELAY,
        .target_seconds = 0.03,
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

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(mode, "must be CW_CONGESTION_NONE, CW_CONGESTION_DELAY or CW_CONGESTION_BINARY")         \
    RANGE(__VA_ARGS__, ABOVE, target_seconds, 0, 1000000)                                          \
    RANGE(__VA_ARGS__, ABOVE, rtt_threshold_seconds, 0, 1000000)                                   \
    OTHER(good_packets_per_second, "must be from bad_packets_per_second to 1000000")               \
    RANGE(__VA_ARGS__, ABOVE, bad_packets_per_second, 0, 1000000)                                  \
    OTHER(penalty_seconds, "must be from min_penalty_seconds to 1000000")                          \
    RANGE(__VA_ARGS__, REAL, min_penalty_seconds, 0, 1000000)                                      \
    OTHER(max_penalty_seconds, "must be from penalty_seconds to 1000000")                          \
    RANGE(__VA_ARGS__, ABOVE, good_period_seconds, 0, 1000000)                                     \
    RANGE(__VA_ARGS__, REAL, burst_seconds, 0, 60)
CW_CONFIG_FIELDS(cw_congestion_config, 0x1020, FIELDS, cw_congestion_config_errors)

/* NaN lies between no two numbers. */
static bool is_between(double lowest, double value, double highest)
{
    return value >= lowest && value <= highest;
}

static enum cw_error check_config(const struct cw_congestion_config *config)
{
    const enum cw_error error = CW_CHECK_FIELDS(config);
    if (error != CW_OK)
        return error;
    if ((uint32_t)config->mode > CW_CONGESTION_BINARY)
        return CW_FIELD_ERROR(mode);
    if (!is_between(config->min_penalty_seconds, config->penalty_seconds, 1e6))
        return CW_FIELD_ERROR(penalty_seconds);
    if (!is_between(config->penalty_seconds, config->max_penalty_seconds, 1e6))
        return CW_FIELD_ERROR(max_penalty_seconds);
    if (!is_between(config->bad_packets_per_second, config->good_packets_per_second, 1e6))
        return CW_FIELD_ERROR(good_packets_per_second);
    return CW_OK;
}

enum cw_error cw_congestion_init(struct cw_congestion *congestion,
                                 const struct cw_congestion_config *config, double now)
{
    const enum cw_error error = check_config(config);
    if (error != CW_OK)
        return error;
    *congestion = (struct cw_congestion){.mode = config->mode, .config = *config, .now = now};
    if (config->mode == CW_CONGESTION_DELAY)
        cw_delay_init(congestion);
    else if (config->mode == CW_CONGESTION_BINARY)
        cw_binary_init(congestion);
    return CW_OK;
}

void cw_congestion_update(struct cw_congestion *c, double rtt, double tick_seconds, double now)
{
    if (now < c->now)
        now = c->now;
    c->limited = c->limit;
    c->limit = CW_CONGESTION_LIMIT_NONE;
    if (c->mode == CW_CONGESTION_DELAY)
        cw_delay_update(c, rtt, tick_seconds, now);
    else if (c->mode == CW_CONGESTION_BINARY)
        cw_binary_update(c, rtt, now);
    c->now = now;
}

enum cw_congestion_limit cw_congestion_limit(const struct cw_congestion *c, bool bulk)
{
    if (c->mode == CW_CONGESTION_BINARY && !cw_binary_allows(c))
        return CW_CONGESTION_LIMIT_RATE;
    if (c->mode != CW_CONGESTION_DELAY || !bulk)
        return CW_CONGESTION_LIMIT_NONE;
    if (c->delay.in_flight <= 0 && cw_delay_goes_alone(c))
        return CW_CONGESTION_LIMIT_NONE;
    if (c->delay.in_flight > 0 && c->delay.in_flight >= c->delay.window)
        return CW_CONGESTION_LIMIT_WINDOW;
    return c->delay.budget > 0 ? CW_CONGESTION_LIMIT_NONE : CW_CONGESTION_LIMIT_PACING;
}

bool cw_congestion_starves(const struct cw_congestion *c, enum cw_congestion_limit limit,
                           uint32_t fragments, double sent)
{
    return c->mode == CW_CONGESTION_DELAY &&
           cw_delay_starves(c, limit == CW_CONGESTION_LIMIT_PACING, fragments, sent);
}

void cw_congestion_held(struct cw_congestion *c, enum cw_congestion_limit limit)
{
    c->limit = limit;
}

void cw_congestion_capped(struct cw_congestion *c)
{
    c->delay.tick.capped = true;
}

void cw_congestion_sent(struct cw_congestion *c, bool bulk, uint16_t sequence, uint32_t bytes)
{
    if (c->mode == CW_CONGESTION_BINARY)
        cw_binary_sent(c);
    else if (c->mode == CW_CONGESTION_DELAY && bulk)
        cw_delay_sent(c, sequence, bytes);
}

void cw_congestion_acked(struct cw_congestion *c, uint16_t sequence, uint32_t bytes, double sent,
                         double now)
{
    if (c->mode == CW_CONGESTION_DELAY)
        cw_delay_acked(c, sequence, bytes, sent, now);
}

void cw_congestion_lost(struct cw_congestion *c, uint16_t sequence, uint32_t bytes, double now)
{
    if (c->mode == CW_CONGESTION_DELAY)
        cw_delay_lost(c, sequence, bytes, now);
}

void cw_congestion_arrived(struct cw_congestion *c, uint32_t bytes, double sent, double now)
{
    if (c->mode == CW_CONGESTION_DELAY)
        cw_delay_arrived(c, bytes, now - sent);
}

double cw_congestion_window(const struct cw_congestion *c)
{
    return c->mode == CW_CONGESTION_DELAY ? c->delay.window : 0;
}

double cw_congestion_in_flight(const struct cw_congestion *c)
{
    return c->mode == CW_CONGESTION_DELAY ? c->delay.in_flight : 0;
}

double cw_congestion_target(const struct cw_congestion *c)
{
    return c->mode == CW_CONGESTION_DELAY ? c->delay.target : 0;
}

double cw_congestion_threshold(const struct cw_congestion *c)
{
    return c->mode == CW_CONGESTION_BINARY ? c->config.rtt_threshold_seconds : 0;
}

bool cw_congestion_competes(const struct cw_congestion *c)
{
    return c->mode == CW_CONGESTION_DELAY && c->delay.phase == 4;
}
