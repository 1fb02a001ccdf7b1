/* Which packets of the other end have arrived. */
#ifndef CAUSEWAY_RECEIVED_PACKETS_H
#define CAUSEWAY_RECEIVED_PACKETS_H

#include "causeway/sequence_buffer.h"

/* Packets that a header can ack: the newest and the 31 before it. */
#define CW_ACKS_PER_HEADER 32

struct cw_received_packets {
    struct cw_sequence_buffer window; /* presence only */
    uint32_t history; /* the ack_bits to send: bit k, packet newest - k has arrived */
    uint32_t counted; /* bit k: that packet was sent at all, as far as we can tell */
    uint32_t untold;  /* so many of the newest numbers were in the acks of no header of ours */
    uint64_t missed;  /* numbers that left the history without having arrived */
    double loss;      /* share of those, of late */
};

void cw_received_packets_reset(struct cw_received_packets *received);

/* The newest packet seen; 0xFFFF before the first. */
static inline uint16_t cw_received_packets_newest(const struct cw_received_packets *received)
{
    return (uint16_t)(received->window.next - 1);
}

/* Makes sequence the newest packet seen, without marking it as arrived; nothing when a newer one
   was seen. sequence is not stale. */
void cw_received_packets_advance(struct cw_received_packets *received, uint16_t sequence);

/* With more numbers untold than a header has room for: the first as many of them that begin with
   one that has arrived. */
uint16_t cw_received_packets_tell_oldest(struct cw_received_packets *received, uint32_t *bits);

/* What the header of a packet of ours acks, the newest packet of it and the bits: the newest
   packets seen, or, in_turn, the oldest that no header has told of yet. */
static inline uint16_t cw_received_packets_tell(struct cw_received_packets *received, bool in_turn,
                                                uint32_t *bits)
{
    if (in_turn && received->untold > CW_ACKS_PER_HEADER)
        return cw_received_packets_tell_oldest(received, bits);
    received->untold = 0;
    *bits = received->history;
    return cw_received_packets_newest(received);
}

/* Gives up telling of what the next header would pass by. */
static inline void cw_received_packets_pass_by(struct cw_received_packets *received)
{
    if (received->untold > CW_ACKS_PER_HEADER)
        received->untold = CW_ACKS_PER_HEADER;
}

/* Marks sequence, which is not stale, as arrived. */
void cw_received_packets_add(struct cw_received_packets *received, uint16_t sequence);

/* Unmarks it. */
void cw_received_packets_remove(struct cw_received_packets *received, uint16_t sequence);

#endif
