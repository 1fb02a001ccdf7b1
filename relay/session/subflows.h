/* Several WebSockets that carry one session together. Each is a TCP connection of its own, so a
   lost packet holds up only what follows on the same one. Every message begins with a header that
   confirms what has come over all of them; a datagram goes over a subflow that confirms in time,
   and goes again over another when its own does not. The receiver gets some datagrams twice, as
   over UDP. web/src/transports/subflows.ts is the other end, and does the same. */
#ifndef CAUSEWAY_RELAY_SUBFLOWS_H
#define CAUSEWAY_RELAY_SUBFLOWS_H

#include "session/queue.h"
#include "session/transport.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The subflows of a session have the numbers 1 to SUBFLOWS_MAX. */
#define SUBFLOWS_MAX 4

/* The header of a message: a byte with the sequence number of the datagram, which counts the
   datagrams of the subflow from 1 on and wraps, and the flag of one that goes again; then for each
   subflow the sequence number of the latest datagram that has come. A message without a datagram
   only confirms, and has the number of the datagram before it. */
#define SUBFLOW_HEADER_SIZE   5
#define SUBFLOW_REPEATED      128
#define SUBFLOW_SEQUENCE_MASK 127
#define SUBFLOW_MESSAGE_MAX   (SUBFLOW_HEADER_SIZE + SESSION_DATAGRAM_MAX)

/* Datagrams that wait for their confirmation are kept, this many and this many bytes of each
   subflow at most. */
#define SUBFLOW_KEPT_MAX   64
#define SUBFLOW_KEPT_BYTES 8192

/* A subflow is late when a datagram is confirmed that went over another one so many seconds after
   one that this has not confirmed. It takes less for packets of two connections to overtake each
   other. */
#define SUBFLOW_LATE_SECONDS 0.01

/* One datagram may go again for each four that go first, and this many at once. */
#define SUBFLOW_REPEAT_SHARE 0.25
#define SUBFLOW_REPEAT_MOST  8.0

/* When this many datagrams have come since a header last went out, a message goes that only
   confirms. */
#define SUBFLOW_UNCONFIRMED_MAX 4

struct subflow {
    struct subflows *all;
    struct session_link *link; /* NULL when there is none of this number */
    struct queue kept;         /* the datagrams that are not confirmed yet */
    size_t repeated;           /* the number of the oldest of these that went again */
    uint8_t sent;              /* the sequence number of the latest datagram that went */
    uint8_t received;          /* the sequence number of the latest datagram that came */
    uint32_t unanswered;       /* the number of the first that came since one went; 0 = none */
};

struct subflows {
    struct subflow each[SUBFLOWS_MAX];
    double confirmed;     /* when the newest datagram went that is confirmed */
    double allowance;     /* the datagrams that may go again */
    unsigned unconfirmed; /* the datagrams that came since a header went out */
    uint32_t came;        /* the datagrams that came */
    bool repeating;
};

/* Returns subflows of which none is open, or NULL when there is no memory. */
struct subflows *subflows_create(void);

/* Frees subflows of which none is open. NULL is allowed. */
void subflows_free(struct subflows *subflows);

/* Opens the subflow of a number from 1 on, whose link->subflow it becomes. It must not be open. */
void subflow_open(struct subflows *subflows, unsigned number, struct session_link *link);

/* Closes a subflow. NULL is allowed. */
void subflow_close(struct subflow *subflow);

/* Writes the header of a datagram that goes now, and keeps the datagram. */
void subflow_put_header(struct subflow *subflow, const struct datagram *datagram, double now,
                        uint8_t out[SUBFLOW_HEADER_SIZE]);

/* Takes the header of a message. Returns false when the message is too short to have one. */
bool subflow_take_header(struct subflow *subflow, const uint8_t *message, size_t size);

/* Returns the subflow over which a datagram goes best, other than `but`; NULL when none is ready.
 */
struct subflow *subflows_choose(struct subflows *subflows, const struct subflow *but);

/* Sends again what is late, and confirms what has come if no datagram has done so. Returns the
   number of messages that this took. */
size_t subflows_update(struct subflows *subflows);

#endif
