/* The fate of the packets sent: pending, acked or lost, and how long the answer took. */
#ifndef CAUSEWAY_SENT_PACKETS_H
#define CAUSEWAY_SENT_PACKETS_H

#include "base/shared.h"
#include "packet/received_packets.h"

#include "base/sequence_buffer.h"

#include "causeway/bits.h"

enum cw_packet_fate { CW_PACKET_PENDING, CW_PACKET_LOST, CW_PACKET_ACKED };

struct cw_sent_packet {
    double time;
    uint32_t bytes; /* the bytes of all its datagrams */
    enum cw_packet_fate fate;
};

struct cw_sent_packets {
    struct cw_sequence_buffer window;
    struct cw_sent_packet *packets; /* one for each slot of the window */
    uint16_t oldest_pending;        /* no older packet is still pending */
    uint32_t unseen;     /* packets newer than the newest one that the other end has seen */
    uint16_t header_ack; /* the acks of the newest received header */
    uint32_t header_ack_bits;
    bool header_known;   /* true as long as header_ack is in the window */
    bool header_arrived; /* a header has arrived since reset: the two above are those of the newest
                            one */

    /* Acked and lost packets that wait to be taken. There is always room to report the fate of
       every packet in the window. */
    uint32_t *events; /* the sequence, and CW_SENT_EVENT_LOST or not */
    uint32_t events_mask;
    uint32_t events_read;
    uint32_t events_written;
    uint32_t events_promised; /* the most events still to come for the packets in the window */

    struct cw_silence silence; /* the silences before the headers that arrive */
    struct cw_rtt rtt;
    uint32_t late_samples;  /* late samples in a row */
    uint32_t short_samples; /* samples in a row that are much shorter than the mean */
    uint16_t short_until; /* short samples have lasted for a round trip when this packet is acked */
    double short_most;    /* the longest of the short samples */
    double rtt_smoothing;
    double min_loss_timeout_seconds;
    double loss_timeout;
    bool patient; /* nothing is lost before a header could tell of it; set once by the owner */
    double loss;  /* the recent share of packets lost */
    double lasting_loss; /* the share over a longer time */
    double paired_loss;  /* the recent share of losses next to another */
    uint64_t acked;
    uint64_t lost;
    uint64_t bytes_acked;
};

#define CW_SENT_EVENT_LOST 0x10000u

/* The events for which there is room per packet of the window, a power of two. A packet has at most
   two: lost, then acked late. The rest lets the sender go on while some wait. */
#define CW_SENT_EVENTS_PER_PACKET 4

void cw_sent_packets_reset(struct cw_sent_packets *sent);

/* The rarer parts of what the functions below do. */

/* Lowers the mean when for a whole round trip no sample was nearly as long: the longest of these
   samples replaces it, because the mean would forget an outage only slowly. This sample is short.
 */
void cw_sent_packets_follow_down(struct cw_sent_packets *sent, uint16_t sequence, double sample);

/* Takes new acks other than that of the newest packet. */
void cw_sent_packets_take_older(struct cw_sent_packets *sent, uint16_t ack, uint32_t new_acks);

/* Counts a packet that was lost as not lost: its ack came late. */
void cw_sent_packets_found(struct cw_sent_packets *sent);

/* Finds the packets that are lost because later ones are acked. */
void cw_sent_packets_find_lost(struct cw_sent_packets *sent);

/* Settles the packet that leaves the window, which is not acked. */
void cw_sent_packets_let_leave(struct cw_sent_packets *sent, uint16_t sequence);

/* Declares lost what has been pending for longer than the timeout. */
void cw_sent_packets_give_up(struct cw_sent_packets *sent, double timeout, double now);

/* The most seconds between packets of an end that waits for acks, however long the other end is
   silent. */
#define CW_LONGEST_INTERVAL 5.0

/* Serves when the other end has not seen some packets: returns whether it is time for the next one,
   so that `parts` packets are spread over a round trip. The round trip may be as long as the oldest
   of them has waited already; but no packet waits longer than 5 seconds, so that an end which hears
   nothing finds soon that the path is good again. */
bool cw_sent_packets_spread(const struct cw_sent_packets *sent, uint32_t parts, double now);

/* The next packet whose fate has not been told: its sequence, and CW_SENT_EVENT_LOST or not.
   Returns false when there is none. */
