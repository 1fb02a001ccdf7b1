#include "rtc/policing.h"

/* A browser may send this many times the packets that may go on to the game server, and this many
   more a second for what else it sends over its channel. So a browser that keeps to the limit is
   not touched, and one that does not shows in dropped_upstream_rate first
   (hostile.rtc_policing). */
#define DATA_FACTOR 2.0
#define DATA_MORE   500.0

/* Packets per second of each of the other kinds. A handshake takes some ten packets. Browsers check
   each pair of addresses 20 times a second at most, and there are some ten pairs. */
#define OTHER_RATE 200.0
#define CHECK_RATE 200.0

/* The part of a second whose packets may come at once: a network holds packets up, and then they
   come together. */
#define BURST_SECONDS 0.25

void policing_init(struct policing *policing)
{
    for (int kind = 0; kind < POLICED_KINDS; kind++)
        policing->buckets[kind] = (struct bucket){.level = INFINITY};
}

bool policing_take(struct policing *policing, enum policed kind, double packets_per_second,
                   double now)
{
    const double rates[POLICED_KINDS] = {
        [POLICED_DATA] = DATA_FACTOR * packets_per_second + DATA_MORE,
        [POLICED_OTHER] = OTHER_RATE,
        [POLICED_CHECK] = CHECK_RATE,
    };
    struct bucket *bucket = &policing->buckets[kind];
    const double rate = rates[kind];
    if (kind == POLICED_DATA && packets_per_second <= 0.0)
        return true;
    if (bucket_fill(bucket, rate, BURST_SECONDS * rate, now) < 1.0)
        return false;
    bucket->level -= 1.0;
    return true;
}

void policing_sent(struct policing *policing)
{
    policing->buckets[POLICED_DATA].level += 1.0;
}
