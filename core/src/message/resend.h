/* When something that was sent is due to be sent again. */
#ifndef CAUSEWAY_RESEND_H
#define CAUSEWAY_RESEND_H

#include "causeway/sequence.h"

#include <stdbool.h>
#include <stdint.h>

/* What a connection knows when it makes a packet; the same for all of its channels. */
struct cw_timing {
    double now;      /* seconds */
    double round;    /* when this round of packets was opened */
    double heard;    /* when the newest packet of theirs arrived, or should have arrived; NaN before
                        the first */
    double answer;   /* a packet of theirs that comes this long after ours should ack it */
    bool rare;       /* their headers come so rarely that they pass packets by */
    uint16_t tells;  /* the oldest packet that the newest one of them can tell of */
    uint16_t told;   /* the newest packet that it tells of */
    double repeat;   /* when what is older than that is sent again */
    double patience; /* how long to wait for an ack while nothing comes from them */
    double loss;     /* recent share of our packets that were lost */
    bool redundant;  /* new messages are to be followed by copies */
    bool bursts;     /* packets are lost several in a row */
    float interval;  /* between our rounds, smoothed; 0 before the second */
    double copy;     /* with bursts, the first copy leaves so long after what it copies */
    double copies;   /* and each further one so long after the one before */
    uint16_t packet; /* sequence number of the packet being made */
    bool early;      /* a block may begin before the one before it is acked */
    bool no_fragments; /* it may not hold a fragment of a block, now at least */
    bool
        only_oldest; /* of a reliable channel it holds nothing but the oldest message that is due */
    bool refused;    /* the newest of our packets that they have seen was refused */
};

/* When a larger share of packets than this is lost, anything that had to be sent again is followed
   by a copy. */
#define CW_LOSS_FOR_COPIES 0.04

enum cw_due {
    CW_NOT_DUE,
    CW_DUE_FIRST,
    CW_DUE_AGAIN,
    CW_DUE_COPY,          /* of something that had to be sent again */
    CW_DUE_REDUNDANT_COPY /* of something new */
};

/* The state of one thing that is sent until it is acked. All zero: never sent. */
struct cw_transmission {
    double time;     /* of the latest send */
    uint16_t packet; /* that carried it then */
    uint8_t copies;  /* copies still to follow it */
    uint8_t repeats; /* how often it was due again */
    bool sent;
    bool lost;   /* that packet was reported lost */
    bool again;  /* it was due again, not for the first time */
    bool copied; /* since then, or since the first time */
};

/* Copies follow in the next packets. Where packets are lost several in a row, copies would be lost
   with them: there they are spread over the round trip, and go on until an ack arrives. */
static inline bool cw_transmission_copy_due(const struct cw_transmission *transmission,
                                            const struct cw_timing *timing)
{
    if (transmission->copies == 0 || !timing->bursts)
        return transmission->copies > 0;
    const double apart = transmission->copied ? timing->copies : timing->copy;
    return timing->now - transmission->time >= apart;
}

/* Whether it is sent again now that it should have been acked. Where they answer so rarely that a
   header cannot tell of all packets since the one before, most of the rest has arrived, and would
   not be told of next time if it were repeated at once: it is repeated shortly before. */
static inline enum cw_due cw_transmission_repeat(const struct cw_transmission *transmission,
                                                 const struct cw_timing *timing)
{
    const bool passed_by = timing->rare && cw_sequence_newer(timing->tells, transmission->packet);
    return passed_by && timing->now < timing->repeat ? CW_NOT_DUE : CW_DUE_AGAIN;
}

/* If a packet of theirs arrives when the ack is due and does not bring it, then our packet or its
   ack was lost. While nothing arrives from them, nothing is known. Nothing is known either in the
   round in which ours was sent, unless it was reported lost. */
static inline enum cw_due cw_transmission_due(const struct cw_transmission *transmission,
                                              const struct cw_timing *timing)
{
    if (!transmission->sent)
        return CW_DUE_FIRST;
    if (transmission->lost)
        return cw_transmission_repeat(transmission, timing);
    if (transmission->time >= timing->round)
        return CW_NOT_DUE;
    if (timing->heard - transmission->time >= timing->answer ||
        timing->now - transmission->time >= timing->patience)
        return cw_transmission_repeat(transmission, timing);
    if (!cw_transmission_copy_due(transmission, timing))
        return CW_NOT_DUE;
    return transmission->again ? CW_DUE_COPY : CW_DUE_REDUNDANT_COPY;
}

/* So many repeats in vain may have another cause than losses, */
#define CW_MANY_REPEATS 8

/* if they are heard. A single one is enough when they are seen to refuse packets. */
static inline bool cw_transmission_stalls(const struct cw_transmission *transmission,
                                          const struct cw_timing *timing)
{
    if (timing->refused && transmission->repeats > 0)
        return true;
    return transmission->repeats >= CW_MANY_REPEATS && timing->heard > transmission->time &&
           cw_transmission_due(transmission, timing) == CW_DUE_AGAIN;
}

/* Notes that it goes into the packet being made. Anything that had to be sent again holds up
   everything after it, and can get lost again just as easily. So it gets one copy, or more if the
   caller sends more copies of new messages. */
static inline void cw_transmission_send(struct cw_transmission *transmission, enum cw_due due,
                                        uint32_t redundancy, const struct cw_timing *timing)
{
    if (due == CW_DUE_FIRST) {
        transmission->copies = timing->redundant ? (uint8_t)redundancy : 0;
    } else if (due == CW_DUE_AGAIN) {
        transmission->copies = timing->loss > CW_LOSS_FOR_COPIES;
        if (transmission->copies < redundancy)
            transmission->copies = (uint8_t)redundancy;
        transmission->again = true;
        if (transmission->repeats < CW_MANY_REPEATS)
            transmission->repeats++;
    } else if (!timing->bursts) {
        transmission->copies--;
    }
    transmission->copied = due == CW_DUE_COPY || due == CW_DUE_REDUNDANT_COPY;
    transmission->time = timing->now;
    transmission->packet = timing->packet;
    transmission->sent = true;
    transmission->lost = false;
}

#endif
