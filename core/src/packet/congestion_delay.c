/* The mode DELAY. It is put together from published parts: the rate and the least RTT are estimated
   as in BBR (draft-ietf-ccwg-bbr), a queue above the target cuts the window as in SCReAM (RFC
   8298), losses bound it as in BBR versions 2 and 3, and other flows that fill the queue are met as
   in Copa (Arun and Balakrishnan 2018). Two things are our own: everything is measured from one
   tick to another, because acks come in ticks, and a loss is put on trial before it counts. */
#include "packet/congestion_rate.h"

#include <assert.h>
#include <math.h>

/* "Measured" means: by tests/bench/path_blocks.c, path_limits.c and random_paths.c; another value
   breaks a bar of tests/bench/bars.txt. */
#define FIRST_WINDOW   (16 * PACKET) /* measured: block_1mb_loss_20_s; RFC 6928 has 10 */
#define IDLE_BUDGET    0.15 /* the part of the window that a tick after a pause may send; measured */
#define TRIP_WEIGHT    0.125 /* the weight of a sample in the mean RTT; RFC 6298 */
#define TRIP_UNKNOWN   0.1   /* seconds that stand for it in the pacing of the first packets */
#define START_GAIN     2.77  /* windows a round trip that the start paces at most; BBR's Startup */
#define START_STEP     2.0   /* bytes that the start adds for one that arrives; measured: mbit_1 */
#define PACE_GAIN      1.1   /* windows a round trip later; measured: queue_20, policer_3 */
#define WINDOW_GAIN    2.0   /* times rate x RTT that the window may be; BBR's cwnd_gain */
#define PROBE_GAIN     1.25  /* times that a probe sends, and that more rate is growth; BBR */
#define EMPTY_ROUNDS   8     /* rounds with next to no queue before a probe; BBR's ProbeBW cycle */
#define SURE           3     /* rounds without growth, or cuts in vain, that suffice; BBR */
#define MEMORY         5.0   /* seconds to ProbeRTT; the least RTT holds twice as long; BBR */
#define DRAINED        0.5   /* times rate x RTT in flight in a drain; BBR version 3's ProbeRTT */
#define BETA           0.7   /* times the window after a loss beside others; CUBIC (RFC 9438) */
#define TRIAL          0.85  /* times what arrives, sent in a trial; BBR's Headroom */
#define AFTER_CUT      0.95  /* times what would just fit; measured: queue_20, policer_3 */
#define TICKS_OF_QUEUE 1.8   /* the target: below 2, the next RTT that can be told from one */
#define STEP           0.2 /* seconds in which the window grows by a packet; measured: two_flows */

enum phase { START, STEADY, DRAIN, TRIAL_OF_LOSS, COMPETE };

void cw_delay_init(struct cw_congestion *c)
{
    c->delay = (struct cw_congestion_delay){
        .window = FIRST_WINDOW,
        .target = c->config.target_seconds,
        .base = {INFINITY, INFINITY},
        .turned = c->now,
        .bound = INFINITY,
        .phase = START,
        .round = {.least = INFINITY, .start = c->now},
        .tick = {.least = INFINITY},
        .tolerated_until = -INFINITY,
        .held_until = -INFINITY,
        .competed_until = -INFINITY,
    };
}

/* Sets the window: one packet at least, which is the least queue that a sender can make, and not
   much more than the path has been seen to take in a round trip. Beside flows that keep a queue,
   the round trip includes it. */
static void set_window(struct cw_congestion_delay *d, double window)
{
    const double trip = d->phase == COMPETE ? most(base_of(d), d->trip) : base_of(d);
    const double rate = rate_of(d);
    double limit = FIRST_WINDOW;
    if (rate > 0 && trip < INFINITY)
        limit = most(WINDOW_GAIN * rate * (trip + d->tick_seconds), 2 * PACKET);
    d->window = most(least(window, limit), PACKET);
    assert(isfinite(d->window) && d->window <= most(limit, PACKET));
}

static void enter(struct cw_congestion_delay *d, enum phase phase)
{
    d->phase = phase;
    d->count = d->cuts = d->empty = 0;
}

/* Leaves out the rounds that tell of packets sent before the window was changed. Losses are found
   later than acks arrive. */
static void wait_rounds(struct cw_congestion_delay *d, uint32_t rounds)
{
    d->waits = rounds;
}

