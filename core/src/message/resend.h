/* The times at which messages and fragments are due to be sent again. */
#ifndef CAUSEWAY_RESEND_H
#define CAUSEWAY_RESEND_H

#include "base/sequence.h"
#include "base/shared.h"

#include <stdbool.h>
#include <stdint.h>

/* The knowledge with which a connection makes a packet; the same for all of its channels. */
struct cw_timing {
    double now;          /* seconds */
    double round;        /* when this round of packets was opened */
    double last_arrival; /* when the other end's newest packet arrived, or should have; NaN before
                     the first */
    double answer; /* a packet of the other end that comes this long after ours should ack it */
    bool rare;     /* the other end's headers are so rare that they pass packets by */
    uint16_t oldest_reported; /* the oldest packet that its newest header can report */
    uint16_t newest_reported; /* the newest packet that this header reports */
    double repeat;            /* when anything older than oldest_reported is sent again */
    double patience;          /* the longest wait for an ack while the other end is silent */
    double loss;              /* the recent share of our packets that were lost */
    double known_loss;        /* the same, or the share over a longer time if that is larger */
    double paired_loss;       /* the chance that a packet beside a lost one is lost too */
    bool lossy;               /* more than a few packets are lost */
    bool bursts;              /* packets are lost several in a row */
    float interval;           /* the time between our rounds, smoothed; 0 before the second */
    double copy;              /* with bursts, the time from the original to its first copy */
    double copies;            /* with bursts, the time from one copy to the next */
    uint16_t packet;          /* the sequence number of the packet being made */
    bool early;               /* a block may begin before the one before it is acked */
    bool no_fragments;        /* the packet may not hold a fragment of a block, for now */
    bool only_oldest;         /* it holds only the oldest due message of a reliable channel */
    bool refused; /* the newest of our packets that the other end has seen was refused */
};

/* The share of lost packets above which anything that is sent again is followed by a copy. */
#define CW_LOSS_FOR_COPIES 0.04

enum cw_due {
    CW_NOT_DUE,
    CW_DUE_FIRST,
    CW_DUE_AGAIN,
    CW_DUE_COPY,          /* a copy of something that had to be sent again */
    CW_DUE_REDUNDANT_COPY /* a copy of something new */
};

/* The state of one thing that is sent until it is acked. All zero: never sent. */
struct cw_transmission {
    double time;     /* the time of the latest send */
    uint16_t packet; /* the packet that carried it then */
    uint8_t copies;  /* copies still to follow it */
    uint8_t repeats; /* the number of times that it was due again */
    bool sent;
    bool lost;   /* the packet was reported lost */
    bool again;  /* it was due again, not for the first time */
    bool copied; /* it was copied since then, or since the first time */
};

/* Returns whether a copy is due. Copies follow in the next packets. Where packets are lost several
   in a row, copies would be lost with them: there they are spread over the round trip, and those of
   something that was sent again go on until an ack arrives. */
CW_SHARED bool cw_transmission_copy_due(const struct cw_transmission *transmission,
                                        const struct cw_timing *timing)
{
    if (transmission->copies == 0 || !timing->bursts)
        return transmission->copies > 0;
    const double apart = transmission->copied ? timing->copies : timing->copy;
    return timing->now - transmission->time >= apart;
}

/* Decides whether it is sent again now that it should have been acked. Where the other end answers
   so rarely that a header cannot report all packets since the one before, most of the rest has
   arrived. A repeat at once would not be reported next time either, so it is sent shortly before
   the next header. */
CW_SHARED enum cw_due cw_transmission_repeat(const struct cw_transmission *transmission,
                                             const struct cw_timing *timing)
{
    const bool passed_by =
        timing->rare && cw_sequence_newer(timing->oldest_reported, transmission->packet);
    return passed_by && timing->now < timing->repeat ? CW_NOT_DUE : CW_DUE_AGAIN;
}

/* Decides what is due. If a packet of the other end arrives when the ack is due and does not bring
   it, then our packet or its ack was lost. While nothing arrives, nothing is known. Nothing is
   known either in the round in which ours was sent, unless it was reported lost. */
