/* A token bucket: it holds a stream to a rate and lets bursts through. */
#ifndef CAUSEWAY_RELAY_BUCKET_H
#define CAUSEWAY_RELAY_BUCKET_H

#include <math.h>

/* A bucket with level INFINITY starts full. */
struct bucket {
    double level; /* the tokens in the bucket at the time `at` */
    double at;    /* a time in seconds */
};

/* Adds `rate` tokens per second, up to `most`, and returns how many there are. The caller subtracts
   what it takes. */
static inline double bucket_fill(struct bucket *bucket, double rate, double most, double now)
{
    bucket->level = fmin(bucket->level + (now - bucket->at) * rate, most);
    bucket->at = now;
    return bucket->level;
}

#endif
