/* The rate and the least RTT of the path as congestion control by delay measures them: from one
   tick to another, because acks come in ticks. */
#ifndef CAUSEWAY_PACKET_CONGESTION_RATE_H
#define CAUSEWAY_PACKET_CONGESTION_RATE_H

#include "packet/congestion_losses.h"

#define RATE_TICKS 4 /* ticks over which a rate is measured, to a quarter at worst */

static inline double base_of(const struct cw_congestion_delay *d)
{
    return least(d->base[0], d->base[1]);
}

/* Returns the best rate of the last rounds, in bytes per second. */
static inline double rate_of(const struct cw_congestion_delay *d)
{
    double rate = 0;
    for (uint32_t i = 0; i < CW_CONGESTION_ROUNDS; i++)
        rate = most(rate, d->marks[i].rate);
    return rate;
}

/* Returns the rate at which data has arrived, in bytes per second, over so many rounds that a tick
   more or less makes no great difference. */
static inline double measure(const struct cw_congestion_delay *d, double now)
{
    const double shortest = RATE_TICKS * d->tick_seconds;
    double rate = 0;
    for (uint32_t i = 0; i < CW_CONGESTION_ROUNDS && i < d->rounds; i++) {
        const struct cw_congestion_mark *mark =
            &d->marks[(d->rounds - 1 - i) % CW_CONGESTION_ROUNDS];
        const double elapsed = now - mark->time;
        if (mark->time < d->round.idle)
            break;
        if (elapsed > 0)
            rate = (d->delivered - mark->delivered) / elapsed;
        if (elapsed >= shortest)
            break;
    }
    return rate;
}

/* Returns the rate at which arrives what pacing lets go. No measurement over ticks is exact: this
   one is at least the latest and at most the best of the last rounds. */
static inline double arriving(const struct cw_congestion_delay *d)
{
    return least(most(d->pace * (1 - share_lost(d)), d->latest), rate_of(d));
}

/* Ends a round: notes what has arrived until now, and how fast. */
static inline void note_mark(struct cw_congestion_delay *d, double now, bool counts, double rate)
{
    struct cw_congestion_mark *mark = &d->marks[d->rounds++ % CW_CONGESTION_ROUNDS];
    *mark = (struct cw_congestion_mark){
        .time = now, .delivered = d->delivered, .rate = counts ? rate : mark->rate};
}

/* Returns whether this control held the flow back in a quarter of the round's ticks at least. A
   window that was not used is not proven. */
static inline bool is_limited(const struct cw_congestion_delay *d)
{
    return 4 * d->round.limited_ticks >= d->round.ticks;
}

/* Returns whether something waited in every tick of the round, held back by this control or by the
   flow's own most packets in a tick. A flow that sends now and then would not end its losses by a
   smaller window, and its messages would wait. */
static inline bool is_backlogged(const struct cw_congestion_delay *d)
{
    return d->round.limited_ticks + d->round.capped >= d->round.ticks;
}

/* Returns whether so long a queue cannot be ours: a single packet in flight waits for none of ours,
   what is in flight waits no longer than it takes to arrive, and after an outage, in which nothing
   arrived, the path may be another one. */
static inline bool is_longer_path(const struct cw_congestion_delay *d, double queue)
{
    const double rate = rate_of(d);
    return d->window <= PACKET || rate <= 0 || (queue - d->target) * rate > d->window;
}

#endif
