/* A block of a reliable channel, sent fragment by fragment.

   A block may begin while the last fragments of the one before are being acked. A receiver that
   still waits for one of these acks the early fragments but drops them, as the reference library
   does. So the ack of an early packet counts only when the block before was complete for sure
   before the packet arrived: when the header that completed it did not report that packet yet. */
#ifndef CAUSEWAY_BLOCK_SENDER_H
#define CAUSEWAY_BLOCK_SENDER_H

#include "message/resend.h"

#include <stddef.h>

struct cw_block_fragment {
    struct cw_transmission transmission;
    bool acked;
    bool doubted; /* an early packet with it may have been acked and dropped */
};

struct cw_block_sender {
    struct cw_block_fragment *fragments; /* max_fragments fragments */
    uint32_t fragment_size;
    bool active;
    uint16_t id; /* the id of the block's message */
    const uint8_t *block;
    uint32_t size;
    uint32_t count; /* fragments of this block */
    uint32_t acked; /* the number of fragments that are acked */
    uint32_t oldest_unacked;
    uint32_t next_unsent;
};

void cw_block_sender_start(struct cw_block_sender *sender, uint16_t id, const uint8_t *block,
                           uint32_t size);

/* Returns the first fragment that is due, or count when none is. others says that there are
   fragments of the next block to send instead. */
uint32_t cw_block_sender_due(const struct cw_block_sender *sender, const struct cw_timing *timing,
                             bool others, enum cw_due *due);

/* Returns whether the first fragment that is not acked has been repeated many times and is due
   again. */
bool cw_block_sender_stalls(const struct cw_block_sender *sender, const struct cw_timing *timing);

/* Notes that a fragment goes into the packet being made. At the end of a block on a path with
   losses, each fragment that is sent again gets a copy, because any that is missing holds up the
   whole block. */
void cw_block_sender_send(struct cw_block_sender *sender, uint32_t fragment, enum cw_due due,
                          const struct cw_timing *timing);

/* Notes that the block before is complete, and that the newest header reports packets up to
   `newest_reported`. The fragments in these are sent again. */
void cw_block_sender_doubt(struct cw_block_sender *sender, uint16_t newest_reported);

/* The bytes of a fragment. */
uint32_t cw_block_sender_fragment_size(const struct cw_block_sender *sender, uint32_t fragment);

/* Notes that the packet that carried a fragment was acked. Returns true when this was the last
   fragment missing: the sender is idle then. */
bool cw_block_sender_acked(struct cw_block_sender *sender, uint16_t id, uint32_t fragment,
                           uint16_t packet);

/* Notes that the packet that carried a fragment was reported lost. */
void cw_block_sender_lost(struct cw_block_sender *sender, uint16_t id, uint32_t fragment,
                          uint16_t packet);

#endif
