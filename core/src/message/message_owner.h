/* Messages change owners. The application's become a connection's when they are sent, and a
   connection's become the application's when they are taken. While a connection owns one of the
   references, `held` is set. */
#ifndef CAUSEWAY_MESSAGE_OWNER_H
#define CAUSEWAY_MESSAGE_OWNER_H

#include "causeway/message.h"

/* Makes a message that the connection owns, of a type that the schema has; see cw_message_create.
   CW_ERROR_POOL_EMPTY when all are in use. */
enum cw_error cw_message_create_held(struct cw_message_pool *pool, uint32_t type,
                                     struct cw_message **out);

/* Makes a copy of a message from a pool with the same schema. A block is not copied: until the copy
   is released it holds a reference to the message. */
enum cw_error cw_message_create_copy(struct cw_message_pool *pool, struct cw_message *of,
                                     struct cw_message **copy);

/* Returns how many messages could be made now. */
uint32_t cw_message_pool_unused(const struct cw_message_pool *pool);

/* Returns how many messages of the pool are copies that hold a reference to another's block. */
uint32_t cw_message_pool_borrowed(const struct cw_message_pool *pool);

/* Releases the connection's reference. NULL is ignored. */
void cw_message_drop(struct cw_message *message);

/* cw_message_attach for a message that the connection owns. */
void cw_message_attach_held(struct cw_message *message, uint8_t *block, uint32_t size,
                            void (*release)(void *context, uint8_t *block, size_t size),
                            void *context);

#endif