/* Losses */

/* Goes down to less than what arrives, on the empty path. Losses that we cause end then. The window
   alone would not do: its round trip is only known to a tick, and a tick's burst may be too much by
   itself. */
static void begin_trial(struct cw_congestion_delay *d)
{
    const double without_queue = rate_of(d) * (base_of(d) + d->tick_seconds);
    enter(d, TRIAL_OF_LOSS);
    d->kept = d->window;
    d->loss = share_lost(d);
    d->arrives = arriving(d);
    d->bound = TRIAL * d->arrives;
    set_window(d, least(d->window * (1 - d->loss), without_queue) * TRIAL);
    wait_rounds(d, 2);
}

/* Goes down to what arrives where the path loses that share by itself, and stays there for a while:
   BBR waits two to three seconds before it probes again. From then on the rate is bounded, as by
   BBR's bw_lo, so that no tick sends more than was delivered of one. */
static void give_way(struct cw_congestion_delay *d, double loss, double own, double now)
{
    const double part = least((1 - loss) / (1 - own), 1);
    if (loss < own + LOSS) {
        set_window(d, d->window * part);
        return;
    }
    set_window(d, d->window * part * AFTER_CUT);
    d->bound = d->arrives / (1 - own) * AFTER_CUT;
    d->held_until = now + MEMORY;
    d->empty = 0;
}

/* The path itself loses what is lost even in a trial. */
static void end_trial(struct cw_congestion_delay *d, double now)
{
    const double share = share_lost(d);
    /* Losses that fell with the rate come from it, so that less has to be sent still. */
    if (share > LOSS && share < d->loss / 2) {
        begin_trial(d);
        return;
    }
    d->tolerated = least(share, 0.5);
    d->tolerated_until = now + 2 * MEMORY;
    enter(d, STEADY);
    d->window = d->kept;
    d->bound = INFINITY;
    give_way(d, d->loss, d->tolerated, now);
    wait_rounds(d, 2);
}

/* Losses are put on trial when the path's own share is not known, or when giving way to them did
   not help. */
static void heed_losses(struct cw_congestion_delay *d, double now)
{
    if (now < d->tolerated_until && now >= d->held_until) {
        d->arrives = arriving(d);
        give_way(d, share_lost(d), d->tolerated, now);
        wait_rounds(d, 2);
    } else {
        begin_trial(d);
    }
}

/* Rounds */

/* Adds a packet, as Reno does, but not in less time than a fifth of a second, and on a slow link no
   more than lengthens the queue by a quarter of the target. After a while without a queue, a
   quarter of the window is added. */
static void grow(struct cw_congestion_delay *d, double queue, double elapsed, double now)
{
    if (!is_limited(d) || now < d->held_until || begins_to_lose(d))
        return;
    /* Fast flows all add the same, so that their shares become equal (Chiu and Jain 1989). Where
       the queue to aim at is shorter than two packets, another packet would be too much. */
    const double aimed_at = rate_of(d) * d->target;
    double step = most(elapsed / STEP, 1) * PACKET;
    if (aimed_at < 2 * PACKET)
        step = (PROBE_GAIN - 1) * aimed_at;
    const bool empty = queue < d->target / 2;
    d->empty += empty;
    if (empty && (d->empty >= EMPTY_ROUNDS || d->empty * elapsed >= MEMORY / 2))
        step = most(step, d->window * (PROBE_GAIN - 1));
    /* A bound that losses have set is approached in steps as small as the cuts, a quarter of a
       packet at least, and left behind once nothing is lost far beyond it. */
    if (d->bound < INFINITY)
        step = least(step, most((1 - AFTER_CUT) * d->window, PACKET / 4));
    d->bound *= 1 + step / d->window;
    if (d->bound > WINDOW_GAIN * rate_of(d))
        d->bound = INFINITY;
    set_window(d, d->window + step);
}

/* Finds out anew how fast the path is. */
static void begin_anew(struct cw_congestion_delay *d, double window)
{
    enter(d, START);
    d->rate_before = 0;
    d->bound = INFINITY;
    set_window(d, window);
}

/* Nothing has arrived: whatever was known of the path may be wrong. Before the first RTT, a long
   path looks like this too. */
