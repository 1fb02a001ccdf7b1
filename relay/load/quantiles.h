/* Quantiles of times, within one percent. */
#ifndef CAUSEWAY_RELAY_LOAD_QUANTILES_H
#define CAUSEWAY_RELAY_LOAD_QUANTILES_H

#include <stdint.h>

/* Times from a microsecond to 100 seconds; each bound is 2 percent above the one before:
   ln(1e8) / ln(1.02). */
#define QUANTILES_STEPS 931

struct quantiles {
    uint64_t counts[QUANTILES_STEPS];
    uint64_t count;
};

/* Adds a time in seconds. */
void quantiles_add(struct quantiles *quantiles, double seconds);

/* Returns the time in seconds that a share (0 to 1) of the times does not exceed; NAN without any.
 */
double quantiles_at(const struct quantiles *quantiles, double share);

#endif
