#include "message/block_receiver.h"

#include <string.h>

void cw_block_receiver_reset(struct cw_block_receiver *receiver)
{
    if (receiver->active)
        cw_message_drop(receiver->message);
    receiver->message = NULL;
    receiver->active = false;
}

static uint32_t ahead_size(const struct cw_block_receiver *receiver)
{
    return cw_block_ahead(receiver->max_block_size, receiver->fragment_size);
}

static void free_buffer(void *context, uint8_t *block, size_t size)
{
    struct cw_block_receiver *receiver = context;
    (void)block;
    (void)size;
    receiver->in_use = false;
    if (receiver->active)
        memcpy(receiver->buffer, receiver->ahead, ahead_size(receiver));
}

enum cw_error cw_block_receiver_check(const struct cw_block_receiver *receiver,
                                      const struct cw_block_piece *piece)
{
    const bool is_last = piece->fragment == piece->count - 1;
    const uint64_t end = (uint64_t)piece->fragment * receiver->fragment_size + piece->size;
    if ((!is_last && piece->size < receiver->fragment_size) || end > receiver->max_block_size)
        return CW_ERROR_MALFORMED;
    if (receiver->active) {
        if (receiver->id != piece->id)
            return CW_ERROR_RECEIVER_FULL;
        if (receiver->count != piece->count)
            return CW_ERROR_MALFORMED;
    }
    const uint32_t missing = piece->count - (receiver->active ? receiver->arrived : 0);
    const bool fits_ahead = end <= ahead_size(receiver) && missing > 1;
    return receiver->in_use && !fits_ahead ? CW_ERROR_RECEIVER_FULL : CW_OK;
}

bool cw_block_receiver_has(const struct cw_block_receiver *receiver,
                           const struct cw_block_piece *piece)
{
    return receiver->active && receiver->id == piece->id &&
           receiver->received[piece->fragment / 8] >> (piece->fragment % 8) & 1;
}

struct cw_message *cw_block_receiver_take(struct cw_block_receiver *receiver,
                                          const struct cw_block_piece *piece,
                                          struct cw_message *message)
{
    if (!receiver->active) {
        receiver->active = true;
        receiver->id = piece->id;
        receiver->count = piece->count;
        receiver->arrived = 0;
        receiver->size = 0;
        memset(receiver->received, 0, piece->count / 8 + 1);
    }
    if (message)
        receiver->message = message;
    receiver->received[piece->fragment / 8] |= (uint8_t)(1u << (piece->fragment % 8));
    receiver->arrived++;
    const size_t offset = (size_t)piece->fragment * receiver->fragment_size;
    memcpy((receiver->in_use ? receiver->ahead : receiver->buffer) + offset, piece->bytes,
           piece->size);
    if (piece->fragment == piece->count - 1)
        receiver->size = (uint32_t)offset + piece->size;
    if (receiver->arrived < receiver->count)
        return NULL;
    receiver->active = false;
    receiver->in_use = true;
    struct cw_message *complete = receiver->message;
    receiver->message = NULL;
    cw_message_attach_owned(complete, receiver->buffer, receiver->size, free_buffer, receiver);
    return complete;
}
