/* How long things took: a mean, and a histogram with classes less than one percent wide. */
#ifndef CAUSEWAY_LAB_LATENCIES_H
#define CAUSEWAY_LAB_LATENCIES_H

#include "causeway/linkage.h"

#include <stdint.h>

CW_BEGIN_DECLARATIONS

#define CW_LAB_LATENCY_CLASSES 2048

/* A plain value. All zero has none. */
struct cw_lab_latencies {
    uint32_t count;
    double sum; /* seconds */
    uint32_t classes[CW_LAB_LATENCY_CLASSES];
};

/* Adds one of seconds; a negative one counts as 0, and those above 400 seconds share a class. */
void cw_lab_latencies_add(struct cw_lab_latencies *latencies, double seconds);

/* Seconds; 0 when there are none. */
double cw_lab_latencies_mean(const struct cw_lab_latencies *latencies);

/* Seconds that the share (0 to 1) of them did not exceed; 0 when there are none. */
double cw_lab_latencies_quantile(const struct cw_lab_latencies *latencies, double share);

CW_END_DECLARATIONS

#endif
