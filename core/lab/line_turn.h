/* Both ends of a line have these: the bounds of a turn, and the count of what came. */
#ifndef CAUSEWAY_LAB_LINE_TURN_H
#define CAUSEWAY_LAB_LINE_TURN_H

#include "lab/peer.h"

/* The most datagrams that a peer sends in a turn, and arrivals that an application takes in one. A
   hostile end may name an item far ahead, and each one before it is an arrival that is lost. */
#define CW_LAB_LINE_PER_TURN 128
#define CW_LAB_LINE_ARRIVALS 1024

/* The datagrams that came from the other end, by their numbers. */
struct cw_lab_came {
    uint32_t count;
    uint32_t newest;
    double at; /* the time when the newest came */
};

static inline void cw_lab_came_add(struct cw_lab_came *came, uint32_t number, double now)
{
    if (came->count == 0 || (int32_t)(number - came->newest) > 0) {
        came->newest = number;
        came->at = now;
    }
    came->count++;
}

/* Returns how many of the datagrams up to the newest have not come. */
static inline uint32_t cw_lab_came_missing(uint32_t count, uint32_t newest)
{
    return count > 0 && newest + 1 > count ? newest + 1 - count : 0;
}

#endif
