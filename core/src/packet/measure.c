#include "packet/measure.h"

#define RATE_SPAN 1.0 /* seconds over which a rate is the mean */

void cw_rate_refresh(struct cw_rate *rate, uint64_t bytes, double elapsed)
{
    const double now = (double)(bytes - rate->bytes_before) / elapsed;
    const double weight = elapsed < RATE_SPAN ? elapsed / RATE_SPAN : 1;
    rate->bytes_per_second += (now - rate->bytes_per_second) * weight;
    rate->bytes_before = bytes;
}
