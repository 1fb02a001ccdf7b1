/* This limits the packets that are worked on for one browser. All browsers share a socket, whose
   buffer fills when one of them sends more than the relay can work off, and then the others lose
   their packets. So the excess is dropped before it is decrypted or verified, which costs most.
   Each browser has an allowance of its own. Anyone can write any sender into a packet: packets that
   only the browser can send have a separate allowance, which nobody else uses up. */
#ifndef CAUSEWAY_RELAY_RTC_POLICING_H
#define CAUSEWAY_RELAY_RTC_POLICING_H

#include "limits/bucket.h"

#include <stdbool.h>

enum policed {
    POLICED_DATA,  /* DTLS with a number that is due */
    POLICED_OTHER, /* other DTLS from the browser's address: the handshake, or a stranger's guess */
    POLICED_CHECK, /* checks with the browser's name, which is a secret */
    POLICED_KINDS
};

struct policing {
    struct bucket buckets[POLICED_KINDS];
};

/* Sets full allowances. */
void policing_init(struct policing *policing);

/* Returns whether a packet may be worked on now, and then subtracts it. `packets_per_second` is the
   browser's limit towards the game server, 0 = none: then its data are not limited here either. */
bool policing_take(struct policing *policing, enum policed kind, double packets_per_second,
                   double now);

/* Notes that a datagram has gone to the browser, which may acknowledge it. */
void policing_sent(struct policing *policing);

#endif
