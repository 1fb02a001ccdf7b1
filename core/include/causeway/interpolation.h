/* This module tells a client what to show between the snapshots that arrive: two of them and a
   fraction, for any time.

   Snapshots arrive unevenly, and some not at all. If a client shows the newest one, things move in
   jerks. This module shows the past instead, with a delay that lets the next snapshot arrive first.
   It measures the delay from the snapshots that arrive. The delay covers the interval between
   snapshots, jitter and losses, so that only about 3 snapshots in 100 come too late. When one does,
   the view goes beyond the newest snapshot up to a limit, then stops.

   The view never goes back. To follow the delay, it runs up to 10 % faster or 20 % slower than the
   clock. It jumps ahead when it is far behind, for example after minutes in a hidden tab. A tick
   more than 10 seconds from the newest one begins anew: the server has set its ticks.

   It stores one entry of fixed size per snapshot, or only its tick when the states are kept
   elsewhere, as in a history (history.h). Call cw_interpolation_reset with every new connection. */
#ifndef CAUSEWAY_INTERPOLATION_H
#define CAUSEWAY_INTERPOLATION_H

#include "causeway/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

struct cw_interpolation;

struct cw_interpolation_config {
    struct cw_allocator allocator; /* zero: malloc */
    double ticks_per_second;       /* ticks of the server, above 0 and at most 1000; default 60 */
    uint32_t entry_size;           /* bytes of an entry, 0 (ticks only) to 2^20; default 0 */
    uint32_t max_entries;          /* snapshots to keep, 2 to 1024; default 64 */
    double min_delay_seconds; /* the view is never closer to the newest snapshot than this, counted
                                 without jitter; 0 or more; default 0 */
    double max_delay_seconds; /* the view is never further behind than this, 0 to 60; default 0.5 */
    double max_extrapolation_seconds; /* the longest that the view may go beyond the newest
                                         snapshot, 0 to 60; default 0.25 */
};

struct cw_interpolation_config cw_interpolation_config_default(void);

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_interpolation_memory(const struct cw_interpolation_config *config);

/* Errors: that of a field, CW_ERROR_NO_MEMORY. */
enum cw_error cw_interpolation_create(const struct cw_interpolation_config *config,
                                      struct cw_interpolation **interpolation);

/* NULL is allowed. */
void cw_interpolation_destroy(struct cw_interpolation *interpolation);

/* Forgets everything except the config. */
void cw_interpolation_reset(struct cw_interpolation *interpolation);

/* Takes the snapshot of a tick that arrived, with entry_size bytes of entry (copied; NULL when
   entry_size is 0). now is the time of this frame: snapshots of one frame count as arriving
   together. A snapshot that was overtaken is kept in its place. Errors: CW_ERROR_DUPLICATE when the
   tick is there already, CW_ERROR_STALE when all kept snapshots are newer and there is no room
   left. */
enum cw_error cw_interpolation_receive(struct cw_interpolation *interpolation, uint32_t tick,
                                       const void *entry, double now);

/* A view is a moment between the states of two ticks. */
struct cw_view {
    uint32_t from;
    uint32_t to;    /* the same as from when there is nothing to move to */
    float fraction; /* 0 is from, 1 is to, above 1 is beyond to */
};

/* Lets time pass and gives the view to show now. Returns false while nothing has arrived. */
bool cw_interpolation_view(struct cw_interpolation *interpolation, double now,
                           struct cw_view *view);

/* Returns the entry of a tick, such as view.from. It is valid until the next snapshot is received.
   Returns NULL when the tick is not there or entry_size is 0. */
const void *cw_interpolation_entry(const struct cw_interpolation *interpolation, uint32_t tick);

struct cw_interpolation_stats {
    double delay_seconds; /* the time by which the view is behind the snapshots that arrive first */
    double target_seconds; /* the delay that delay_seconds is moving to */
    uint64_t received;     /* snapshots kept */
    uint64_t refused;      /* duplicates and snapshots that came too late */
    uint64_t views;        /* views given since create or reset */
    uint64_t extrapolated; /* views beyond the newest snapshot */
    uint64_t frozen;       /* views beyond it by max_extrapolation_seconds */
    uint64_t jumps; /* jumps ahead, because the view was more than max_delay_seconds behind */
};

void cw_interpolation_get_stats(const struct cw_interpolation *interpolation,
                                struct cw_interpolation_stats *stats);

/* The functions below blend two states. fraction 0 is from and 1 is to; a fraction above 1 goes
   beyond to. */

float cw_lerp(float from, float to, float fraction);

/* Blends angles in radians, the shorter way round. */
float cw_lerp_angle(float from, float to, float fraction);

/* Returns the value of a cubic that leaves `from` and reaches `to` with the given velocities, per
   second. seconds is the time between the two. Beyond `to` it continues in a straight line. */
float cw_hermite(float from, float from_velocity, float to, float to_velocity, float seconds,
                 float fraction);

/* Blends rotations, which are quaternions of length 1. Turns `from` into `to` at an even rate, the
   shorter way round, with an error of at most 0.001 radians between them. Beyond `to` it keeps
   turning, up to a fraction of 16. out may be from or to. */
void cw_slerp(const float from[4], const float to[4], float fraction, float out[4]);

CW_END_DECLARATIONS

#endif
