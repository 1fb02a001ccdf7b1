/* An allowance limits the datagrams from one browser to the game server: to very few until the
   server has answered, then to a rate that no game reaches. The excess is dropped. */
#ifndef CAUSEWAY_RELAY_ALLOWANCE_H
#define CAUSEWAY_RELAY_ALLOWANCE_H

#include "limits/bucket.h"

#include <stdbool.h>
#include <stddef.h>

/* Datagrams that a session may send before it is answered: this many at once, and this many a
   second after that (hostile.upstream_flood). It is enough for a handshake whose first answers are
   late. Clients repeat their request ten times a second until they give up; while the server is
   slow or down, one in five still reaches it. */
#define ALLOWANCE_UNANSWERED        20.0
#define ALLOWANCE_UNANSWERED_REFILL 2.0

/* The limits after the game server's first answer. A quarter of a second's datagrams may go at
   once. */
struct allowance_limits {
    double packets_per_second; /* 0 = no limit */
    double bytes_per_second;   /* 0 = no limit */
};

struct allowance {
    bool answered;
    struct bucket packets;
    struct bucket bytes;
};

/* Sets the allowance of a session that the game server has not answered. */
void allowance_init(struct allowance *allowance);

/* Notes that the game server has answered. Further answers change nothing. */
void allowance_answered(struct allowance *allowance);

/* Returns true when a datagram of this size may go now, and then subtracts it from the allowance.
 */
bool allowance_take(struct allowance *allowance, const struct allowance_limits *limits, size_t size,
                    double now);

#endif
