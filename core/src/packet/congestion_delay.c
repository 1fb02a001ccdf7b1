#include "packet/congestion.h"

#include <math.h>

#define PACKET          1064.0 /* bytes by which windows are counted */
#define FIRST_WINDOW    (16 * PACKET)
#define LEAST_WINDOW    (4 * PACKET)
#define RTT_UNKNOWN     0.1  /* seconds; stands for it in the pacing of the first packets */
#define TICKS_OF_TARGET 1.8  /* below 2, which is the next RTT that can be told from one */
#define BASE_OF_TARGET  0.05 /* the target's part of the base RTT */
#define FIRST_GAIN      2.5  /* pacing in the slow start, in windows per round trip */
#define IDLE_BUDGET     0.15 /* the part of the window that may go in the first tick after a pause */
#define GAIN            1.25
#define WHILE           5.0  /* seconds, of which two are remembered */
#define WHILE_ROUNDS    5    /* or so many round trips, if that is longer */
#define FLAT            1.25 /* times more rate than this is growth */
#define FLAT_ROUNDS     3
#define TICKS_OVER      2
#define LOSS_HEEDED     0.04
#define TRIAL_ROUNDS    4
#define TRIAL_CUT       0.75
#define TRIAL_RATE      0.87
#define TRIAL_MEMORY    10.0 /* seconds */
#define EMPTY_ROUNDS    8
#define STEP            0.2 /* seconds in which the window grows by a packet */
#define FAST            1.25
#define CUTS_BEFORE     3
#define CUT_BELOW       0.15 /* a part of the target */
#define UNMOVED         0.8
#define COMPETE_CUT     0.7
#define LONGEST_DRAIN   0.5 /* seconds of a round trip; a longer one would cost too much */
#define DRAINED         0.6

/* Returns the smaller number; NaN does not occur. */
static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

enum phase { SLOW_START, SETTLE, STEADY, DRAIN, TRIAL, COMPETE };

static double base_of(const struct cw_congestion_delay *d)
{
    return least(d->base[0], d->base[1]);
}

static double best_of(const struct cw_congestion_delay *d)
{
    return most(d->best[0], d->best[1]);
}

void cw_delay_init(struct cw_congestion *c)
{
    c->delay = (struct cw_congestion_delay){
        .window = FIRST_WINDOW,
        .target = c->config.target_seconds,
        .least = INFINITY,
        .base = {INFINITY, INFINITY},
        .turned = c->now,
        .phase = SLOW_START,
        .round = {.least = INFINITY, .start = c->now},
    };
}

/* A window of at least a few packets, and not of much more than the path has ever taken. */
static void set_window(struct cw_congestion_delay *d, double window)
{
    const double limit = 2 * best_of(d) * (base_of(d) + d->target);
    if (window > limit && limit > FIRST_WINDOW)
        window = limit;
    d->window = most(window, LEAST_WINDOW);
}

static void enter(struct cw_congestion_delay *d, enum phase phase)
{
    d->phase = phase;
    d->count = d->cuts = d->empty = 0;
}

static void begin_round(struct cw_congestion_delay *d, double now)
{
    d->round = (struct cw_congestion_round){.start = now, .least = INFINITY};
}

static void begin_anew(struct cw_congestion_delay *d, double window)
{
    enter(d, SLOW_START);
    d->rate_before = 0;
    set_window(d, window);
}

/* The link is full now: how fast it is, the round that begins will tell. */
static void end_slow_start(struct cw_congestion_delay *d, double now)
{
    enter(d, SETTLE);
    set_window(d, d->window / 2);
    begin_round(d, now);
}

static void settle_round(struct cw_congestion_delay *d)
{
    enter(d, STEADY);
    set_window(d, best_of(d) * (base_of(d) + d->target / 2));
}

/* Rounds */

/* To what would leave no queue, and a little less, so that the queue of the cut goes away too. */
static void cut(struct cw_congestion_delay *d, double queue)
{
    const double base = base_of(d);
    set_window(d, d->window * most((base - CUT_BELOW * d->target) / (base + queue), 0.5));
}

/* Returns whether this control held the flow back in half of the round's ticks at least. A window
   that was not used is not proven. */
static bool is_limited(const struct cw_congestion_delay *d)
{
    return 2 * d->round.held >= d->round.ticks;
}

