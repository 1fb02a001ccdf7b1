/* How many packets per second to send on a path. There are two modes, good and bad, chosen by the
   round trip time (RTT). A connection begins in bad mode. It goes to good mode when the RTT has
   stayed at or below the threshold for the penalty time. It goes back to bad mode as soon as the
   RTT is above the threshold. The penalty time doubles when good mode ends early, and halves again
   while good mode lasts. */
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
    double bad_packets_per_second; /* allowed in bad mode, above 0, at most good_packets_per_second;
                                      default 10 */
    double penalty_seconds;        /* the first penalty time, from min_penalty_seconds to
                                      max_penalty_seconds; default 4 */
    double min_penalty_seconds;    /* the shortest penalty time, 0 or more; default 1 */
    double max_penalty_seconds;    /* the longest penalty time, not below penalty_seconds; default
                                      60 */
    double good_period_seconds;    /* if good mode ends sooner than this, the penalty time doubles;
                                      each time it lasts this long, the penalty time halves; above
                                      0; default 10 */
    double burst_seconds; /* unused allowance of up to this time, plus one packet, may be used
                             later, 0 to 60; a caller that sends less often than this gets less than
                             the rate; default 0.1 */
};

struct cw_congestion_config cw_congestion_config_default(void);

enum cw_congestion_mode { CW_CONGESTION_BAD, CW_CONGESTION_GOOD };

enum cw_congestion_reason {
    CW_CONGESTION_NO_RTT = 0, /* bad: there is no RTT yet */
    CW_CONGESTION_HIGH_RTT,   /* bad: the RTT is above the threshold */
    CW_CONGESTION_PENALTY,    /* bad: the RTT is good, but not yet for the penalty time */
    CW_CONGESTION_RECOVERED   /* good: the RTT has been good for the penalty time and since */
};

/* A plain value that you may copy and keep anywhere. You may read the first four fields; the others
   are private. */
struct cw_congestion {
    enum cw_congestion_mode mode;
    enum cw_congestion_reason reason; /* for being in this mode */
    double packets_per_second;        /* allowed now */
    double penalty_seconds;           /* how long bad mode waits for good conditions to last */

    struct cw_congestion_config config;
    double now;        /* latest time given */
    double good_since; /* when good mode, or good conditions in bad mode, began */
    double halved;     /* when the penalty time was last halved, or good mode began */
    double saved;      /* packets that may be sent; below 0 when too many were sent */
    bool conditions_good;
};

/* Begins in bad mode, with one packet that may be sent at once. Errors, with nothing written:
   CW_ERROR_CONFIG_TIME, CW_ERROR_CONFIG_RATE. */
enum cw_error cw_congestion_init(struct cw_congestion *congestion,
                                 const struct cw_congestion_config *config, double now);

/* Lets time pass. rtt is the current RTT in seconds; 0 means that it is not known yet, which is
   neither good nor bad. Call it once per tick. If now is before the latest time given, the latest
   time is used. */
void cw_congestion_update(struct cw_congestion *congestion, double rtt, double now);

/* How many packets may be sent now. */
uint32_t cw_congestion_allowance(struct cw_congestion *congestion, double now);

/* Reports that packets were sent. Packets beyond the allowance are subtracted from later
   allowances, up to one burst. */
void cw_congestion_sent(struct cw_congestion *congestion, uint32_t packets);

CW_END_DECLARATIONS

#endif
