#include "game/clock_offset.h"

#include <math.h>

/* The share by which two clocks drift apart at most, and the seconds by which they do while a limit
   is remembered. */
#define DRIFT   300e-6
#define DRIFTED 0.002

/* The seconds for which a clock follows as fast as it may. It goes on until it has been within the
   second number of the best guess for the time of the third, both in seconds. */
#define SETTLE         2
#define SETTLED_WITHIN 0.002
#define SETTLED_FOR    0.25

/* The present agrees with combined periods when it adds no more than this to their limits: in
   seconds, and as a share of the path's variation. When it does not, most likely the path has
   become longer, and the limit from one of its ways goes out of date before that from the other: no
   reason to move. After the last number of seconds all limits are of the present. */
#define ROOM      0.001
#define ROOM_PART 0.5
#define DISAGREE  ((CW_OFFSET_PERIODS + 2) * CW_OFFSET_PERIOD_SECONDS)

void cw_offset_reset(struct cw_offset *offset)
{
    *offset = (struct cw_offset){.combined.period = -(double)INFINITY};
    for (unsigned i = 0; i < CW_OFFSET_PERIODS; i++)
        offset->periods[i].period = -(double)INFINITY;
}

unsigned cw_ring_index(double integer, unsigned size)
{
    return (unsigned)(integer - size * floor(integer / size));
}

struct cw_offset_limits cw_offset_limits_make(double low, double high, double now)
{
    return (struct cw_offset_limits){
        .period = floor(now / CW_OFFSET_PERIOD_SECONDS),
        .low = low < high ? low : (low + high) / 2,
        .high = low < high ? high : (low + high) / 2,
    };
}

static bool within(const struct cw_offset_limits *limits, double period, double periods)
{
    return fabs(period - limits->period) < periods;
}

static void narrow(struct cw_offset_limits *limits, const struct cw_offset_limits *by)
{
    limits->low = limits->low > by->low ? limits->low : by->low;
    limits->high = limits->high < by->high ? limits->high : by->high;
}

bool cw_offset_contradicted(const struct cw_offset *offset, const struct cw_offset_limits *answer)
{
    return within(&offset->combined, answer->period, CW_OFFSET_PERIODS) &&
           (answer->low > offset->combined.high + DRIFTED ||
            answer->high < offset->combined.low - DRIFTED);
}

/* Returns the limits that the newest periods and the answer give together. */
static struct cw_offset_limits together(const struct cw_offset *offset,
                                        const struct cw_offset_limits *answer, double periods)
{
    struct cw_offset_limits limits = *answer;
    for (unsigned i = 0; i < CW_OFFSET_PERIODS; i++)
        if (within(&offset->periods[i], answer->period, periods))
            narrow(&limits, &offset->periods[i]);
    return limits;
}

void cw_offset_learn(struct cw_offset *offset, const struct cw_offset_limits *answer, double rtt,
                     double now)
{
    if (!within(&offset->combined, answer->period, CW_OFFSET_PERIODS) ||
        cw_offset_contradicted(offset, answer)) {
        cw_offset_reset(offset);
        offset->settled = now + SETTLE;
    }
    struct cw_offset_limits *own =
        &offset->periods[cw_ring_index(answer->period, CW_OFFSET_PERIODS)];
    if (own->period == answer->period)
        narrow(own, answer);
    else
        *own = *answer;
    offset->combined = together(offset, answer, CW_OFFSET_PERIODS);

    const struct cw_offset_limits present = together(offset, answer, CW_OFFSET_PRESENT);
    const double width = present.high - present.low;
    const double varies = (rtt - width) * ROOM_PART;
    const double room = width - (offset->combined.high - offset->combined.low);
    offset->agrees = room <= (varies > ROOM ? varies : ROOM);
    if (offset->agrees)
        offset->agreed = now;
}

double cw_offset_guess(const struct cw_offset *offset)
{
    return (offset->combined.low + offset->combined.high) / 2;
}

double cw_offset_outside(const struct cw_offset *offset, double current)
{
    const double below = offset->combined.low - current, above = current - offset->combined.high;
    return below > 0 ? below : above > 0 ? above : 0;
}

double cw_offset_error(const struct cw_offset *offset, double now)
{
    const double age = fabs(now - offset->combined.period * CW_OFFSET_PERIOD_SECONDS);
    return (offset->combined.high - offset->combined.low) / 2 + DRIFT * age;
}

double cw_offset_goal(struct cw_offset *offset, double current, double now, bool *slow)
{
    const double guess = cw_offset_guess(offset);
    const bool possible = cw_offset_outside(offset, current) <= 0;
    if (now < offset->settled && offset->settled < now + SETTLED_FOR &&
        fabs(guess - current) > SETTLED_WITHIN)
        offset->settled = now + SETTLED_FOR;
    *slow = possible && now >= offset->settled;
    const bool stay = *slow && !offset->agrees && now < offset->agreed + DISAGREE;
    return stay ? current : guess;
}