/* The window grows by a packet each fifth of a second, however long a round is, but never fast. */
static void grow(struct cw_congestion_delay *d, double elapsed)
{
    const double packets = most(elapsed / STEP, 1);
    set_window(d, least(d->window + packets * PACKET, d->window * 2));
}

static void grow_into_empty_queue(struct cw_congestion_delay *d, double queue, double elapsed)
{
    d->empty = queue < d->target / 4 ? d->empty + 1 : 0;
    if (d->empty >= EMPTY_ROUNDS)
        set_window(d, d->window * FAST);
    else
        grow(d, elapsed);
}

static void steady_round(struct cw_congestion_delay *d, double queue, double loss, double rate,
                         double now)
{
    if (loss > LOSS_HEEDED && (now > d->tolerated_until || loss > 1.5 * d->tolerated)) {
        enter(d, TRIAL);
        d->kept = d->window;
        d->rate_before = rate;
        d->tolerated = loss;
        set_window(d, d->window * TRIAL_CUT);
    } else if (queue > d->target) {
        if (d->cuts == 0)
            d->first_queue = queue;
        cut(d, queue);
        if (++d->cuts < CUTS_BEFORE)
            return;
        if (queue > UNMOVED * d->first_queue) {
            d->base[0] = d->base[1] = d->round.least;
            begin_anew(d, d->window);
        } else {
            enter(d, COMPETE);
        }
    } else {
        d->cuts = 0;
        if (is_limited(d))
            grow_into_empty_queue(d, queue, now - d->round.start);
    }
}

static void trial_round(struct cw_congestion_delay *d, double queue, double rate, double now)
{
    if (queue > d->target)
        cut(d, queue);
    if (++d->count < TRIAL_ROUNDS)
        return;
    if (rate < TRIAL_RATE * d->rate_before) {
        set_window(d, most(d->window, d->kept));
        d->tolerated_until = now + TRIAL_MEMORY;
    }
    enter(d, STEADY);
}

static void compete_round(struct cw_congestion_delay *d, double queue, double loss, double elapsed)
{
    if (queue < d->target)
        enter(d, STEADY);
    else if (loss > 0)
        set_window(d, d->window * COMPETE_CUT);
    else if (is_limited(d))
        grow(d, elapsed);
}

/* True when the slow start is over. */
static bool slow_start_round(struct cw_congestion_delay *d, double rate)
{
    if (rate > FLAT * d->rate_before) {
        d->rate_before = rate;
        d->empty = 0;
        return false;
    }
    return ++d->empty >= FLAT_ROUNDS;
}

static void end_round(struct cw_congestion_delay *d, double now)
{
    const double elapsed = now - d->round.start, settled = d->round.acked + d->round.lost;
    const double rate = elapsed > 0 ? d->round.acked / elapsed : 0;
    const double loss = d->round.lost > PACKET ? d->round.lost / settled : 0;
    const double queue = d->round.acked > 0 ? d->round.least - base_of(d) : 0;
    if (rate > d->best[0])
        d->best[0] = rate;
    if (d->round.acked <= 0)
        begin_anew(d, d->window / 2);
    else if (d->phase == SLOW_START && slow_start_round(d, rate))
        end_slow_start(d, now);
    else if (d->phase == SETTLE)
        settle_round(d);
    else if (d->phase == STEADY)
        steady_round(d, queue, loss, rate, now);
    else if (d->phase == TRIAL)
        trial_round(d, queue, rate, now);
    else if (d->phase == COMPETE)
        compete_round(d, queue, loss, elapsed);
    begin_round(d, now);
}

static bool is_round_over(const struct cw_congestion_delay *d, uint16_t sequence)
{
    return d->round.began && (int16_t)(sequence - d->round.last) >= 0;
}

/* The connection reports these. */

void cw_delay_sent(struct cw_congestion *c, uint16_t sequence, uint32_t bytes)
{
    struct cw_congestion_delay *d = &c->delay;
    if (d->in_flight <= 0)
        begin_round(d, c->now);
    if (!d->round.began) {
        d->round.began = true;
        d->round.last = sequence;
    }
    d->in_flight += bytes;
    d->budget -= bytes;
}

/* A round tells of packets that were sent in the one before, and the first one of a single packet:
   what has arrived in the present one shows as much. */
