/* Congestion control: decides how much a connection may send on a path. There are three modes.

   CW_CONGESTION_DELAY keeps the queue of the slowest link short. It allows as many bytes of bulk
   data in flight as a window holds. The window grows while packets come back about as fast as on an
   empty path, and shrinks when they take longer. It is never much longer than what arrives in a
   round trip. Losses make it smaller, unless a trial shows that sending less does not end them,
   because many paths lose packets without being full. Small messages are not bulk data: they are
   always allowed. Blocks and large messages are.

   CW_CONGESTION_BINARY sends at one of two rates, good and bad, chosen by the round trip time
   (RTT). It begins in the bad state. It goes to the good state when the RTT has stayed at or below
   the threshold for the penalty time. It goes back to the bad state as soon as the RTT is above the
   threshold. The penalty time doubles when the good state ends early, and halves again while it
   lasts.

   CW_CONGESTION_NONE allows everything. */
#ifndef CAUSEWAY_CONGESTION_H
#define CAUSEWAY_CONGESTION_H

#include "causeway/base.h"
#include "causeway/error.h"

CW_BEGIN_DECLARATIONS

enum cw_congestion_mode { CW_CONGESTION_NONE, CW_CONGESTION_DELAY, CW_CONGESTION_BINARY };

struct cw_congestion_config {
    enum cw_congestion_mode mode; /* default CW_CONGESTION_DELAY */

    /* DELAY */
    double target_seconds; /* the longest that the queue may be, above 0; default 0.03. Where the
                              ends tick so rarely that they cannot tell a queue of that length, it
                              may be longer */

    /* BINARY */
    double rtt_threshold_seconds;   /* a longer RTT is bad, above 0; default 0.25 */
    double good_packets_per_second; /* allowed in the good state, at most 1,000,000; default 30 */
    double bad_packets_per_second;  /* allowed in the bad state, above 0, at most
                                       good_packets_per_second; default 10 */
    double penalty_seconds;         /* the first penalty time, from min_penalty_seconds to
                                       max_penalty_seconds; default 4 */
    double min_penalty_seconds;     /* the shortest penalty time, 0 or more; default 1 */
    double max_penalty_seconds;     /* the longest penalty time, not below penalty_seconds; default
                                       60 */
    double good_period_seconds;     /* if the good state ends sooner than this, the penalty time
                                       doubles; each time it lasts this long, the penalty time halves;
                                       above 0; default 10 */
    double burst_seconds; /* unused allowance of up to this time, plus one packet, may be used
                             later, 0 to 60; a caller that sends less often than this gets less than
                             the rate; default 0.1 */
};

struct cw_congestion_config cw_congestion_config_default(void);

/* The limit that holds packets back. */
enum cw_congestion_limit {
    CW_CONGESTION_LIMIT_NONE = 0, /* everything that was due has been sent */
    CW_CONGESTION_LIMIT_WINDOW,   /* DELAY: the window is full */
    CW_CONGESTION_LIMIT_PACING,   /* DELAY: the next tick may send more; bursts fill queues */
    CW_CONGESTION_LIMIT_RATE      /* BINARY: the rate of the state */
};

enum cw_congestion_state { CW_CONGESTION_BAD, CW_CONGESTION_GOOD };

enum cw_congestion_reason {
    CW_CONGESTION_NO_RTT = 0, /* bad: there is no RTT yet */
    CW_CONGESTION_HIGH_RTT,   /* bad: the RTT is above the threshold */
    CW_CONGESTION_PENALTY,    /* bad: the RTT is good, but not yet for the penalty time */
    CW_CONGESTION_RECOVERED   /* good: the RTT has been good for the penalty time and since */
};

CW_END_DECLARATIONS

#endif
