/* The budget limits the processor time that the handshakes of TLS and DTLS take together, to a
   quarter of a core. The connected players have the rest, whatever a handshake costs on this
   machine. The time is measured, not computed from a number of handshakes, because only a
   measurement holds for every processor, key of the operator and version of OpenSSL. */
#ifndef CAUSEWAY_RELAY_HANDSHAKE_BUDGET_H
#define CAUSEWAY_RELAY_HANDSHAKE_BUDGET_H

#include "limits/bucket.h"

/* The share of a core that handshakes may take; hostile.tls_budget holds the relay to it. */
#define HANDSHAKE_SHARE 0.25
/* Seconds of processor time that handshakes may take without a pause. Players wait no longer than
   that. */
#define HANDSHAKE_STRETCH 0.01

/* The order of handshakes. DTLS comes before TLS, which it may delay by HANDSHAKE_STRETCH: each
   handshake of DTLS follows an offer that has had its turn, and their number per second is limited
   already. */
enum handshake_rank { HANDSHAKE_TLS, HANDSHAKE_DTLS };

/* The budget; all zero at first. */
struct handshake_budget {
    struct bucket left; /* seconds of processor time; below 0 when more was taken */
};

/* Returns the seconds until a step of a handshake may be done: 0 = now. `now` is in seconds. */
double handshake_budget_wait(struct handshake_budget *budget, enum handshake_rank rank, double now);

/* Takes from the budget the seconds of processor time that a step has used. */
void handshake_budget_spend(struct handshake_budget *budget, double seconds);

/* Returns the processor time of this thread so far, in seconds. */
double handshake_clock(void);

#endif
