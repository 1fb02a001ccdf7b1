/* Messages change hands: the application's become a connection's when they are sent, and a
   connection's become the application's when they are taken. The member held tells which; it is one
   of the references. */
#ifndef CAUSEWAY_MESSAGE_OWNER_H
#define CAUSEWAY_MESSAGE_OWNER_H

#include "causeway/message.h"

/* A new message that is the connection's; see cw_message_create. */
enum cw_error cw_message_create_held(struct cw_message_pool *pool, uint32_t type,
                                     struct cw_message **out);

/* Lets go of the connection's reference. NULL is ignored. */
void cw_message_drop(struct cw_message *message);

/* cw_message_attach for a message that is the connection's. */
void cw_message_attach_held(struct cw_message *message, uint8_t *block, uint32_t size,
                            void (*release)(void *context, uint8_t *block, size_t size),
                            void *context);

#endif
