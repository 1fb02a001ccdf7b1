/* What becomes of the packets sent: pending, acked or lost, and how long the answer took. */
#ifndef CAUSEWAY_SENT_PACKETS_H
#define CAUSEWAY_SENT_PACKETS_H

#include "packet/measure.h"

#include "causeway/sequence_buffer.h"

enum cw_packet_fate { CW_PACKET_PENDING, CW_PACKET_LOST, CW_PACKET_ACKED };

struct cw_sent_packet {
    double time;
    uint32_t bytes; /* of all its datagrams */
    enum cw_packet_fate fate;
};

struct cw_sent_packets {
    struct cw_sequence_buffer window; /* of struct cw_sent_packet */
    uint16_t oldest_pending;          /* no older packet is still pending */
    uint32_t unseen;                  /* packets newer than the newest that they have seen */
    uint16_t header_ack;              /* what the newest header received acked, */
    uint32_t header_ack_bits;
    bool header_known;   /* as long as header_ack is in the window */
    bool header_arrived; /* since reset: the two above hold what the newest one had */

    /* Acked and lost packets that wait to be taken. Whatever becomes of the packets in the window,
       there is room to tell it. */
    uint32_t *events; /* the sequence, and CW_SENT_EVENT_LOST or not */
    uint32_t events_mask;
    uint32_t events_read;
    uint32_t events_written;
    uint32_t events_promised; /* at most this many more for the packets in the window */

    struct cw_silence silence; /* before the headers that arrive */
    struct cw_rtt rtt;
    uint32_t late_samples;  /* in a row */
    uint32_t short_samples; /* much shorter than the mean, in a row */
    uint16_t short_until;   /* they last for a round trip when this packet is acked */
    double short_most;      /* the longest of them */
    double rtt_smoothing;
    double min_loss_timeout_seconds;
    double loss_timeout;
    double loss; /* share of packets lost, of late */
    uint64_t acked;
    uint64_t lost;
    uint64_t bytes_acked;
};

#define CW_SENT_EVENT_LOST 0x10000u

/* Events per packet of the window that need room, a power of two. A packet has two at most: lost,
   and acked late. The rest lets the sender go on while some wait. */
#define CW_SENT_EVENTS_PER_PACKET 4

void cw_sent_packets_reset(struct cw_sent_packets *sent);

/* A packet more; its number was window.next. NULL when the events of earlier ones leave no room to
   tell its fate. */
struct cw_sent_packet *cw_sent_packets_add(struct cw_sent_packets *sent);

/* With packets that they have not seen: whether the latest was sent a round trip's parts-th ago, so
   that one now and others like it are that many in a round trip. This may take as long as the first
   of them has waited already. */
bool cw_sent_packets_spread(const struct cw_sent_packets *sent, uint32_t parts, double now);

/* Takes the acks of a header that arrived. prompt: no header of theirs is missing before this one,
   so that it acks its newest packet as soon as they could. */
void cw_sent_packets_take_acks(struct cw_sent_packets *sent, uint16_t ack, uint32_t ack_bits,
                               bool prompt, double now);

/* The next packet whose fate has not been told: its sequence, and CW_SENT_EVENT_LOST or not. False
   when there is none. */
static inline bool cw_sent_packets_next(struct cw_sent_packets *sent, uint32_t *fate)
{
    if (sent->events_read == sent->events_written)
        return false;
    *fate = sent->events[sent->events_read++ & sent->events_mask];
    return true;
}

/* Declares those lost whose time is up. */
void cw_sent_packets_update(struct cw_sent_packets *sent, double now);

#endif