static void grow_slow_start(struct cw_congestion_delay *d, uint32_t bytes)
{
    if (d->phase != SLOW_START || d->round.acked <= 0)
        return;
    const double base = base_of(d), rate = most(best_of(d), d->round.acked / base);
    if (d->window < 3 * rate * (base + d->target))
        d->window += 2.0 * bytes;
}

static void leave_flight(struct cw_congestion_delay *d, uint32_t bytes)
{
    d->in_flight = d->in_flight > bytes ? d->in_flight - bytes : 0;
    grow_slow_start(d, bytes);
}

static void take_sample(struct cw_congestion_delay *d, double rtt)
{
    if (rtt < d->base[0])
        d->base[0] = rtt;
    if (rtt < d->least)
        d->least = rtt;
    if (rtt < d->round.least)
        d->round.least = rtt;
}

void cw_delay_acked(struct cw_congestion *c, uint16_t sequence, uint32_t bytes, double sent,
                    double now)
{
    struct cw_congestion_delay *d = &c->delay;
    take_sample(d, now - sent);
    d->round.acked += bytes;
    leave_flight(d, bytes);
    if (is_round_over(d, sequence))
        end_round(d, now);
}

void cw_delay_lost(struct cw_congestion *c, uint16_t sequence, uint32_t bytes, double now)
{
    struct cw_congestion_delay *d = &c->delay;
    d->round.lost += bytes;
    leave_flight(d, bytes);
    if (is_round_over(d, sequence))
        end_round(d, now);
}

void cw_delay_arrived(struct cw_congestion *c, uint32_t bytes, double rtt)
{
    struct cw_congestion_delay *d = &c->delay;
    take_sample(d, rtt);
    d->round.acked += bytes;
    d->round.lost = most(d->round.lost - bytes, 0);
    grow_slow_start(d, bytes);
}

/* Time */

/* The memory of the path goes out of date. A base that is longer now is another path, whose
   speed is to be found out anew. To see the path without a queue of our own, what
   is in flight goes down for a moment. */
static void turn(struct cw_congestion_delay *d, double now)
{
    const double base_before = base_of(d);
    d->turned = now;
    d->base[1] = d->base[0];
    d->best[1] = d->best[0];
    d->base[0] = INFINITY;
    d->best[0] = 0;
    if (base_of(d) > base_before + d->target)
        begin_anew(d, d->window);
    if (d->phase != STEADY || d->in_flight <= 0 || base_of(d) > LONGEST_DRAIN)
        return;
    d->kept = d->window;
    enter(d, DRAIN);
    d->window = most(DRAINED * best_of(d) * base_of(d), LEAST_WINDOW);
}

static void watch_slow_start(struct cw_congestion_delay *d, double now)
{
    d->count = d->least - base_of(d) > d->target ? d->count + 1 : 0;
    if (d->count >= TICKS_OVER)
        end_slow_start(d, now);
}

void cw_delay_update(struct cw_congestion *c, double rtt, double tick_seconds, double now)
{
    struct cw_congestion_delay *d = &c->delay;
    if (d->in_flight <= 0 && c->limited == CW_CONGESTION_LIMIT_NONE) {
        d->budget = IDLE_BUDGET * d->window;
        return;
    }
    d->target = most(c->config.target_seconds, TICKS_OF_TARGET * tick_seconds);
    if (base_of(d) < INFINITY)
        d->target = most(d->target, BASE_OF_TARGET * base_of(d));
    d->round.ticks++;
    d->round.held += c->limited != CW_CONGESTION_LIMIT_NONE;
    if (d->phase == SLOW_START && d->least < INFINITY)
        watch_slow_start(d, now);
    d->least = INFINITY;
    const double base = base_of(d);
    if (now - d->turned >= (base < INFINITY ? most(WHILE, WHILE_ROUNDS * base) : WHILE))
        turn(d, now);
    if (d->phase == DRAIN && (d->in_flight <= d->window || now - d->turned >= rtt)) {
        d->window = d->kept;
        enter(d, STEADY);
        begin_round(d, now);
    }
    const double gain = d->phase == SLOW_START ? FIRST_GAIN : GAIN;
    const double share = gain * d->window / (rtt > 0 ? rtt : RTT_UNKNOWN) * (now - c->now);
    d->budget = most(least(d->budget + share, share), -d->window);
}
