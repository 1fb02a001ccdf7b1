/* Processor time for the handshakes of TLS and DTLS together: at most a quarter of a core, so that
   the connected players have the rest, whatever a handshake costs on this machine. It is measured,
   not reckoned from a number of handshakes, because only that holds for every processor, key of the
   operator and version of OpenSSL. */
#ifndef CAUSEWAY_RELAY_HANDSHAKE_BUDGET_H
#define CAUSEWAY_RELAY_HANDSHAKE_BUDGET_H

#include "limits/bucket.h"

/* Handshakes may take this share of a core. */
#define HANDSHAKE_SHARE 0.25
/* Seconds of processor time that they may take at a stretch: players wait for so long at most. */
#define HANDSHAKE_STRETCH 0.01

/* Handshakes of DTLS come before those of TLS, which they may put off by a stretch: each follows an
   offer that has had its turn, and their number per second is limited already. */
enum handshake_rank { HANDSHAKE_TLS, HANDSHAKE_DTLS };

/* All zero at first. */
struct handshake_budget {
    struct bucket left; /* seconds of processor time; below 0 when more was taken */
};

/* Seconds until a step of a handshake may be done: 0 = now. now in seconds. */
double handshake_budget_wait(struct handshake_budget *budget, enum handshake_rank rank, double now);

/* A step has taken so many seconds of processor time. */
void handshake_budget_spend(struct handshake_budget *budget, double seconds);

/* The processor time of this thread so far, in seconds. */
double handshake_clock(void);

#endif
