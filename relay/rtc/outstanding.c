#include "rtc/outstanding.h"

#include <assert.h>

static uint16_t *size_of(struct outstanding *outstanding, uint32_t tsn)
{
    return &outstanding->sizes[tsn % OUTSTANDING_MAX];
}

/* Takes a chunk out of flight. Returns false when it was not in flight. */
static bool settle(struct outstanding *outstanding, uint32_t tsn)
{
    const uint16_t size = *size_of(outstanding, tsn);
    outstanding->flight -= size;
    *size_of(outstanding, tsn) = 0;
    return size != 0;
}

/* Gives up all chunks up to tsn; the point then moves on over chunks that are acknowledged. */
static void give_up(struct outstanding *outstanding, uint32_t tsn)
{
    while (tsn_ahead(tsn, outstanding->abandoned) > 0)
        if (settle(outstanding, ++outstanding->abandoned))
            outstanding->given_up++;
    while (outstanding->abandoned + 1 != outstanding->next &&
           *size_of(outstanding, outstanding->abandoned + 1) == 0)
        outstanding->abandoned++;
}

void outstanding_reset(struct outstanding *outstanding, uint32_t first)
{
    *outstanding =
        (struct outstanding){.next = first, .acknowledged = first - 1, .abandoned = first - 1};
}

bool outstanding_has_room(const struct outstanding *outstanding, size_t count)
{
    return outstanding->next - 1 - outstanding->acknowledged + count <= OUTSTANDING_MAX;
}

uint32_t outstanding_send(struct outstanding *outstanding, size_t size)
{
    assert(size > 0 && size <= UINT16_MAX && outstanding_has_room(outstanding, 1));
    *size_of(outstanding, outstanding->next) = (uint16_t)size;
    outstanding->flight += size;
    return outstanding->next++;
}

bool outstanding_acknowledge(struct outstanding *outstanding, uint32_t cumulative,
                             const struct tsn_gap *gaps, size_t count, uint32_t keep)
{
    if (tsn_ahead(cumulative, outstanding->next) >= 0)
        return false;
    const uint32_t span = outstanding->next - 1 - cumulative;
    /* Runs do not overlap, so those of an honest sender have no more TSNs than are kept. */
    uint32_t reported = 0;
    for (size_t i = 0; i < count; i++) {
        if (gaps[i].first < 2 || gaps[i].last < gaps[i].first || gaps[i].last > span)
            return false;
        reported += gaps[i].last - gaps[i].first + 1u;
    }
    if (reported > OUTSTANDING_MAX)
        return false;
    if (tsn_ahead(cumulative, outstanding->acknowledged) < 0)
        return true;

    outstanding->acknowledged = cumulative;
    while (tsn_ahead(cumulative, outstanding->abandoned) > 0)
        settle(outstanding, ++outstanding->abandoned);
    uint32_t highest = cumulative;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t at = gaps[i].first; at <= gaps[i].last; at++)
            settle(outstanding, cumulative + at);
        if (tsn_ahead(cumulative + gaps[i].last, highest) > 0)
            highest = cumulative + gaps[i].last;
    }

    uint32_t lost = highest - OUTSTANDING_REORDER;
    if (tsn_ahead(lost, keep - 1) > 0)
        lost = keep - 1;
    give_up(outstanding, lost);
    return true;
}

void outstanding_abandon(struct outstanding *outstanding, uint32_t keep)
{
    give_up(outstanding, keep - 1);
}

bool outstanding_in_flight(const struct outstanding *outstanding, uint32_t tsn)
{
    return tsn_ahead(tsn, outstanding->abandoned) > 0 && tsn_ahead(tsn, outstanding->next) < 0 &&
           outstanding->sizes[tsn % OUTSTANDING_MAX] != 0;
}
