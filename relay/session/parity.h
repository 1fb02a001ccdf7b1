/* The parity of a pair of datagrams: the bytes of both, each with the other's mixed in by XOR. It
   goes with the datagram after the pair, over another connection; with it and either of the pair
   the receiver makes the other. web/src/transports/parity.ts does the same. */
#ifndef CAUSEWAY_RELAY_PARITY_H
#define CAUSEWAY_RELAY_PARITY_H

#include "session/datagram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The datagrams of a session have sequence numbers from 1 on, which wrap. A pair is one with an odd
   number and the next. */
#define PARITY_SEQUENCE_MASK 0x7fff

/* The receiver keeps this many of the datagrams that have come. A pair and its parity come close
   together, but for what a connection has held back. */
#define PARITY_KEPT 16

struct parity_datagram {
    uint16_t sequence;
    uint16_t size; /* 0 when there is none */
    uint8_t data[SESSION_DATAGRAM_MAX];
};

/* This struct has the state of a sender and a receiver of parity. Zero it. */
struct parity {
    uint16_t sent;    /* the sequence number of the latest datagram that went */
    uint16_t sizes;   /* the sizes of its pair, mixed */
    uint16_t longest; /* the larger of them */
    uint8_t mixed[SESSION_DATAGRAM_MAX];
    struct parity_datagram came[PARITY_KEPT];
};

/* Returns whether a datagram that goes now would be the first after a pair. */
bool parity_is_due(const struct parity *parity);

/* Takes a datagram that goes: the next of a pair, or the first of a new one. */
void parity_add(struct parity *parity, const struct datagram *datagram);

/* Keeps a datagram that has come. */
void parity_keep(struct parity *parity, uint16_t sequence, const struct datagram *datagram);

/* Takes the parity that came with a datagram of this number. Returns the size of the datagram of
   the pair that has not come, and writes it; 0 when none can be made. */
size_t parity_recover(const struct parity *parity, uint16_t sequence, uint16_t sizes,
                      const struct datagram *mixed, uint8_t out[SESSION_DATAGRAM_MAX]);

#endif
