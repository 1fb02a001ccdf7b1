/* How many segments may be in flight. Internal to the lab. */
#ifndef CAUSEWAY_LAB_WINDOW_CONGESTION_H
#define CAUSEWAY_LAB_WINDOW_CONGESTION_H

#include "causeway/lab/window_config.h"

struct cw_window_congestion {
    enum cw_window_control control;
    double cwnd;     /* segments */
    double ssthresh; /* below it the window grows by a segment for each segment acked */

    /* CUBIC. An epoch is a time of growth between two losses. */
    bool growing;    /* an epoch has begun */
    double epoch;    /* when */
    double plateau;  /* the window where the function is flat: that of the last loss */
    double reach;    /* seconds from the epoch to the plateau */
    double highest;  /* the window at the last loss */
    double friendly; /* the window that Reno would have */
};

void cw_window_congestion_init(struct cw_window_congestion *congestion,
                               enum cw_window_control control, uint32_t initial_window);

/* So many segments have been acked outside a recovery. flight is how many were in flight: a window
   that was not used does not grow. */
void cw_window_congestion_acked(struct cw_window_congestion *congestion, uint32_t segments,
                                uint32_t flight, double rtt, double now);

/* A loss was found by acks: the window becomes a part of what it was. */
void cw_window_congestion_reduce(struct cw_window_congestion *congestion);

/* The timeout has passed: one segment, and slow start again. again: for the same loss, which has
   lowered the threshold already. */
void cw_window_congestion_collapse(struct cw_window_congestion *congestion, bool again);

#endif