static void end_outage(struct cw_congestion_delay *d)
{
    for (uint32_t i = 0; i < CW_CONGESTION_ROUNDS; i++)
        d->marks[i].rate = 0;
    begin_anew(d, d->trip > 0 ? most(d->window / 2, FIRST_WINDOW / 4) : d->window);
}

/* Cuts the window to what would leave no queue, but at most by half. When the queue does not follow
   several cuts in a row, it is not ours alone, and the first of the cuts was in vain. */
static void cut(struct cw_congestion_delay *d, double queue, double now)
{
    const double base = base_of(d), trip = base + queue;
    d->empty = 0;
    if (is_longer_path(d, queue)) {
        d->base[0] = d->base[1] = trip;
        if (d->window > PACKET)
            begin_anew(d, d->window);
        return;
    }
    /* The phases of the ticks of both ends may shift a round trip by a tick each. */
    const bool follows = trip < d->expected + d->target + d->tick_seconds / 2;
    if (d->cuts == 0 || follows) {
        d->cuts = 0;
        d->kept = d->window;
    }
    d->cuts++;
    const double before = d->window;
    set_window(d, before * most(AFTER_CUT * base / trip, DRAINED));
    d->expected = most(trip * d->window / before, base);
    wait_rounds(d, 1);
    if (d->cuts <= (now < d->competed_until ? 1 : SURE))
        return;
    const double kept = d->kept;
    enter(d, COMPETE);
    set_window(d, kept);
}

static void steady_round(struct cw_congestion_delay *d, double queue, double elapsed, double now)
{
    if (queue > d->target) {
        if (is_lossy(d, now))
            d->held_until = now + MEMORY;
        cut(d, queue, now);
        begin_counting(d);
    } else if (is_backlogged(d) && is_lossy(d, now)) {
        d->cuts = 0;
        heed_losses(d, now);
        begin_counting(d);
    } else {
        d->cuts = 0;
        grow(d, queue, elapsed, now);
        if (d->counted_acked + d->counted_lost > TRIAL_PACKETS)
            begin_counting(d);
    }
}

/* Beside flows that keep the queue long, the window follows losses alone, as Copa's competitive
   mode does, until the queue has been short once. */
static void compete_round(struct cw_congestion_delay *d, double queue, double elapsed, double now)
{
    if (queue < d->target) {
        enter(d, STEADY);
        d->competed_until = now + 2 * MEMORY;
    } else if (d->round.lost > 0) {
        set_window(d, d->window * BETA);
        wait_rounds(d, 1);
    } else if (is_limited(d)) {
        set_window(d, d->window + most(elapsed / STEP, 1) * PACKET);
    }
}

/* The start ends, as BBR's does, when the rate no longer grows. */
static void start_round(struct cw_congestion_delay *d, double rate)
{
    if (rate > PROBE_GAIN * d->rate_before) {
        d->rate_before = rate;
        d->empty = 0;
    } else if ((is_limited(d) || 5 * d->round.lost > d->round.acked) && ++d->empty >= SURE) {
        enter(d, STEADY);
        set_window(d, rate_of(d) * (base_of(d) + d->target / 2));
        wait_rounds(d, 2);
    }
}

static void begin_round(struct cw_congestion_delay *d, double now)
{
    d->round = (struct cw_congestion_round){.start = now, .least = INFINITY, .idle = d->round.idle};
}

static void end_round(struct cw_congestion_delay *d, double now)
{
    const double elapsed = now - d->round.start;
    const double rate = measure(d, now);
    d->latest = rate;
    const double queue = d->round.acked > 0 ? d->round.least - base_of(d) : 0;
    /* Rounds in which the application sent little say nothing about the path. */
    note_mark(d, now, is_limited(d) || rate > rate_of(d), rate);
    const bool waited = d->waits > 0;
    d->waits -= waited;
    if (d->round.acked <= 0) {
        end_outage(d);
    } else if (d->phase == START) {
        start_round(d, rate);
    } else if (waited) {
        begin_counting(d);
    } else if (d->phase == STEADY) {
        steady_round(d, queue, elapsed, now);
    } else if (d->phase == TRIAL_OF_LOSS) {
        if (d->counted_acked + d->counted_lost >= TRIAL_PACKETS)
            end_trial(d, now);
    } else if (d->phase == COMPETE) {
        compete_round(d, queue, elapsed, now);
    }
    begin_round(d, now);
}

