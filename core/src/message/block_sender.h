/* The block at the head of a reliable channel, sent fragment by fragment. */
#ifndef CAUSEWAY_BLOCK_SENDER_H
#define CAUSEWAY_BLOCK_SENDER_H

#include "message/resend.h"

#include <stddef.h>

struct cw_block_fragment {
    struct cw_transmission transmission;
    bool acked;
};

struct cw_block_sender {
    struct cw_block_fragment *fragments; /* max_fragments of them */
    uint32_t fragment_size;
    bool active;
    uint16_t id; /* of the block's message */
    const uint8_t *block;
    uint32_t size;
    uint32_t count; /* fragments of this block */
    uint32_t acked; /* of them */
    uint32_t oldest_unacked;
    uint32_t next_unsent;
};

void cw_block_sender_start(struct cw_block_sender *sender, uint16_t id, const uint8_t *block,
                           uint32_t size);

/* The first fragment that is due, or count when none is. */
uint32_t cw_block_sender_due(const struct cw_block_sender *sender, const struct cw_timing *timing,
                             enum cw_due *due);

/* Bytes of a fragment. */
uint32_t cw_block_sender_fragment_size(const struct cw_block_sender *sender, uint32_t fragment);

/* True when this was the last fragment missing: the sender is idle then. */
bool cw_block_sender_acked(struct cw_block_sender *sender, uint16_t id, uint32_t fragment);

/* The packet that carried a fragment was reported lost. */
void cw_block_sender_lost(struct cw_block_sender *sender, uint16_t id, uint32_t fragment,
                          uint16_t packet);

#endif
