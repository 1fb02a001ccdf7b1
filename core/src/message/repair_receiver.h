/* The receiver's half of coded repair: the bytes of the newest messages, and the combinations of
   missing ones as linear equations.

   A combination costs work once, when it arrives, and none when no message of its range is missing.
   In the worst case it is far more work than its few bytes are worth, so each packet has a limit.
   Combinations beyond it are ignored, and repaired messages wait for a later packet. Everything is
   sent again until it is acked, so nothing is lost but time. */
#ifndef CAUSEWAY_REPAIR_RECEIVER_H
#define CAUSEWAY_REPAIR_RECEIVER_H

#include "base/gf256.h"
#include "message/repair.h"

#include "causeway/stream.h"

/* The most work that a packet may cause, in all channels of a connection together. The unit is the
   addition of 64 bytes, times a factor, to others: 70 to 85 instructions on x86-64 by callgrind, so
   that with a long message in the packet there are less than 20,000; see core.repair_work. A lower
   limit would lose repairs where half of all packets are lost (core/lab). */
#define CW_REPAIR_WORK 206

#define CW_REPAIR_STRIPS (CW_REPAIR_BYTES / CW_GF256_STRIP) /* the strips of a message's bytes */

/* A row is the sum of the messages in columns, each times its factor. A known message is in its own
   place, with nothing but its bytes; an equation is in the place of its oldest message, whose
   factor is 1. No equation has the oldest message of another. */
struct cw_repair_row {
    uint64_t columns; /* a bit for each slot whose message has a factor other than 0 */
    uint8_t data[CW_REPAIR_WINDOW + CW_REPAIR_BYTES]; /* factors by slots, then bytes and zeros */
};

struct cw_repair_receiver {
    struct cw_repair_row rows[CW_REPAIR_WINDOW];
    struct cw_repair_row made;         /* the equation that is being added */
    uint16_t end;                      /* one past the newest id of the window */
    uint64_t known;                    /* a bit for each slot whose message's bytes are here */
    uint64_t solved;                   /* a bit for each repaired message that has not been taken */
    uint64_t equations;                /* a bit for each slot with an equation */
    uint64_t longer[CW_REPAIR_STRIPS]; /* for each strip, the rows that may have bytes in it */
    uint32_t *work; /* the work left for the packet being read; set by the owner */
};

void cw_repair_receiver_reset(struct cw_repair_receiver *receiver);

/* Adds a message that has arrived: `bits` bits from bytes on. A message that is too long or too old
   is ignored, as is one that is here already. */
void cw_repair_receiver_add(struct cw_repair_receiver *receiver, uint16_t id, const uint8_t *bytes,
                            size_t bits);

/* Reads the combinations that may follow the messages of an entry. newest is the newest id in it,
   NULL if it has no messages; ids from limit on are not to be received yet. Returns false when they
   are malformed. */
bool cw_repair_receiver_read(struct cw_repair_receiver *receiver, struct cw_stream *stream,
                             const uint16_t *newest, uint16_t limit);

/* Takes a message that was repaired: its id and its bytes, which stay here. Returns false when
   there is none, or when it has to wait for another packet. */
bool cw_repair_receiver_next(struct cw_repair_receiver *receiver, uint16_t *id,
                             struct cw_stream *stream);

#endif
