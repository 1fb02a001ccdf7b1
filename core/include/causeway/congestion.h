/* How many packets per second the path is given: two modes, told apart by the round trip time.
   A connection begins in bad mode. It goes to good mode when the RTT has stayed at or below the
   threshold for the penalty time, and back to bad mode as soon as the RTT is above it. The penalty
   time doubles when good mode did not last, and halves again while it lasts. */
#ifndef CAUSEWAY_CONGESTION_H
#define CAUSEWAY_CONGESTION_H

#include "causeway/error.h"
#include "causeway/linkage.h"

#include <stdbool.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

struct cw_congestion_config {
    double rtt_threshold_seconds;   /* a longer RTT is bad, above 0; default 0.25 */
    double good_packets_per_second; /* allowed in good mode, at most 1,000,000; default 30 */
    double bad_packets_per_second;  /* allowed in bad mode, above 0, at most those; default 10 */
    double penalty_seconds;         /* at first, from the least to the most; default 4 */
    double min_penalty_seconds;     /* the least, 0 or more; default 1 */
    double max_penalty_seconds;     /* the most, not below the first; default 60 */
    double good_period_seconds;     /* good mode that ends sooner doubles the penalty time, and each
                                       time that it lasts this long halves it; above 0; default 10 */
    double burst_seconds; /* what was not sent in this time may be sent later, beside one packet, 0
                             to 60; a caller that sends more rarely than this gets less than the
                             rate; default 0.1 */
};

struct cw_congestion_config cw_congestion_config_default(void);

enum cw_congestion_mode { CW_CONGESTION_BAD, CW_CONGESTION_GOOD };

enum cw_congestion_reason {
    CW_CONGESTION_NO_RTT = 0, /* bad: there is no RTT yet */
    CW_CONGESTION_HIGH_RTT,   /* bad: the RTT is above the threshold */
    CW_CONGESTION_PENALTY,    /* bad: the RTT is fine, but not yet for the penalty time */
    CW_CONGESTION_RECOVERED   /* good: the RTT has been fine for the penalty time and since */
};

/* A plain value: copy it, put it where it is needed. Read the first four fields; the others are the
   functions' own. */
struct cw_congestion {
    enum cw_congestion_mode mode;
    enum cw_congestion_reason reason; /* for being in this mode */
    double packets_per_second;        /* allowed now */
    double penalty_seconds;           /* of good conditions that bad mode waits for */

    struct cw_congestion_config config;
    double now;        /* latest time told */
    double good_since; /* when good mode, or good conditions in bad mode, began */
    double halved;     /* when the penalty time was halved last, or good mode began */
    double saved;      /* packets that may be sent, below 0 when too many were */
    bool conditions_good;
};

/* Begins in bad mode with one packet to send at once. Errors, with nothing written:
   CW_ERROR_CONFIG_TIME, CW_ERROR_CONFIG_RATE. */
enum cw_error cw_congestion_init(struct cw_congestion *congestion,
                                 const struct cw_congestion_config *config, double now);

/* Lets time pass with the RTT as it is known now, in seconds; 0 while it is not known, which is
   neither good nor bad. Call it once per tick. A now before the latest one counts as that. */
void cw_congestion_update(struct cw_congestion *congestion, double rtt, double now);

/* How many packets may be sent now. */
uint32_t cw_congestion_allowance(struct cw_congestion *congestion, double now);

/* Tells that packets were sent. More than the allowance are made up for later, up to a burst. */
void cw_congestion_sent(struct cw_congestion *congestion, uint32_t packets);

CW_END_DECLARATIONS

#endif
