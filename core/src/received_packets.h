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

/* Marks sequence, which is not stale, as arrived. */
void cw_received_packets_add(struct cw_received_packets *received, uint16_t sequence);

/* Unmarks it. */
void cw_received_packets_remove(struct cw_received_packets *received, uint16_t sequence);

#endif
