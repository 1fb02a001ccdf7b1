/* Receipts: the fates of messages that the sender wants to know. Each has a place here from send
   on, so that its event cannot be lost. */
#ifndef CAUSEWAY_RECEIPTS_H
#define CAUSEWAY_RECEIPTS_H

#include "base/memory.h"
#include "base/shared.h"

#include "causeway/message.h"

#define CW_RECEIPT_NONE 0xFFFF

struct cw_receipt_entry {
    uint32_t number;
    uint16_t next;   /* the next one in its list */
    uint16_t leader; /* the entry of the first packet with a part of the message; maybe this one */
    uint16_t parts;  /* in that entry: packets whose fate is unknown, and those to come */
    bool acked;
};

struct cw_receipt_list {
    uint16_t first, last;
};

struct cw_receipts {
    struct cw_receipt_entry *entries;
    uint32_t capacity;
    uint32_t used;     /* receipts in the packet being made, in packets on their way, or settled */
    uint32_t promised; /* receipts of messages that are waiting, or reliable and unacked */
    uint16_t free;     /* the list of free places */
    struct cw_receipt_list packet; /* the receipts in the packet being made */
    struct cw_receipt_list settled;
};

void cw_receipts_layout(struct cw_receipts *receipts, struct cw_arena *arena, uint32_t capacity);
void cw_receipts_reset(struct cw_receipts *receipts);

CW_SHARED bool cw_receipts_full(const struct cw_receipts *receipts)
{
    return receipts->used + receipts->promised >= receipts->capacity;
}

/* Notes that a message was sent, with a receipt unless number is 0. */
CW_SHARED void cw_receipts_promise(struct cw_receipts *receipts, uint32_t number)
{
    if (number != 0)
        receipts->promised++;
}

/* Notes that a message with this receipt was put into the packet being made, and that its channel
   forgets it. */
void cw_receipts_carry(struct cw_receipts *receipts, uint32_t number);

/* Returns whether so many more packets may carry a receipt. */
CW_SHARED bool cw_receipts_has_room(const struct cw_receipts *receipts, uint32_t packets)
{
    return receipts->used + receipts->promised + packets <= receipts->capacity;
}

/* Notes that a message that goes in so many packets was sent, if it has a receipt; there must be
   room for them. */
CW_SHARED void cw_receipts_promise_parts(struct cw_receipts *receipts, uint32_t number,
                                         uint32_t packets)
{
    if (number != 0)
        receipts->promised += packets;
}

/* Notes that the packet being made has a part of a message with this receipt, the one with this
   index of `packets` parts. *leader holds a number for the message from the first part on. It
   counts as acked when all these packets are. */
void cw_receipts_carry_part(struct cw_receipts *receipts, uint32_t number, uint32_t index,
                            uint32_t packets, uint16_t *leader);

/* Ends the packet being made. Returns its receipts, or CW_RECEIPT_NONE. */
CW_SHARED uint16_t cw_receipts_packet(struct cw_receipts *receipts)
{
    const uint16_t first = receipts->packet.first;
    receipts->packet.first = CW_RECEIPT_NONE;
    return first;
}

/* Settles the receipt of a message that was still in its channel. */
void cw_receipts_settle(struct cw_receipts *receipts, uint32_t number, bool acked);

/* Settles the receipt of a message that would have gone in so many packets, as lost. */
void cw_receipts_settle_parts(struct cw_receipts *receipts, uint32_t number, uint32_t packets);

/* Settles the receipts of a packet; first is not CW_RECEIPT_NONE. */
void cw_receipts_settle_packet(struct cw_receipts *receipts, uint16_t first, bool acked);

/* The fate of a message. */
struct cw_receipt {
    uint32_t number;
    bool acked; /* false: the message was lost */
};

CW_SHARED bool cw_receipts_waiting(const struct cw_receipts *receipts)
{
    return receipts->settled.first != CW_RECEIPT_NONE;
}

/* Takes the oldest settled receipt; false when there is none. */
bool cw_receipts_next(struct cw_receipts *receipts, struct cw_receipt *receipt);

#endif
