#include "limits/handshake_budget.h"

#include <math.h>
#include <time.h>

double handshake_budget_wait(struct handshake_budget *budget, enum handshake_rank rank, double now)
{
    const double least = rank == HANDSHAKE_DTLS ? -HANDSHAKE_STRETCH : 0.0;
    const double left = bucket_fill(&budget->left, HANDSHAKE_SHARE, HANDSHAKE_STRETCH, now);
    return fmax((least - left) / HANDSHAKE_SHARE, 0.0);
}

void handshake_budget_spend(struct handshake_budget *budget, double seconds)
{
    budget->left.level -= seconds;
}

double handshake_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}
