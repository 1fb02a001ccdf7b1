#include "causeway/lab/window_rto.h"

#include <math.h>

void cw_window_rto_init(struct cw_window_rto *rto, const struct cw_window_config *config)
{
    *rto = (struct cw_window_rto){.config = config, .timeout = config->initial_rto_seconds};
}

void cw_window_rto_sample(struct cw_window_rto *rto, double seconds)
{
    if (rto->rtt > 0) {
        rto->deviation += (fabs(seconds - rto->rtt) - rto->deviation) / 4;
        rto->rtt += (seconds - rto->rtt) / 8;
    } else {
        rto->deviation = seconds / 2;
        rto->rtt = seconds;
    }
    const double variance = 4 * rto->deviation;
    const double least = rto->config->min_variance_seconds;
    rto->timeout = rto->rtt + (variance > least ? variance : least);
}

void cw_window_rto_progress(struct cw_window_rto *rto)
{
    rto->doublings = 0;
}

void cw_window_rto_back_off(struct cw_window_rto *rto)
{
    if (cw_window_rto_seconds(rto) < rto->config->max_rto_seconds)
        rto->doublings++;
}

double cw_window_rto_seconds(const struct cw_window_rto *rto)
{
    const double seconds = ldexp(rto->timeout, (int)rto->doublings);
    return seconds < rto->config->max_rto_seconds ? seconds : rto->config->max_rto_seconds;
}
