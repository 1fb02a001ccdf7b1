/* The receiver's half of coded repair: the bytes of the newest messages, and what combinations say
   about those that are missing, as linear equations.

   A combination is worked on once, when it arrives, and nothing is when no message of its range is
   missing. It costs at most one multiplication of its bytes for each message of the window, and one
   for each equation that waits: 128 for one combination, 384 for a packet. */
#ifndef CAUSEWAY_REPAIR_RECEIVER_H
#define CAUSEWAY_REPAIR_RECEIVER_H

#include "message/repair.h"

#include "causeway/stream.h"

/* The sum of messages in columns, each times its factor. A known message is in its own place, with
   no columns; an equation is in the place of its oldest message, whose factor is 1. No equation has
   the oldest message of another. */
struct cw_repair_row {
    uint64_t columns; /* by slots: the messages whose factors are not 0 */
    uint32_t size;    /* bytes up to the last one that may not be 0, in whole words */
    uint8_t factors[CW_REPAIR_WINDOW];
    uint8_t bytes[CW_REPAIR_BYTES];
};

struct cw_repair_receiver {
    struct cw_repair_row rows[CW_REPAIR_WINDOW];
    struct cw_repair_row work; /* the equation that is being added */
    uint16_t end;              /* one past the newest id of the window */
    uint64_t known;            /* by slots: messages whose bytes are here, */
    uint64_t solved;           /* of those the ones that have not been taken, */
    uint64_t equations;        /* and places with an equation */
};

void cw_repair_receiver_reset(struct cw_repair_receiver *receiver);

/* Adds a message that has arrived: `bits` bits from bytes on. One that is too long or too old is
   ignored, as is one that is here already. */
void cw_repair_receiver_add(struct cw_repair_receiver *receiver, uint16_t id, const uint8_t *bytes,
                            size_t bits);

/* The combinations that may follow the messages of an entry. newest is the newest id in it, NULL if
   it has no messages; ids from limit on are not to be received yet. False when they are malformed.
 */
bool cw_repair_receiver_read(struct cw_repair_receiver *receiver, struct cw_stream *stream,
                             const uint16_t *newest, uint16_t limit);

/* Takes a message that was repaired: its id and its bytes, which stay here. False when there is
   none. */
bool cw_repair_receiver_next(struct cw_repair_receiver *receiver, uint16_t *id,
                             struct cw_stream *stream);

#endif
