#include "message.h"
#include "message/connection_internal.h"

#include <stdlib.h>

static void release_block(void *context, uint8_t *block, size_t size)
{
    (void)context;
    (void)size;
    free(block);
}

uint8_t *message_attach(struct cw_message *message, uint32_t size)
{
    uint8_t *block = malloc(size > 0 ? size : 1);
    if (block && cw_message_attach(message, block, size, release_block, NULL) != CW_OK) {
        free(block);
        block = NULL;
    }
    return block;
}

int32_t message_send(struct cw_connection *connection, uint32_t channel, struct cw_message *message,
                     double now)
{
    const enum cw_error error = cw_connection_send(connection, channel, message, now);
    return error ? -(int32_t)error : (int32_t)cw_connection_room(connection, channel);
}