CW_SHARED enum cw_due cw_transmission_due(const struct cw_transmission *transmission,
                                          const struct cw_timing *timing)
{
    if (!transmission->sent)
        return CW_DUE_FIRST;
    if (transmission->lost)
        return cw_transmission_repeat(transmission, timing);
    if (transmission->time >= timing->round)
        return CW_NOT_DUE;
    if (timing->last_arrival - transmission->time >= timing->answer ||
        timing->now - transmission->time >= timing->patience)
        return cw_transmission_repeat(transmission, timing);
    if (!cw_transmission_copy_due(transmission, timing))
        return CW_NOT_DUE;
    return transmission->again ? CW_DUE_COPY : CW_DUE_REDUNDANT_COPY;
}

/* While there are other fragments to send, or few losses, a fragment waits this many times longer
   than a message before it is sent again, and a tick more: the queue on its path may be growing.
   One that was reported lost does not wait. */
#define CW_BULK_PATIENCE 1.5

/* Returns the timing for fragments that may wait. */
CW_SHARED struct cw_timing cw_patient_timing(const struct cw_timing *timing)
{
    struct cw_timing later = *timing;
    later.answer = CW_BULK_PATIENCE * timing->answer + (double)timing->interval;
    later.patience = CW_BULK_PATIENCE * timing->patience + (double)timing->interval;
    return later;
}

/* Returns the timing for fragments: with many losses, they do not wait. */
CW_SHARED struct cw_timing cw_bulk_timing(const struct cw_timing *timing)
{
    return timing->loss < CW_LOSS_FOR_COPIES ? cw_patient_timing(timing) : *timing;
}

/* Decides what is due of a fragment; patient is cw_bulk_timing's. A fragment has been overtaken
   when the other end reports a newer packet but not its own: then the next round is soon enough. */
CW_SHARED enum cw_due cw_fragment_due(const struct cw_transmission *transmission,
                                      const struct cw_timing *timing,
                                      const struct cw_timing *patient)
{
    const enum cw_due due = cw_transmission_due(transmission, patient);
    const bool overtaken = due == CW_NOT_DUE && transmission->time < timing->round &&
                           cw_sequence_newer(timing->newest_reported, transmission->packet) &&
                           timing->last_arrival > transmission->time &&
                           timing->now - transmission->time >= timing->answer;
    return overtaken ? cw_transmission_repeat(transmission, timing) : due;
}

/* After this many repeats in vain, losses need not be the cause. */
#define CW_MANY_REPEATS 8

/* Returns whether it is repeated in vain although the other end is heard. A single repeat is enough
   when the other end is seen to refuse packets. */
CW_SHARED bool cw_transmission_stalls(const struct cw_transmission *transmission,
                                      const struct cw_timing *timing)
{
    if (timing->refused && transmission->repeats > 0)
        return true;
    return transmission->repeats >= CW_MANY_REPEATS && timing->last_arrival > transmission->time &&
           cw_transmission_due(transmission, timing) == CW_DUE_AGAIN;
}

/* Returns a whole number for the packet being made, so that its mean over packets is `wanted`. The
   larger ones are spread evenly: the golden ratio times a number has an even fraction. */
CW_SHARED uint8_t cw_timing_whole(const struct cw_timing *timing, double wanted)
{
    const uint8_t whole = (uint8_t)wanted;
    return (uint8_t)(whole + ((uint16_t)(timing->packet * 40503u) < (wanted - whole) * 65536));
}

/* Notes that it goes into the packet being made, and that so many copies of it are to follow if it
   is new. Anything that had to be sent again holds up everything after it, and can get lost again
   just as easily. So it gets one copy. */
CW_SHARED void cw_transmission_send(struct cw_transmission *transmission, enum cw_due due,
                                    uint8_t copies, const struct cw_timing *timing)
{
    if (due == CW_DUE_FIRST) {
        transmission->copies = copies;
    } else if (due == CW_DUE_AGAIN) {
        transmission->copies = timing->loss > CW_LOSS_FOR_COPIES;
        transmission->again = true;
        if (transmission->repeats < CW_MANY_REPEATS)
            transmission->repeats++;
    } else if (!timing->bursts || !transmission->again) {
        transmission->copies--;
    }
    transmission->copied = due == CW_DUE_COPY || due == CW_DUE_REDUNDANT_COPY;
    transmission->time = timing->now;
    transmission->packet = timing->packet;
    transmission->sent = true;
    transmission->lost = false;
}

#endif
