#include "load/quantiles.h"

#include <math.h>

#define LEAST_SECONDS 1e-6
#define GROWTH        1.02

void quantiles_add(struct quantiles *quantiles, double seconds)
{
    const double step = log(fmax(seconds, LEAST_SECONDS) / LEAST_SECONDS) / log(GROWTH);
    quantiles->counts[(unsigned)fmin(step, QUANTILES_STEPS - 1)]++;
    quantiles->count++;
}

double quantiles_at(const struct quantiles *quantiles, double share)
{
    const double wanted = fmax(ceil(share * (double)quantiles->count), 1.0);
    double below = 0.0;
    for (unsigned i = 0; i < QUANTILES_STEPS; i++) {
        below += (double)quantiles->counts[i];
        if (below >= wanted)
            return LEAST_SECONDS * pow(GROWTH, i + 0.5);
    }
    return NAN;
}
