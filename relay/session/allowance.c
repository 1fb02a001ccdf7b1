#include "session/allowance.h"

#include "session/datagram.h"

/* The datagrams of this many seconds may go at once. */
#define BURST_SECONDS 0.25

void allowance_init(struct allowance *allowance)
{
    *allowance = (struct allowance){.packets.level = INFINITY, .bytes.level = INFINITY};
}

void allowance_answered(struct allowance *allowance)
{
    if (allowance->answered)
        return;
    allowance_init(allowance);
    allowance->answered = true;
}

/* Returns whether a bucket holds enough. One datagram of any size can always go, however low the
   rate. */
static bool holds(struct bucket *bucket, double rate, double largest, double amount, double now)
{
    return rate <= 0.0 ||
           bucket_fill(bucket, rate, fmax(rate * BURST_SECONDS, largest), now) >= amount;
}

bool allowance_take(struct allowance *allowance, const struct allowance_limits *limits, size_t size,
                    double now)
{
    const double bytes = (double)size;
    if (!allowance->answered) {
        if (bucket_fill(&allowance->packets, ALLOWANCE_UNANSWERED_REFILL, ALLOWANCE_UNANSWERED,
                        now) < 1.0)
            return false;
    } else if (!holds(&allowance->packets, limits->packets_per_second, 1.0, 1.0, now) ||
               !holds(&allowance->bytes, limits->bytes_per_second, SESSION_DATAGRAM_MAX, bytes,
                      now)) {
        return false;
    }
    allowance->packets.level -= 1.0;
    allowance->bytes.level -= bytes;
    return true;
}
