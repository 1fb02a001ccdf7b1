/* Two functions of messages that JavaScript cannot do by those of the core's headers. */
#ifndef CAUSEWAY_WASM_MESSAGE_H
#define CAUSEWAY_WASM_MESSAGE_H

#include "causeway/connection.h"

/* Allocates a block, which the message owns from now on; NULL when there is no memory. JavaScript
   cannot pass cw_message_attach a function that releases it. */
uint8_t *message_attach(struct cw_message *message, uint32_t size);

/* Does the same as cw_connection_send, and returns how many more messages the channel takes now, so
   that the caller need not ask after each message. An error comes as a negative number. */
int32_t message_send(struct cw_connection *connection, uint32_t channel, struct cw_message *message,
                     double now);

#endif
