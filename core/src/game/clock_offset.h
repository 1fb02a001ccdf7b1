/* The offset of one clock from another, judged by the messages between them: no answer arrives
   before it is sent, and no question before it is asked. */
#ifndef CAUSEWAY_CLOCK_OFFSET_H
#define CAUSEWAY_CLOCK_OFFSET_H

#include <stdbool.h>

/* The limits are those of the last CW_OFFSET_PERIODS periods of CW_OFFSET_PERIOD_SECONDS each. The
   latest CW_OFFSET_PRESENT of them are the present. */
#define CW_OFFSET_PERIODS        8
#define CW_OFFSET_PRESENT        3
#define CW_OFFSET_PERIOD_SECONDS 0.25

/* The offset is from low to high, apart from the drift of the clocks. */
struct cw_offset_limits {
    double period; /* when they were learned: a whole number of periods since the clock's 0 */
    double low, high;
};

struct cw_offset {
    struct cw_offset_limits periods[CW_OFFSET_PERIODS]; /* a ring */
    struct cw_offset_limits combined;                   /* the limits of all periods together */
    double settled; /* when the limits will have had time to become narrow */
    double agreed;  /* when the present was last in agreement with combined */
    bool agrees;
};

void cw_offset_reset(struct cw_offset *offset);

/* The limits set by an answer that arrives now and puts the offset between low and high. */
struct cw_offset_limits cw_offset_limits_make(double low, double high, double now);

/* Returns true when an answer's limits contradict the known ones: a clock has been set. */
bool cw_offset_contradicted(const struct cw_offset *offset, const struct cw_offset_limits *answer);

/* Takes the limits of an answer. rtt is the mean time that answers take, in seconds. */
void cw_offset_learn(struct cw_offset *offset, const struct cw_offset_limits *answer, double rtt,
                     double now);

/* The best guess. */
double cw_offset_guess(const struct cw_offset *offset);

/* Returns the distance of current from the limits, in seconds; 0 inside. */
double cw_offset_outside(const struct cw_offset *offset, double current);

/* The most that the guess can be wrong, in seconds. */
double cw_offset_error(const struct cw_offset *offset, double now);

/* Returns the value to which a clock should go that has followed the offset and is now at current.
   Sets *slow when it should go there slowly. */
double cw_offset_goal(struct cw_offset *offset, double current, double now, bool *slow);

/* The place of an integer in a ring of size entries, a power of two. */
unsigned cw_ring_index(double integer, unsigned size);

#endif
