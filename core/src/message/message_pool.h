/* The pools that messages come from, and the bodies of messages. */
#ifndef CAUSEWAY_MESSAGE_POOL_H
#define CAUSEWAY_MESSAGE_POOL_H

#include "causeway/message.h"

struct cw_message_pool_config {
    const struct cw_schema *schema; /* must outlive the pool; no default */
    uint32_t capacity;              /* messages in use at the same time, 1 to 65536; default 1024 */
    struct cw_allocator allocator;  /* zero: malloc */
};

struct cw_message_pool_config cw_message_pool_config_default(void);

/* Errors: that of a field, CW_ERROR_NO_MEMORY. */
enum cw_error cw_message_pool_create(const struct cw_message_pool_config *config,
                                     struct cw_message_pool **pool);

/* Debug builds assert that every reference has been released, so that no message is still in
   use. */
void cw_message_pool_destroy(struct cw_message_pool *pool);

/* The bytes that cw_message_pool_create allocates, 0 when it would refuse the config. */
size_t cw_message_pool_memory(const struct cw_message_pool_config *config);

/* The messages that are in use now. */
uint32_t cw_message_pool_used(const struct cw_message_pool *pool);

/* Makes a message of the type. All bytes of its struct are zero, it has no block, and its one
   reference is the caller's. Returns CW_ERROR_MESSAGE_TYPE when the schema has no such type,
   CW_ERROR_POOL_EMPTY when all messages are in use. */
enum cw_error cw_message_create(struct cw_message_pool *pool, uint32_t type,
                                struct cw_message **message);

/* Writes, reads or measures the body, without type, id or block. */
bool cw_message_serialize(struct cw_stream *stream, struct cw_message *message);

/* The most bits that the body needs, wherever in a packet it starts. Returns false when a value is
   out of its range: cw_message_check tells which. */
bool cw_message_measure(struct cw_message *message, size_t *bits);

#endif