/* The connection reports these. */

/* A rate is not measured over the time in which nothing was on its way. */
static void begin_after_pause(struct cw_congestion_delay *d, double now)
{
    begin_round(d, now);
    d->round.idle = now;
    note_mark(d, now, false, 0);
}

/* A packet may go at any pace while none is in flight: one a round trip where losses bound the
   rate, so that nothing ever waits for good. */
bool cw_delay_goes_alone(const struct cw_congestion *c)
{
    return c->delay.bound == INFINITY || c->now - c->delay.sent >= base_of(&c->delay);
}

bool cw_delay_starves(const struct cw_congestion *c, bool paced, uint32_t fragments, double sent)
{
    const struct cw_congestion_delay *d = &c->delay;
    const bool first = fragments == 0 && !paced;
    return 2 * PACKET * fragments < d->window && (first || (c->now - sent) * d->pace >= 2 * PACKET);
}

void cw_delay_sent(struct cw_congestion *c, uint16_t sequence, uint32_t bytes)
{
    struct cw_congestion_delay *d = &c->delay;
    if (d->in_flight <= 0 && d->round.acked <= 0 && !d->round.over)
        begin_after_pause(d, c->now);
    if (!d->round.began) {
        d->round.began = true;
        d->round.last = sequence;
    }
    d->in_flight += bytes;
    d->budget -= bytes;
    d->sent = c->now;
}

static void leave_flight(struct cw_congestion_delay *d, uint16_t sequence, uint32_t bytes)
{
    d->in_flight = d->in_flight > bytes ? d->in_flight - bytes : 0;
    if (d->round.began && (int16_t)(sequence - d->round.last) >= 0)
        d->round.over = true;
    d->tick.settled += bytes;
}

static void take_sample(struct cw_congestion_delay *d, double rtt)
{
    d->trip += d->trip > 0 ? (rtt - d->trip) * TRIP_WEIGHT : rtt;
    if (rtt < d->base[0])
        d->base[0] = rtt;
    if (rtt < d->tick.least)
        d->tick.least = rtt;
    if (rtt < d->round.least)
        d->round.least = rtt;
}

void cw_delay_acked(struct cw_congestion *c, uint16_t sequence, uint32_t bytes, double sent,
                    double now)
{
    struct cw_congestion_delay *d = &c->delay;
    take_sample(d, now - sent);
    d->round.acked += bytes;
    d->delivered += bytes;
    d->counted_acked++;
    leave_flight(d, sequence, bytes);
}

void cw_delay_lost(struct cw_congestion *c, uint16_t sequence, uint32_t bytes, double now)
{
    struct cw_congestion_delay *d = &c->delay;
    (void)now;
    d->round.lost += bytes;
    d->counted_lost++;
    d->reported += bytes;
    leave_flight(d, sequence, bytes);
}

void cw_delay_arrived(struct cw_congestion *c, uint32_t bytes, double rtt)
{
    struct cw_congestion_delay *d = &c->delay;
    take_sample(d, rtt);
    d->round.acked += bytes;
    d->round.lost = most(d->round.lost - bytes, 0);
    d->late += bytes;
}

/* Time */

/* The memory of the path goes out of date. When the path has not been seen empty for so long, what
   is in flight goes down for a round trip. */
static void turn(struct cw_congestion_delay *d, double now)
{
    const double before = base_of(d);
    const bool seen = d->base[0] < d->base[1] + d->tick_seconds / 16;
    d->turned = now;
    d->reported /= 2;
    d->late /= 2;
    d->base[1] = d->base[0];
    d->base[0] = INFINITY;
    if (d->phase == STEADY && base_of(d) > before + d->target)
        begin_anew(d, d->window);
    if (seen || d->phase != STEADY || d->in_flight <= 0 || base_of(d) == INFINITY)
        return;
    d->kept = d->window;
    enter(d, DRAIN);
    set_window(d, DRAINED * rate_of(d) * base_of(d));
}

static void end_drain(struct cw_congestion_delay *d)
{
    enter(d, STEADY);
    set_window(d, d->kept);
    wait_rounds(d, 1);
}

