/* Messages: made from a schema's types, taken from a pool of fixed size, counted by reference. */
#ifndef CAUSEWAY_MESSAGE_H
#define CAUSEWAY_MESSAGE_H

#include "causeway/linkage.h"
#include "causeway/schema.h"

CW_BEGIN_DECLARATIONS

struct cw_message_pool;

/* receipt and the struct that data points to are the application's to fill in, before send. id and
   next belong to the channel that holds the message; the rest is only to be read. */
struct cw_message {
    uint32_t type; /* index in the schema */
    uint16_t id;   /* on a reliable channel */
    bool held;     /* one of the references is a connection's: it was sent, or not taken yet */
    uint32_t references; /* at least 1 while anybody may use the message */
    uint32_t receipt;    /* the sender's own; unless 0, what becomes of the message is told under
                            this number: see cw_connection_next. 0 when it was received */
    void *data;          /* the struct of the type */

    /* Bytes that go along with the message in fragments, or NULL: see cw_message_attach. */
    uint8_t *block;
    uint32_t block_size;
    void (*release_block)(void *context, uint8_t *block, size_t size);
    void *release_context;

    struct cw_message_pool *pool;
    struct cw_message *next; /* for lists: the pool's own while the message is free */
};

struct cw_message_pool_config {
    const struct cw_schema *schema; /* must outlive the pool; no default */
    uint32_t capacity;              /* messages at the same time: 1 to 65536; default 1024 */
    struct cw_allocator allocator;  /* zero: malloc */
};

struct cw_message_pool_config cw_message_pool_config_default(void);

/* Errors: CW_ERROR_CONFIG_POOL, CW_ERROR_NO_MEMORY. */
enum cw_error cw_message_pool_create(const struct cw_message_pool_config *config,
                                     struct cw_message_pool **pool);

/* Asserts, in debug builds, that every message has come back: one that has not is a reference that
   was not released. */
void cw_message_pool_destroy(struct cw_message_pool *pool);

/* The bytes that cw_message_pool_create allocates, 0 when it would refuse the config. */
size_t cw_message_pool_memory(const struct cw_message_pool_config *config);

/* The messages that are in use now. */
uint32_t cw_message_pool_used(const struct cw_message_pool *pool);

const struct cw_schema *cw_message_pool_schema(const struct cw_message_pool *pool);

/* A message of the type with all bytes of its struct zero, no block and one reference, which is the
   caller's. CW_ERROR_MESSAGE_TYPE when the schema has no such type, CW_ERROR_POOL_EMPTY when all
   messages are in use. */
enum cw_error cw_message_create(struct cw_message_pool *pool, uint32_t type,
                                struct cw_message **message);

/* A message is the caller's who created it or took it from a connection, until he sends or releases
   it. One that is not his he gets CW_ERROR_MESSAGE_NOT_OWNED for, with nothing changed: below, and
   from cw_connection_send. This tells a mistake as long as the message has not been made anew for
   somebody else. */

/* One more reference, which is the caller's: he keeps the message when he sends it. */
enum cw_error cw_message_acquire(struct cw_message *message);

/* One reference less; the last one gives message and block back. NULL is ignored. */
enum cw_error cw_message_release(struct cw_message *message);

/* Attaches size bytes, which must stay as they are until the last reference goes. release, if it
   is not NULL, is then called with context; before, if another block was attached. On an error the
   bytes stay the caller's. */
enum cw_error cw_message_attach(struct cw_message *message, uint8_t *block, uint32_t size,
                                void (*release)(void *context, uint8_t *block, size_t size),
                                void *context);

/* Writes, reads or measures the body: neither type, nor id, nor block. */
bool cw_message_serialize(struct cw_stream *stream, struct cw_message *message);

/* The bits that the body needs at most, wherever in a packet it starts. False when a value is
   out of its range: cw_message_check tells which. */
bool cw_message_measure(struct cw_message *message, size_t *bits);

/* The first field that cannot be sent as it is: see cw_schema_check. */
uint32_t cw_message_check(const struct cw_message *message);

CW_END_DECLARATIONS

#endif
