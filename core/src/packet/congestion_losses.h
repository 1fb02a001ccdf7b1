/* The losses that congestion control by delay counts: how many are real, how many the path causes
   by itself, and whether what is left is more than chance. */
#ifndef CAUSEWAY_PACKET_CONGESTION_LOSSES_H
#define CAUSEWAY_PACKET_CONGESTION_LOSSES_H

#include "packet/congestion.h"

#include <math.h>

#define PACKET        1064.0 /* bytes of a full packet */
#define LOSS          0.02   /* the share that may be lost; BBR's LossThresh */
#define TRIAL_PACKETS 50     /* the length of a trial; measured: loss_20_mbit_3_kbit */
#define DEVIATIONS    2.5    /* chance exceeds them once in 160 counts; with 2, once in 44 */

static inline double least(double a, double b)
{
    return a < b ? a : b;
}

static inline double most(double a, double b)
{
    return a > b ? a : b;
}

static inline void begin_counting(struct cw_congestion_delay *d)
{
    d->counted_acked = d->counted_lost = 0;
}

/* Returns the part of the reported losses that is real. Where the path changes the order of
   packets, as large a part will arrive after all as did before. */
static inline double real_part(const struct cw_congestion_delay *d)
{
    return d->reported > 0 ? most(1 - d->late / d->reported, 0) : 1;
}

/* Returns the packets lost since counting began. */
static inline double really_lost(const struct cw_congestion_delay *d)
{
    return d->counted_lost * real_part(d);
}

/* Returns the share that the path loses by itself, as far as that is known. */
static inline double own_loss(const struct cw_congestion_delay *d, double now)
{
    return now < d->tolerated_until ? d->tolerated : 0;
}

static inline double share_lost(const struct cw_congestion_delay *d)
{
    const double lost = really_lost(d), all = d->counted_acked + lost;
    return all > 0 ? lost / all : 0;
}

/* Returns whether more is lost than the path loses by itself, beyond what chance explains: some
   standard deviations, of this share and of the one that the trial measured, and one packet. */
static inline bool is_lossy(const struct cw_congestion_delay *d, double now)
{
    const double packets = d->counted_acked + d->counted_lost;
    const double own = own_loss(d, now);
    const double variance = packets * own * (1 - own) * (1 + packets / TRIAL_PACKETS);
    const double chance = DEVIATIONS * sqrt(variance) + 1;
    return really_lost(d) > packets * (own + LOSS) + chance;
}

/* Returns whether the latest round lost so much that the window should not grow: twice what the
   last trial has found to be the path's own, which stands here until the next one. */
static inline bool begins_to_lose(const struct cw_congestion_delay *d)
{
    return d->round.lost * real_part(d) >
           (2 * d->tolerated + LOSS) * (d->round.acked + d->round.lost);
}

#endif