CW_SHARED bool cw_sent_packets_next(struct cw_sent_packets *sent, uint32_t *fate)
{
    if (sent->events_read == sent->events_written)
        return false;
    *fate = sent->events[sent->events_read++ & sent->events_mask];
    return true;
}

/* The parts that every packet costs. Their bodies stand here, so that they cost no calls. */

#define CW_EVENTS_AT_MOST       2           /* the most events of one packet */
#define CW_LATE_SAMPLES_REFUSED 16          /* one late sample in this many counts */
#define CW_LASTING_WEIGHT       (1.0 / 768) /* weight of a packet in lasting_loss */
#define CW_SHORT_SAMPLE         1.5 /* a short sample is at least this many times shorter than the mean */

/* Returns a packet that is in the window. oldest_pending is in it unless it is next, because
   packets that leave the window are settled first. */
CW_SHARED struct cw_sent_packet *cw_sent_packets_at(const struct cw_sent_packets *sent,
                                                    uint16_t sequence)
{
    return &sent->packets[sequence & sent->window.mask];
}

/* Returns the packet, or NULL when it is not in the window. */
CW_SHARED struct cw_sent_packet *cw_sent_packets_find(const struct cw_sent_packets *sent,
                                                      uint16_t sequence)
{
    return cw_sequence_buffer_exists(&sent->window, sequence) ? cw_sent_packets_at(sent, sequence)
                                                              : NULL;
}

CW_SHARED void cw_sent_packets_push_event(struct cw_sent_packets *sent, uint32_t event)
{
    sent->events[sent->events_written++ & sent->events_mask] = event;
    sent->events_promised--;
}

CW_SHARED void cw_sent_packets_skip_settled(struct cw_sent_packets *sent)
{
    while (sent->oldest_pending != sent->window.next &&
           cw_sent_packets_at(sent, sent->oldest_pending)->fate != CW_PACKET_PENDING)
        sent->oldest_pending++;
}

/* Takes a sample of the RTT. When a header of the other end was lost, the next one reports late
   what the lost one would have reported. Such a sample counts only where others are rare. A header
   that arrives after an unusual silence may have waited for all of it: its sample says only that
   the RTT is not shorter than the rest. */
CW_SHARED void cw_sent_packets_take_sample(struct cw_sent_packets *sent, uint16_t sequence,
                                           double sample, bool prompt)
{
    struct cw_rtt *rtt = &sent->rtt;
    const double excess = sent->silence.excess;
    if (!prompt && rtt->sampled && ++sent->late_samples < CW_LATE_SAMPLES_REFUSED)
        return;
    sent->late_samples = 0;
    if (excess > 0 && sample > rtt->smoothed && rtt->sampled) {
        sample -= excess;
        if (sample <= rtt->smoothed)
            return;
    }
    cw_rtt_sample(rtt, sample, sent->rtt_smoothing);
    if (sample * CW_SHORT_SAMPLE > rtt->smoothed)
        sent->short_samples = 0;
    else
        cw_sent_packets_follow_down(sent, sequence, sample);
    sent->loss_timeout = cw_rtt_timeout(rtt, sent->min_loss_timeout_seconds);
}

/* Notes that a packet, which was not acked before, is acked. */
CW_SHARED void cw_sent_packets_settle(struct cw_sent_packets *sent, uint16_t sequence,
                                      struct cw_sent_packet *packet)
{
    if (packet->fate == CW_PACKET_LOST) {
        cw_sent_packets_found(sent);
    } else {
        sent->events_promised--; /* it will not be reported lost any more */
        sent->loss = cw_loss_sample(sent->loss, false);
        sent->lasting_loss -= sent->lasting_loss * CW_LASTING_WEIGHT;
    }
    packet->fate = CW_PACKET_ACKED;
    cw_sent_packets_push_event(sent, sequence);
    sent->acked++;
    sent->bytes_acked += packet->bytes;
}

/* Returns the acks that the headers before this one have not told, and notes this one when it is
   the newest. A header repeats most of the acks of the one before. These are left out, so that only
   new ones cost work, and so that, when nothing of ours has arrived for a whole lap of the numbers,
   old acks do not count for the packets that have these numbers now. */
