/* By how much one clock is ahead of another, as the messages between them tell: no answer arrives
   before it is sent, and no question before it is asked. */
#ifndef CAUSEWAY_CLOCK_OFFSET_H
#define CAUSEWAY_CLOCK_OFFSET_H

#include <stdbool.h>

/* What is known is of the last seconds, in so many periods of so many seconds. Of them, so many
   make up the present. */
#define CW_OFFSET_PERIODS        8
#define CW_OFFSET_PRESENT        3
#define CW_OFFSET_PERIOD_SECONDS 0.25

/* The offset is not below low and not above high, but for what clocks drift. */
struct cw_offset_limits {
    double period; /* when they were learned: an integer that counts from the clock's 0 */
    double low, high;
};

struct cw_offset {
    struct cw_offset_limits periods[CW_OFFSET_PERIODS]; /* a ring */
    struct cw_offset_limits all;                        /* of them together */
    double settled; /* when the limits have had time to become narrow */
    double agreed;  /* when the present was last in agreement with all */
    bool agrees;
};

void cw_offset_reset(struct cw_offset *offset);

/* The limits that an answer sets, which arrives now and leaves the offset from low to high. */
struct cw_offset_limits cw_offset_limits(double low, double high, double now);

/* True when they are not possible together with what is known: a clock was set anew. */
bool cw_offset_contradicted(const struct cw_offset *offset, const struct cw_offset_limits *answer);

/* Takes the limits of an answer. rtt is how long answers take on average, in seconds. */
void cw_offset_learn(struct cw_offset *offset, const struct cw_offset_limits *answer, double rtt,
                     double now);

/* The best guess. */
double cw_offset_guess(const struct cw_offset *offset);

/* How far current is from what is possible, in seconds. */
double cw_offset_outside(const struct cw_offset *offset, double current);

/* How wrong it is at most, in seconds. */
double cw_offset_error(const struct cw_offset *offset, double now);

/* Where a clock that has followed the offset so far, and is at current, should go from there; *slow
   when it should take its time. */
double cw_offset_goal(struct cw_offset *offset, double current, double now, bool *slow);

/* The place of an integer in a ring of so many, a power of two. */
unsigned cw_ring_index(double integer, unsigned size);

#endif
