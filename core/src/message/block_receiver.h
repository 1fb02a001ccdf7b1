/* A block from the other end, put together fragment by fragment in one buffer. */
#ifndef CAUSEWAY_BLOCK_RECEIVER_H
#define CAUSEWAY_BLOCK_RECEIVER_H

#include "base/shared.h"
#include "message/channel_common.h"

struct cw_block_receiver {
    uint8_t *buffer;   /* max_block_size bytes */
    uint8_t *ahead;    /* cw_block_ahead bytes: the first fragments, while buffer is in use */
    uint8_t *received; /* a bit for each fragment */
    uint32_t max_block_size;
    uint32_t fragment_size;
    bool active;
    uint16_t id;
    uint32_t count;
    uint32_t arrived;
    uint32_t size;              /* known once the last fragment has come */
    bool in_use;                /* the buffer is the block of a message that is not released yet */
    struct cw_message *message; /* the message from fragment 0, until the block is complete */
};

CW_SHARED uint32_t cw_block_max_fragments(uint32_t max_block_size, uint32_t fragment_size)
{
    return (max_block_size - 1) / fragment_size + 1;
}

/* The fragments that can be kept before the application has released the block before: those of at
   least two rounds of 32 packets. */
#define CW_BLOCK_AHEAD 64

CW_SHARED uint32_t cw_block_ahead(uint32_t max_block_size, uint32_t fragment_size)
{
    return max_block_size / CW_BLOCK_AHEAD < fragment_size ? max_block_size
                                                           : CW_BLOCK_AHEAD * fragment_size;
}

/* Forgets a block that is not complete. One that the application holds stays as it is. */
void cw_block_receiver_reset(struct cw_block_receiver *receiver);

/* Says whether the piece can be taken: returns CW_OK, CW_ERROR_MALFORMED, or CW_ERROR_RECEIVER_FULL
   while the buffer still holds another block; then the first pieces can be taken, but never all. */
enum cw_error cw_block_receiver_check(const struct cw_block_receiver *receiver,
                                      const struct cw_block_piece *piece);

/* Returns true when the piece was received before. */
bool cw_block_receiver_has(const struct cw_block_receiver *receiver,
                           const struct cw_block_piece *piece);

/* Takes a piece that was checked and is new. For fragment 0, message is the block's message; the
   receiver takes over its reference. When the block is complete, returns the message with its block
   attached and passes the reference to the caller. Otherwise returns NULL. */
struct cw_message *cw_block_receiver_take(struct cw_block_receiver *receiver,
                                          const struct cw_block_piece *piece,
                                          struct cw_message *message);

#endif