/* The start ends when the queue is too long in two ticks that bring acks. */
static void start_tick(struct cw_congestion_delay *d)
{
    if (d->tick.least == INFINITY)
        return;
    const double queue = d->tick.least - base_of(d);
    d->count = queue > 2 * d->target ? 2 : queue > d->target ? d->count + 1 : 0;
    if (d->count >= 2 && is_longer_path(d, queue)) {
        d->base[0] = d->base[1] = d->tick.least;
        d->count = 0;
    } else if (d->count >= 2) {
        enter(d, STEADY);
        set_window(d, d->window / 2);
        wait_rounds(d, 2);
        return;
    }
    if (d->round.acked <= 0)
        return;
    /* The first round tells of a single packet: what has arrived in the present one shows more. A
       path that loses up to a third by itself does not slow the start down. */
    const double sent = d->round.acked + least(d->round.lost, d->round.acked / 2);
    const double rate = most(rate_of(d), sent / most(base_of(d), d->tick_seconds));
    const double limit = WINDOW_GAIN * rate * (base_of(d) + d->tick_seconds);
    d->window = most(d->window, least(d->window + START_STEP * d->tick.settled, limit));
}

/* Returns whether the round is over. One without an ack lasts longer: only then nothing arrives. */
static bool is_over(const struct cw_congestion_delay *d, double now)
{
    const double elapsed = now - d->round.start;
    const double outage = most(RATE_TICKS * d->tick_seconds, 2 * d->trip);
    if (d->round.acked > 0)
        return d->round.over && elapsed >= d->trip;
    const bool many = d->round.lost >= SURE * PACKET || elapsed >= SURE * outage;
    return d->round.over && elapsed >= outage && many;
}

static void set_target(struct cw_congestion *c, double tick_seconds)
{
    struct cw_congestion_delay *d = &c->delay;
    const double rate = rate_of(d);
    d->tick_seconds = tick_seconds;
    d->target = most(c->config.target_seconds, TICKS_OF_QUEUE * tick_seconds);
    if (rate > 0)
        d->target = most(d->target, PACKET / rate);
}

/* Returns whether nothing is in flight or waits, and the round tells nothing more: the next packet
   begins another one. */
static bool is_idle(const struct cw_congestion *c)
{
    const struct cw_congestion_delay *d = &c->delay;
    return d->in_flight <= 0 && c->limited == CW_CONGESTION_LIMIT_NONE && d->round.acked <= 0 &&
           !d->round.over;
}

static void pass_tick(struct cw_congestion *c, double tick_seconds, double now)
{
    struct cw_congestion_delay *d = &c->delay;
    set_target(c, tick_seconds);
    d->round.limited_ticks += c->limited != CW_CONGESTION_LIMIT_NONE;
    d->round.capped += d->tick.capped;
    d->tick.capped = false;
    if (d->phase == START)
        start_tick(d);
    if (is_over(d, now))
        end_round(d, now);
    d->tick.least = INFINITY;
    d->tick.settled = 0;
    if (d->in_flight <= 0 && c->limited == CW_CONGESTION_LIMIT_NONE) {
        d->budget = IDLE_BUDGET * d->window;
        return;
    }
    const double base = base_of(d);
    if (now - d->turned >= (base < INFINITY ? most(MEMORY, 3 * base) : MEMORY))
        turn(d, now);
    if (d->phase == DRAIN && now - d->turned >= d->trip)
        end_drain(d);
    const double gain = d->phase == START ? START_GAIN : PACE_GAIN;
    const double passed = now - c->now;
    const double trip = base < INFINITY ? most(d->trip, passed) : TRIP_UNKNOWN;
    /* A bound from a time of small packets, or of hardly any, must not outlast it. */
    const double bound = most(d->bound, PACKET / STEP);
    d->pace = trip > 0 ? least(gain * d->window / trip, bound) : 0;
    const double share = d->pace * passed;
    d->budget = most(least(d->budget + share, share), -d->window);
}

void cw_delay_update(struct cw_congestion *c, double rtt, double tick_seconds, double now)
{
    struct cw_congestion_delay *d = &c->delay;
    if (d->trip <= 0)
        d->trip = rtt > 0 ? rtt : 0;
    d->round.ticks++;
    if (!is_idle(c)) {
        pass_tick(c, tick_seconds, now);
        return;
    }
    d->tick.settled = 0;
    d->budget = IDLE_BUDGET * d->window;
}
