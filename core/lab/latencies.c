#include "lab/latencies.h"

#include <math.h>
#include <stddef.h>

/* Latencies are counted in tenths of a millisecond. From PER_OCTAVE units on, every doubling is
   divided into PER_OCTAVE classes. */
#define UNITS_PER_SECOND 10000
#define PER_OCTAVE       128
#define MOST_UNITS       (((uint32_t)PER_OCTAVE << (CW_LAB_LATENCY_CLASSES / PER_OCTAVE - 1)) - 1)

static uint32_t class_of(uint32_t units)
{
    uint32_t octave = 0;
    while (units >> octave >= 2 * PER_OCTAVE)
        octave++;
    return octave * PER_OCTAVE + (units >> octave);
}

/* The middle of a class, in units. */
static double middle(uint32_t class)
{
    const uint32_t octave = class < 2 * PER_OCTAVE ? 0 : class / PER_OCTAVE - 1;
    const double width = (double)((uint32_t)1 << octave);
    return ((double)(class - octave * PER_OCTAVE) + 0.5) * width;
}

void cw_lab_latencies_add(struct cw_lab_latencies *latencies, double seconds)
{
    if (!latencies || !isfinite(seconds))
        return;
    const double units = fmin(fmax(seconds, 0) * UNITS_PER_SECOND, MOST_UNITS);
    latencies->count++;
    latencies->sum += fmax(seconds, 0);
    latencies->classes[class_of((uint32_t)units)]++;
}

double cw_lab_latencies_mean(const struct cw_lab_latencies *latencies)
{
    return latencies && latencies->count ? latencies->sum / latencies->count : 0;
}

double cw_lab_latencies_quantile(const struct cw_lab_latencies *latencies, double share)
{
    if (!latencies || latencies->count == 0 || !isfinite(share))
        return 0;
    /* The rounding of products such as 0.07 * 100, a little more than 7, must not lead to the next
       class. */
    const double wanted = fmin(fmax(share, 0), 1) * latencies->count - 1e-6;
    uint32_t class = 0;
    double seen = latencies->classes[0];
    while (class + 1 < CW_LAB_LATENCY_CLASSES && (seen < wanted || seen < 1))
        seen += latencies->classes[++class];
    return middle(class) / UNITS_PER_SECOND;
}
