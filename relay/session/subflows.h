/* Several WebSockets that carry one session together. Each is a TCP connection of its own, so a
   lost packet holds up only what follows on the same one. Every message begins with a header that
   confirms what has come over all of them; datagrams take turns on the subflows that confirm in
   time. While something is late, the parity of each pair of datagrams goes along with the next: a
   confirmation takes a round trip, so what a sender did upon it would come no sooner than what TCP
   sends again. The receiver gets some datagrams twice, as over UDP.
   web/src/transports/subflows.ts is the other end, and does the same. */
#ifndef CAUSEWAY_RELAY_SUBFLOWS_H
#define CAUSEWAY_RELAY_SUBFLOWS_H

#include "session/parity.h"
#include "session/queue.h"
#include "session/transport.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The subflows of a session have the numbers 1 to SUBFLOWS_MAX. */
#define SUBFLOWS_MAX 4

/* The header of a message: two bytes with the sequence number of the datagram, the low byte first,
   and in the highest bit whether there is a parity; then for each subflow the low byte of the
   sequence number of the latest datagram that has come. The datagram follows, but with a parity
   first its size and the mixed sizes of the pair, two bytes each; the parity ends the message. A
   message without a datagram only confirms. */
#define SUBFLOW_HEADER_SIZE  6
#define SUBFLOW_PARITY       0x8000
#define SUBFLOW_PARITY_SIZES 4
#define SUBFLOW_MESSAGE_MAX  (SUBFLOW_HEADER_SIZE + SUBFLOW_PARITY_SIZES + 2 * SESSION_DATAGRAM_MAX)

/* The datagrams of a subflow of which it is known that they are not confirmed, at most. */
#define SUBFLOW_UNCONFIRMED_MAX 64

/* A subflow is late when a datagram is confirmed that went over another one so many seconds after
   one that this has not confirmed. It takes less for packets of two connections to overtake each
   other. */
#define SUBFLOW_LATE_SECONDS 0.01

/* This many datagrams have parity after something was late. With 1 % of the packets lost, the next
   loss comes sooner than that in three of four cases. */
#define SUBFLOW_PROTECTED 128

/* When this many datagrams have come since a header last went out, a message goes that only
   confirms. */
#define SUBFLOW_CONFIRM_AFTER 4

struct subflow {
    struct subflows *all;
    struct session_link *link; /* NULL when there is none of this number */
    struct queue unconfirmed;  /* the low bytes of the sequence numbers of these datagrams */
    uint32_t turn;             /* the value of `turns` when a datagram last went over it */
    uint8_t received;          /* the low byte for the latest datagram that came */
};

struct subflows {
    struct subflow each[SUBFLOWS_MAX];
    struct parity parity;
    double confirmed; /* when the newest datagram went that is confirmed */
    uint32_t turns;   /* the datagrams that went, of which the sequence numbers wrap sooner */
    unsigned protect; /* the datagrams that are still to have parity */
    unsigned to_be_answered; /* the datagrams that came since a header went out */
};

/* This struct has the datagrams that a message brings. */
struct subflow_news {
    struct datagram datagram;  /* it has no bytes when the message only confirms */
    struct datagram recovered; /* it is an earlier one, or has no bytes */
    uint8_t bytes[SESSION_DATAGRAM_MAX];
};

/* Returns subflows of which none is open, or NULL when there is no memory. */
struct subflows *subflows_create(void);

/* Frees subflows of which none is open. NULL is allowed. */
void subflows_free(struct subflows *subflows);

/* Opens the subflow of a number from 1 on, whose link->subflow it becomes. It must not be open. */
void subflow_open(struct subflows *subflows, unsigned number, struct session_link *link);

/* Closes a subflow. NULL is allowed. */
void subflow_close(struct subflow *subflow);

/* Writes the message of a datagram that goes now. Returns its size. */
size_t subflow_put(struct subflow *subflow, const struct datagram *datagram, double now,
                   uint8_t out[SUBFLOW_MESSAGE_MAX]);

/* Takes a message. Returns false when it is none. */
bool subflow_take(struct subflow *subflow, const uint8_t *message, size_t size,
                  struct subflow_news *out);

/* Sends datagrams over the subflows that are best for them, or over this link while none is ready.
 */
void subflows_send(struct subflows *subflows, struct session_link *otherwise,
                   const struct datagram *datagrams, size_t count);

/* Confirms what has come if no datagram has done so. Returns the number of messages that this took.
 */
size_t subflows_update(struct subflows *subflows);

#endif
