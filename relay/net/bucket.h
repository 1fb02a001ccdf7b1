/* A bucket of tokens that fills at a rate: it holds a stream to that rate and lets bursts through.
 */
#ifndef CAUSEWAY_RELAY_BUCKET_H
#define CAUSEWAY_RELAY_BUCKET_H

#include <math.h>

/* With the level INFINITY it begins full. */
struct bucket {
    double level; /* tokens in it at the time `at` */
    double at;    /* seconds */
};

/* Fills it by `rate` tokens per second up to `most`, and tells how many are in it. What is taken is
   the caller's to subtract. */
static inline double bucket_fill(struct bucket *bucket, double rate, double most, double now)
{
    bucket->level = fmin(bucket->level + (now - bucket->at) * rate, most);
    bucket->at = now;
    return bucket->level;
}

#endif
