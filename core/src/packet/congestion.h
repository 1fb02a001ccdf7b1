/* Congestion control of one connection. Each mode has a source of its own. */
#ifndef CAUSEWAY_PACKET_CONGESTION_H
#define CAUSEWAY_PACKET_CONGESTION_H

#include "causeway/endpoint.h"

#include <stdbool.h>
#include <stdint.h>

/* The state of the mode BINARY. */
struct cw_congestion_binary {
    enum cw_congestion_state state;
    enum cw_congestion_reason reason; /* the reason for being in this state */
    double packets_per_second;        /* the rate that is allowed now */
    double penalty_seconds; /* the time for which good conditions must last to end the bad state */
    double rtt;             /* the RTT that was judged last */
    double good_since;      /* when the good state, or good conditions in the bad one, began */
    double halved;          /* when the penalty time was last halved, or the good state began */
    double saved;           /* packets that may be sent; below 0 when too many were sent */
    bool conditions_good;
};

#define CW_CONGESTION_ROUNDS 10 /* rounds in which a rate is remembered, as in BBR */

/* A round of the mode DELAY: it lasts from one tick to the tick that brings the ack of a packet
   sent after it. */
struct cw_congestion_round {
    bool began;    /* its last packet has been sent: `last` is known */
    bool over;     /* its last packet has been acked or lost */
    uint16_t last; /* when this packet is acked or lost, the round is over */
    uint32_t ticks,
        limited_ticks;  /* ticks in the round, and ticks in which packets were held back */
    uint32_t capped;    /* ticks in which the most packets of a tick were not enough */
    double start;       /* seconds */
    double idle;        /* when packets were last sent while none were in flight */
    double least;       /* the least RTT in the round */
    double acked, lost; /* bytes */
};

/* The end of a round: what had arrived until then, and how fast, in bytes and seconds. */
struct cw_congestion_mark {
    double time, delivered, rate;
};

/* The events since the latest update. */
struct cw_congestion_tick {
    double least, settled; /* the least RTT, and the bytes that were acked or lost */
    bool capped;           /* the most packets of a tick were not enough */
};

/* The state of the mode DELAY. */
struct cw_congestion_delay {
    double window, in_flight; /* in bytes */
    double budget;            /* bytes that pacing lets go in this tick */
    double target;            /* the length of queue to aim at, in seconds */
    double tick_seconds;      /* seconds between two ticks, as the latest update said */
    double trip;              /* the smoothed RTT of bulk data; 0: unknown */
    double base[2];           /* the least RTT, in this while and the one before */
    double turned;            /* when this while began */
    struct cw_congestion_mark
        marks[CW_CONGESTION_ROUNDS]; /* the ends of the latest rounds, a ring */
    double delivered;                /* bytes acked so far */
    double kept;                     /* the window before it was drained or cut */
    double rate_before;              /* the rate before the latest growth of the start */
    double expected; /* the round trip time after the latest cut, if the queue is ours */
    double counted_acked, counted_lost; /* packets, since counting began */
    double reported, late;              /* bytes reported lost, and those that arrived after all */
    double pace, bound; /* bytes per second that pacing lets go, and the most that losses allow */
    double sent;        /* when the latest packet was sent */
    double latest;      /* the rate of the latest round */
    double arrives;     /* the rate that arrived when losses were found */
    double loss;        /* the share of losses that is on trial */
    double tolerated;   /* the share of losses that is the path's own */
    double tolerated_until; /* until when that is known, seconds */
    double held_until;      /* until when losses keep the window from growing, seconds */
    double competed_until;  /* until when a queue is soon taken for that of others, seconds */
    uint32_t phase;
    uint32_t rounds;
    uint32_t count; /* ticks in a row with a long queue, in the start */
    uint32_t cuts;  /* cuts in a row that the queue did not follow */
    uint32_t empty; /* rounds in a row with next to no queue, or without growth in the start */
    uint32_t waits; /* rounds to be left out */
    struct cw_congestion_round round;
    struct cw_congestion_tick tick;
};

/* A plain value that may be copied. */
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

/* Returns whether the limit leaves blocks less than half of the window or of the pace: so many
   packets with fragments are in flight, the latest of which was sent at that time. */
bool cw_congestion_starves(const struct cw_congestion *congestion, enum cw_congestion_limit limit,
                           uint32_t fragments, double sent);

/* Reports that a packet waits because of that limit. */
void cw_congestion_held(struct cw_congestion *congestion, enum cw_congestion_limit limit);

/* Reports that a packet waits because its sender sends no more of them in a tick. */
void cw_congestion_capped(struct cw_congestion *congestion);

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

/* The length of queue that the mode DELAY aims at, in seconds, and whether it holds its own against
   other flows that keep the queue longer. */
double cw_congestion_target(const struct cw_congestion *congestion);
bool cw_congestion_competes(const struct cw_congestion *congestion);

/* The RTT above which the mode BINARY is bad, in seconds; 0 in the other modes. */
double cw_congestion_threshold(const struct cw_congestion *congestion);

/* Tells of the congestion control too, in the events of its ticks, as long as a record is set. */
struct cw_record;
void cw_record_set_congestion(struct cw_record *record, const struct cw_congestion *congestion);

/* The functions above choose among these by the mode. */

void cw_delay_init(struct cw_congestion *congestion);
void cw_delay_update(struct cw_congestion *congestion, double rtt, double tick_seconds, double now);
bool cw_delay_starves(const struct cw_congestion *congestion, bool paced, uint32_t fragments,
                      double sent);
bool cw_delay_goes_alone(const struct cw_congestion *congestion);
void cw_delay_sent(struct cw_congestion *congestion, uint16_t sequence, uint32_t bytes);
void cw_delay_acked(struct cw_congestion *congestion, uint16_t sequence, uint32_t bytes,
                    double sent, double now);
void cw_delay_arrived(struct cw_congestion *congestion, uint32_t bytes, double rtt);
void cw_delay_lost(struct cw_congestion *congestion, uint16_t sequence, uint32_t bytes, double now);

void cw_binary_init(struct cw_congestion *congestion);
void cw_binary_update(struct cw_congestion *congestion, double rtt, double now);
void cw_binary_sent(struct cw_congestion *congestion);
bool cw_binary_allows(const struct cw_congestion *congestion);

/* The time for which the good state has lasted, or good conditions in the bad one. */
double cw_binary_good_seconds(const struct cw_congestion *congestion);

#endif
