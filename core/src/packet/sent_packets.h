/* The fate of the packets sent: pending, acked or lost, and how long the answer took. */
#ifndef CAUSEWAY_SENT_PACKETS_H
#define CAUSEWAY_SENT_PACKETS_H

#include "packet/measure.h"

#include "base/sequence_buffer.h"

enum cw_packet_fate { CW_PACKET_PENDING, CW_PACKET_LOST, CW_PACKET_ACKED };

struct cw_sent_packet {
    double time;
    uint32_t bytes; /* the bytes of all its datagrams */
    enum cw_packet_fate fate;
};

struct cw_sent_packets {
    struct cw_sequence_buffer window; /* holds struct cw_sent_packet */
    uint16_t oldest_pending;          /* no older packet is still pending */
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

/* Returns whether the events of earlier packets leave room to report the fate of one more. */
bool cw_sent_packets_have_room(const struct cw_sent_packets *sent);

/* Adds a packet, whose number was window.next. Returns NULL when there is no room. */
struct cw_sent_packet *cw_sent_packets_add(struct cw_sent_packets *sent);

/* The most seconds between packets of an end that waits for acks, however long the other end is
   silent. */
#define CW_LONGEST_INTERVAL 5.0

/* Serves when the other end has not seen some packets: returns whether it is time for the next one,
   so that `parts` packets are spread over a round trip. The round trip may be as long as the oldest
   of them has waited already; but no packet waits longer than 5 seconds, so that an end which hears
   nothing finds soon that the path is good again. */
bool cw_sent_packets_spread(const struct cw_sent_packets *sent, uint32_t parts, double now);

/* Takes the acks of a header that arrived. prompt says that none of the other end's headers before
   this one is missing, so that it acks its newest packet as early as possible. */
void cw_sent_packets_take_acks(struct cw_sent_packets *sent, uint16_t ack, uint32_t ack_bits,
                               bool prompt, double now);

/* The next packet whose fate has not been told: its sequence, and CW_SENT_EVENT_LOST or not.
   Returns false when there is none. */
static inline bool cw_sent_packets_next(struct cw_sent_packets *sent, uint32_t *fate)
{
    if (sent->events_read == sent->events_written)
        return false;
    *fate = sent->events[sent->events_read++ & sent->events_mask];
    return true;
}

/* Declares overdue packets lost: those that were not acked in time nor, if patient, in the other
   end's next packet. */
void cw_sent_packets_update(struct cw_sent_packets *sent, double now);

#endif
