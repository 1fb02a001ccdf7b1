/* This limits how many packets of one browser are worked on. All browsers share a socket, whose
   buffer fills when one of them sends more than the relay can work off, and then the others lose
   theirs. So what is too much is dropped before it is decrypted or verified, which costs most. Each
   browser has an allowance of its own. Anyone can write any sender into a packet: what only the
   browser can send has an allowance apart, which nobody else uses up. */
#ifndef CAUSEWAY_RELAY_RTC_POLICING_H
#define CAUSEWAY_RELAY_RTC_POLICING_H

#include "limits/bucket.h"

#include <stdbool.h>

enum policed {
    POLICED_DATA,  /* DTLS with a number that is due */
    POLICED_OTHER, /* other DTLS from its address: the handshake, or a stranger's guess */
    POLICED_CHECK, /* checks with its name, which is a secret */
    POLICED_KINDS
};

struct policing {
    struct bucket buckets[POLICED_KINDS];
};

/* Begins with full allowances. */
void policing_init(struct policing *policing);

/* Returns whether a packet may be worked on now, and then subtracts it. `packets_per_second` is the
   browser's limit towards the game server, 0 = none: then its data are not limited here either. */
bool policing_take(struct policing *policing, enum policed kind, double packets_per_second,
                   double now);

/* A datagram has gone to the browser, which may acknowledge it. */
void policing_sent(struct policing *policing);

#endif
