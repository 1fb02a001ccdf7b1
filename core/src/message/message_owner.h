/* Messages change owners. The application's become a connection's when they are sent, and a
   connection's become the application's when they are taken. While a connection owns one of the
   references, `owned` is set. */
#ifndef CAUSEWAY_MESSAGE_OWNER_H
#define CAUSEWAY_MESSAGE_OWNER_H

#include "causeway/message.h"

/* Makes a message that the connection owns, of a type that the schema has; see cw_message_create.
   Returns CW_ERROR_POOL_EMPTY when all are in use. */
enum cw_error cw_message_create_owned(struct cw_message_pool *pool, uint32_t type,
                                      struct cw_message **out);

/* Makes a copy of a message from a pool with the same schema. A block is not copied: until the copy
   is released it holds a reference to the message. */
enum cw_error cw_message_create_copy(struct cw_message_pool *pool, struct cw_message *of,
                                     struct cw_message **copy);

/* Returns the number of messages that could be made now. */
uint32_t cw_message_pool_unused(const struct cw_message_pool *pool);

/* Returns the number of the pool's messages that are copies and hold a reference to another's
   block. */
uint32_t cw_message_pool_borrowed(const struct cw_message_pool *pool);

/* Releases the connection's reference. NULL is ignored. */
void cw_message_drop(struct cw_message *message);

/* Does the work of cw_message_attach for a message that the connection owns. */
void cw_message_attach_owned(struct cw_message *message, uint8_t *block, uint32_t size,
                             void (*release)(void *context, uint8_t *block, size_t size),
                             void *context);

#endif
