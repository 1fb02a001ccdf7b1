/* A histogram of how long things took. */
#ifndef CAUSEWAY_RELAY_HISTOGRAM_H
#define CAUSEWAY_RELAY_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BOUNDS 12

/* Upper bounds in seconds, inclusive, the lowest first. */
extern const double histogram_bounds[HISTOGRAM_BOUNDS];

struct histogram {
    /* the number between each two bounds; the last is above all */
    uint64_t counts[HISTOGRAM_BOUNDS + 1];
    double sum;
};

/* Counts a thing that took this many seconds. */
void histogram_add(struct histogram *histogram, double seconds);

/* Adds the counts of another histogram. */
void histogram_add_all(struct histogram *sum, const struct histogram *other);

#endif