CW_SHARED uint32_t cw_sent_packets_new_acks(struct cw_sent_packets *sent, uint16_t ack,
                                            uint32_t ack_bits)
{
    uint32_t known = 0;
    bool is_newer = true;
    if (sent->header_arrived) {
        const int ahead = cw_sequence_difference(ack, sent->header_ack);
        if (ahead >= 0 && ahead < CW_ACKS_PER_HEADER)
            known = sent->header_ack_bits << ahead;
        else if (ahead < 0 && ahead > -CW_ACKS_PER_HEADER)
            known = sent->header_ack_bits >> -ahead;
        is_newer = ahead >= 0 || !sent->header_known;
    }
    if (is_newer) {
        sent->header_ack = ack;
        sent->header_ack_bits = ack_bits | known;
        sent->header_known = sent->header_arrived = true;
        sent->unseen = (uint16_t)(sent->window.next - 1 - ack);
    }
    return ack_bits & ~known;
}

/* Takes the acks of a header that arrived. prompt says that none of the other end's headers before
   this one is missing, so that it acks its newest packet as early as possible. */
CW_SHARED void cw_sent_packets_take_acks(struct cw_sent_packets *sent, uint16_t ack,
                                         uint32_t ack_bits, bool prompt, double now)
{
    if (!cw_sequence_buffer_exists(&sent->window, ack))
        return;
    const uint32_t new_acks = cw_sent_packets_new_acks(sent, ack, ack_bits);
    if (!new_acks)
        return;
    struct cw_sent_packet *newest = cw_sent_packets_at(sent, ack);
    if (new_acks & 1 && newest->fate != CW_PACKET_ACKED) {
        cw_sent_packets_settle(sent, ack, newest);
        cw_sent_packets_take_sample(sent, ack, now - newest->time, prompt);
    }
    if (new_acks & ~(uint32_t)1)
        cw_sent_packets_take_older(sent, ack, new_acks);
    cw_sent_packets_skip_settled(sent);
    if (cw_sequence_difference(sent->header_ack, sent->oldest_pending) > 0)
        cw_sent_packets_find_lost(sent);
}

/* Returns whether a packet leaves the window, when one more is sent, before its fate is settled for
   good. */
CW_SHARED bool cw_sent_packets_leaving(const struct cw_sent_packets *sent)
{
    const uint16_t leaving = (uint16_t)(sent->window.next - (sent->window.mask + 1));
    return cw_sequence_buffer_exists(&sent->window, leaving) &&
           cw_sent_packets_at(sent, leaving)->fate != CW_PACKET_ACKED;
}

/* Returns whether the events of earlier packets leave room to report the fate of one more. The
   packet that leaves needs room for one event less: its ack comes too late. */
CW_SHARED bool cw_sent_packets_have_room(const struct cw_sent_packets *sent)
{
    const uint32_t waiting = sent->events_written - sent->events_read;
    const uint32_t needed = waiting + sent->events_promised + CW_EVENTS_AT_MOST;
    const uint32_t room = sent->events_mask + 1;
    return needed <= room || (needed == room + 1 && cw_sent_packets_leaving(sent));
}

/* Adds a packet, whose number was window.next. There must be room. */
CW_SHARED struct cw_sent_packet *cw_sent_packets_add(struct cw_sent_packets *sent)
{
    const uint16_t leaving = (uint16_t)(sent->window.next - (sent->window.mask + 1));
    if (cw_sent_packets_leaving(sent))
        cw_sent_packets_let_leave(sent, leaving);
    if (sent->header_ack == leaving)
        sent->header_known = false;
    sent->window.sequences[leaving & sent->window.mask] = sent->window.next;
    struct cw_sent_packet *packet = cw_sent_packets_at(sent, sent->window.next++);
    packet->bytes = 0;
    packet->fate = CW_PACKET_PENDING;
    sent->events_promised += CW_EVENTS_AT_MOST;
    sent->unseen++;
    return packet;
}

/* Declares overdue packets lost: those that were not acked in time nor, if patient, in the other
   end's next packet, which may be long in coming, and longer while the other end is idle. */
CW_SHARED void cw_sent_packets_update(struct cw_sent_packets *sent, double now)
{
    if (sent->oldest_pending == sent->window.next)
        return;
    double timeout = sent->loss_timeout;
    if (sent->patient) {
        double longer = sent->rtt.smoothed + sent->silence.idle + CW_SILENCES * sent->silence.usual;
        if (longer > CW_LONGEST_TIMEOUT)
            longer = CW_LONGEST_TIMEOUT;
        if (timeout < longer)
            timeout = longer;
    }
    if (now - cw_sent_packets_at(sent, sent->oldest_pending)->time >= timeout)
        cw_sent_packets_give_up(sent, timeout, now);
}

#endif
