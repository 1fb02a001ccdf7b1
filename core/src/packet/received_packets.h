/* A record of the packets from the other end that have arrived. */
#ifndef CAUSEWAY_RECEIVED_PACKETS_H
#define CAUSEWAY_RECEIVED_PACKETS_H

#include "base/shared.h"
#include "packet/measure.h"

#include "base/sequence_buffer.h"

/* Packets that a header can ack: the newest and the 31 before it. */
#define CW_ACKS_PER_HEADER 32

/* A packet is lost when this many later ones have arrived. The mask has the three before the
   newest. */
#define CW_ACKS_THAT_TELL_LOSS 3
#define CW_ACKS_BEFORE_NEWEST  (((1u << CW_ACKS_THAT_TELL_LOSS) - 1) << 1)

struct cw_received_packets {
    struct cw_sequence_buffer window; /* stores only presence */
    uint32_t history; /* the ack_bits to send: bit k, packet newest - k has arrived */
    uint32_t counted; /* bit k: as far as we can tell, that packet was sent */
    uint32_t untold;  /* the number of newest packets that no header of ours has acked yet */
    uint64_t missed;  /* numbers that left the history without having arrived */
    double loss;      /* the recent share of such numbers */
};

void cw_received_packets_reset(struct cw_received_packets *received);

/* The newest packet seen; 0xFFFF before the first. */
CW_SHARED uint16_t cw_received_packets_newest(const struct cw_received_packets *received)
{
    return (uint16_t)(received->window.next - 1);
}

/* Counts numbers that left the history without having arrived. */
void cw_received_packets_miss(struct cw_received_packets *received, uint32_t numbers);

/* Advances to the next number, as nearly every packet does. */
CW_SHARED void cw_received_packets_step(struct cw_received_packets *received)
{
    const uint32_t oldest = 1u << (CW_ACKS_PER_HEADER - 1);
    if (received->counted & received->history & oldest)
        received->loss = cw_loss_sample(received->loss, false);
    else if (received->counted & oldest)
        cw_received_packets_miss(received, 1);
    received->history <<= 1;
    received->counted = received->counted << 1 | 1;
}

/* Advances to a number that is not the next one. */
void cw_received_packets_leap(struct cw_received_packets *received, uint16_t sequence);

/* Makes sequence, which is not stale, the newest packet seen, without marking it as arrived. Does
   nothing when a newer one was seen. */
CW_SHARED void cw_received_packets_advance(struct cw_received_packets *received, uint16_t sequence)
{
    if (sequence != received->window.next) {
        cw_received_packets_leap(received, sequence);
        return;
    }
    cw_received_packets_step(received);
    received->untold++;
    received->window.sequences[sequence & received->window.mask] = CW_SEQUENCE_EMPTY;
    received->window.next++;
}

/* Serves when more numbers are untold than a header can hold: gives the oldest of them that one
   header can hold, beginning with one that has arrived. */
uint16_t cw_received_packets_tell_oldest(struct cw_received_packets *received, uint32_t *bits);

/* Returns the acks in the header of our next packet: the newest number, and the bits. These are the
   newest packets seen or, with in_turn, the oldest that no header has acked yet. */
CW_SHARED uint16_t cw_received_packets_tell(struct cw_received_packets *received, bool in_turn,
                                            uint32_t *bits)
{
    if (in_turn && received->untold > CW_ACKS_PER_HEADER)
        return cw_received_packets_tell_oldest(received, bits);
    received->untold = 0;
    *bits = received->history;
    return cw_received_packets_newest(received);
}

/* Returns whether the other end waits for a header of ours, even if nothing else is to be sent. It
   does when there are as many numbers to tell as a header can hold, and when a packet that arrived
   just now follows on one that is missing: only a header tells that it was lost. */
CW_SHARED bool cw_received_packets_urgent(const struct cw_received_packets *received)
{
    const uint32_t missing = received->counted & ~received->history & CW_ACKS_BEFORE_NEWEST;
    return received->untold >= CW_ACKS_PER_HEADER || (received->untold > 0 && missing);
}

/* Gives up acking the numbers that the next header has no room for. */
CW_SHARED void cw_received_packets_pass_by(struct cw_received_packets *received)
{
    if (received->untold > CW_ACKS_PER_HEADER)
        received->untold = CW_ACKS_PER_HEADER;
}

/* Marks sequence, which is not stale or newer than the newest, as arrived. */
CW_SHARED void cw_received_packets_accept(struct cw_received_packets *received, uint16_t sequence)
{
    received->window.sequences[sequence & received->window.mask] = sequence;
    const uint16_t behind = (uint16_t)(received->window.next - 1 - sequence);
    if (behind < CW_ACKS_PER_HEADER)
        received->history |= 1u << behind;
}

#endif
