#include "causeway/lab/window_congestion.h"

#include <math.h>

/* RFC 9438: segments per cubed second, and what remains of the window after a loss. */
#define CUBIC_SCALE 0.4
#define CUBIC_REST  0.7
#define RENO_REST   0.5
/* Segments per round trip at which such a window is as large as Reno's on average. */
#define FRIENDLY_GROWTH (3 * (1 - CUBIC_REST) / (1 + CUBIC_REST))
#define LEAST_THRESHOLD 2
#define MOST_GROWTH     1.5

void cw_window_congestion_init(struct cw_window_congestion *congestion,
                               enum cw_window_control control, uint32_t initial_window)
{
    *congestion = (struct cw_window_congestion){
        .control = control, .cwnd = initial_window, .ssthresh = INFINITY};
}

/* The same on every machine, which cbrt is not: Newton's steps come down from above. */
static double cube_root(double value)
{
    if (!(value > 0))
        return 0;
    double root = value > 1 ? value : 1, next = root;
    do {
        root = next;
        next = (2 * root + value / (root * root)) / 3;
    } while (next < root);
    return root;
}

static void begin_epoch(struct cw_window_congestion *c, double now)
{
    c->growing = true;
    c->epoch = now;
    c->friendly = c->cwnd;
    if (c->plateau < c->cwnd)
        c->plateau = c->cwnd;
    c->reach = cube_root((c->plateau - c->cwnd) / CUBIC_SCALE);
}

static void grow_cubic(struct cw_window_congestion *c, double segments, double rtt, double now)
{
    if (!c->growing)
        begin_epoch(c, now);
    const double from_plateau = now - c->epoch + rtt - c->reach;
    double target = CUBIC_SCALE * from_plateau * from_plateau * from_plateau + c->plateau;
    if (target > MOST_GROWTH * c->cwnd)
        target = MOST_GROWTH * c->cwnd;
    const double friendly_growth = c->friendly < c->highest ? FRIENDLY_GROWTH : 1;
    c->friendly += friendly_growth * segments / c->cwnd;
    if (target > c->cwnd)
        c->cwnd += (target - c->cwnd) * segments / c->cwnd;
    if (c->cwnd < c->friendly)
        c->cwnd = c->friendly;
}

void cw_window_congestion_acked(struct cw_window_congestion *c, uint32_t segments, uint32_t flight,
                                double rtt, double now)
{
    const bool slow_start = c->cwnd < c->ssthresh;
    if (slow_start ? 2.0 * flight <= c->cwnd : flight + 1 <= c->cwnd) {
        c->growing = false;
        return;
    }
    double rest = segments;
    if (slow_start) {
        const double most = c->ssthresh - c->cwnd;
        const double step = rest < most ? rest : most;
        c->cwnd += step;
        rest -= step;
    }
    if (!(rest > 0))
        return;
    if (c->control == CW_WINDOW_RENO)
        c->cwnd += rest / c->cwnd;
    else
        grow_cubic(c, rest, rtt, now);
}

static void lower_threshold(struct cw_window_congestion *c)
{
    const bool cubic = c->control == CW_WINDOW_CUBIC;
    /* A second loss below the plateau: others want to grow, so leave them more room. */
    const bool shrinking = c->cwnd < c->plateau;
    c->highest = c->cwnd;
    c->plateau = shrinking ? c->cwnd * (1 + CUBIC_REST) / 2 : c->cwnd;
    c->growing = false;
    c->ssthresh = c->cwnd * (cubic ? CUBIC_REST : RENO_REST);
    if (c->ssthresh < LEAST_THRESHOLD)
        c->ssthresh = LEAST_THRESHOLD;
}

void cw_window_congestion_reduce(struct cw_window_congestion *c)
{
    lower_threshold(c);
    c->cwnd = c->ssthresh;
}

void cw_window_congestion_collapse(struct cw_window_congestion *c, bool again)
{
    if (!again)
        lower_threshold(c);
    c->cwnd = 1;
    c->growing = false;
}
