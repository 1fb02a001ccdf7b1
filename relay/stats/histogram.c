#include "stats/histogram.h"

const double histogram_bounds[HISTOGRAM_BOUNDS] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                   0.1,   0.25,   0.5,   1.0,  2.5,   10.0};

void histogram_add(struct histogram *histogram, double seconds)
{
    unsigned place = 0;
    while (place < HISTOGRAM_BOUNDS && seconds > histogram_bounds[place])
        place++;
    histogram->counts[place]++;
    histogram->sum += seconds;
}

void histogram_add_all(struct histogram *sum, const struct histogram *other)
{
    for (unsigned i = 0; i <= HISTOGRAM_BOUNDS; i++)
        sum->counts[i] += other->counts[i];
    sum->sum += other->sum;
}
