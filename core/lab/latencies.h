/* Latencies: their mean, and a histogram with classes less than one percent wide. */
#ifndef CAUSEWAY_LAB_LATENCIES_H
#define CAUSEWAY_LAB_LATENCIES_H

#include "causeway/base.h"

#include <stdint.h>

CW_BEGIN_DECLARATIONS

#define CW_LAB_LATENCY_CLASSES 2048

/* A set of latencies, as a plain value. All zero is an empty set. */
struct cw_lab_latencies {
    uint32_t count;
    double sum; /* the sum in seconds */
    uint32_t classes[CW_LAB_LATENCY_CLASSES];
};

/* Adds a latency in seconds. A negative one counts as 0; those above 400 seconds share a class. */
void cw_lab_latencies_add(struct cw_lab_latencies *latencies, double seconds);

/* The mean in seconds; 0 when there are no latencies. */
double cw_lab_latencies_mean(const struct cw_lab_latencies *latencies);

/* The seconds that the share (0 to 1) of the latencies did not exceed; 0 when there are none. */
double cw_lab_latencies_quantile(const struct cw_lab_latencies *latencies, double share);

CW_END_DECLARATIONS

#endif
