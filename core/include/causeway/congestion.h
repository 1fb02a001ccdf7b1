/* Congestion control: decides how much a connection may send on a path. There are three modes.

   CW_CONGESTION_DELAY keeps the queue of the slowest link short. It allows as many bytes of bulk
   data in flight as a window holds. The window grows while packets come back about as fast as on an
   empty path, and shrinks when they take longer. Losses alone make it smaller only when a trial
   shows that this costs no speed, because many paths lose packets without being full. Small
   messages are not bulk data: they are always allowed.

   CW_CONGESTION_BINARY sends at one of two rates, good and bad, chosen by the round trip time
   (RTT). It begins in the bad state. It goes to the good state when the RTT has stayed at or below
   the threshold for the penalty time. It goes back to the bad state as soon as the RTT is above the
   threshold. The penalty time doubles when the good state ends early, and halves again while it
   lasts.

   CW_CONGESTION_NONE allows everything. */
#ifndef CAUSEWAY_CONGESTION_H
#define CAUSEWAY_CONGESTION_H

#include "causeway/error.h"
#include "causeway/linkage.h"

#include <stdbool.h>
#include <stdint.h>

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

/* The state of the mode BINARY. You may read the first four fields; the others are private. */
struct cw_congestion_binary {
    enum cw_congestion_state state;
    enum cw_congestion_reason reason; /* the reason for being in this state */
    double packets_per_second;        /* the rate that is allowed now */
    double penalty_seconds; /* the time for which good conditions must last to end the bad state */
    double good_since;      /* when the good state, or good conditions in the bad one, began */
    double halved;          /* when the penalty time was last halved, or the good state began */
    double saved;           /* packets that may be sent; below 0 when too many were sent */
    bool conditions_good;
};

/* A round of the mode DELAY: it lasts from one packet to the ack of the first one sent after its
   ack. */
struct cw_congestion_round {
    bool began;           /* its last packet has been sent: `last` is known */
    uint16_t last;        /* when this packet is acked or lost, the round is over */
    uint32_t ticks, held; /* ticks in the round, and ticks in which packets were held back */
    double start;         /* seconds */
    double least;         /* the least RTT in the round */
    double acked, lost;   /* bytes */
};

/* The private part of the mode DELAY. */
struct cw_congestion_delay {
    double window, in_flight; /* in bytes */
    double budget;            /* bytes that pacing lets go in this tick */
    double target;            /* the length of queue to aim at, in seconds */
    double least;             /* the least RTT since the latest update; infinite without any */
    double base[2], best[2];  /* the least RTT and best rate, in this while and the one before */
    double turned;            /* when this while began */
    double kept;              /* the window before it was drained or cut for a trial; else 0 */
    double rate_before;       /* the rate before the trial */
    double first_queue;
    double tolerated;       /* the share of losses that cost speed when they were heeded */
    double tolerated_until; /* seconds */
    uint32_t phase;
    uint32_t count; /* rounds or ticks, as the phase counts them */
    uint32_t cuts;  /* cuts in a row */
    uint32_t empty; /* rounds in a row with next to no queue */
    struct cw_congestion_round round;
};

/* A plain value that you may copy and keep anywhere. You may read the first three fields; the
   others are private. */
struct cw_congestion {
    enum cw_congestion_mode mode;
    enum cw_congestion_limit limited; /* the limit that held packets before the latest update */
    enum cw_congestion_limit limit;   /* the limit that has held packets since then */

    struct cw_congestion_config config;
    double now; /* the latest time given */
    struct cw_congestion_binary binary;
    struct cw_congestion_delay delay;
};

/* BINARY begins in the bad state, with one packet that may be sent at once. Error, with nothing
   written: that of a field. */
enum cw_error cw_congestion_init(struct cw_congestion *congestion,
                                 const struct cw_congestion_config *config, double now);

/* Lets time pass; call it once per tick. rtt is the current RTT in seconds; 0 means that it is not
   known yet. tick_seconds is the time between two ticks, of this end or the other, whichever is
   longer: no RTT can be measured more exactly than that. If now is before the latest time given,
   the latest time is used. */
void cw_congestion_update(struct cw_congestion *congestion, double rtt, double tick_seconds,
                          double now);

/* CW_CONGESTION_LIMIT_NONE when one more packet may be sent now, else what forbids it. bulk says
   that the packet can wait. */
enum cw_congestion_limit cw_congestion_limit(const struct cw_congestion *congestion, bool bulk);

/* Reports that a packet waits because of that limit. */
void cw_congestion_held(struct cw_congestion *congestion, enum cw_congestion_limit limit);

/* Reports that a packet was sent: its sequence number and its size in bytes. In the mode BINARY,
   packets beyond what is allowed are subtracted from what is allowed later, up to one burst. */
void cw_congestion_sent(struct cw_congestion *congestion, bool bulk, uint16_t sequence,
                        uint32_t bytes);

/* Reports once what became of a bulk packet: acked at the time now, or lost. sent is the time at
   which it was sent, in seconds. */
void cw_congestion_acked(struct cw_congestion *congestion, uint16_t sequence, uint32_t bytes,
                         double sent, double now);
void cw_congestion_lost(struct cw_congestion *congestion, uint16_t sequence, uint32_t bytes,
                        double now);

/* Reports that a packet that was reported lost has arrived after all. */
void cw_congestion_arrived(struct cw_congestion *congestion, uint32_t bytes, double sent,
                           double now);

/* Bytes of bulk data that may be in flight, and that are in flight now. Both are 0 in the other
   modes. */
double cw_congestion_window(const struct cw_congestion *congestion);
double cw_congestion_in_flight(const struct cw_congestion *congestion);

CW_END_DECLARATIONS

#endif
