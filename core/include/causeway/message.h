/* Messages: values of a schema's types, taken from a pool of fixed size and reference-counted. */
#ifndef CAUSEWAY_MESSAGE_H
#define CAUSEWAY_MESSAGE_H

#include "causeway/base.h"
#include "causeway/schema.h"

CW_BEGIN_DECLARATIONS

struct cw_message_pool;

/* Before send, the application fills in receipt and the struct that data points to. id and next
   belong to the channel that holds the message. All other members are read-only. */
struct cw_message {
    uint32_t type; /* index in the schema */
    uint16_t id;   /* its number on a reliable channel, or that of its first fragment */
    bool owned;    /* a connection holds one of the references, because the message was sent or not
                      taken yet */
    uint32_t references; /* at least 1 while anybody may use the message */
    uint32_t receipt; /* chosen by the sender; unless it is 0, an event with this number tells what
                         became of the message; see cw_connection_next. 0 in a received message */
    void *data;       /* the struct of the type */

    /* Bytes that are sent with the message, in fragments, or NULL; see cw_message_attach. */
    uint8_t *block;
    uint32_t block_size;
    uint32_t broadcast; /* a connection's copy of a broadcast has its number; all others 0 */
    void (*release_block)(void *context, uint8_t *block, size_t size);
    void *release_context;

    struct cw_message_pool *pool;
    struct cw_message *next; /* the next in a list; the pool uses it while the message is free */
};

/* A caller owns a message from creating it, or taking it from a connection, until sending or
   releasing it. For a message that the caller does not own, the functions below and
   cw_connection_send return CW_ERROR_MESSAGE_NOT_OWNED and change nothing. They can detect the
   mistake only until the pool hands the same message out again. */

/* Copies the struct of a message into another one of the same type, which the caller has just made:
   so a server passes on what a client has sent, as each connection sends only messages of its own.
   Receipt and block are not copied; attach a copy of the block's bytes. Returns
   CW_ERROR_MESSAGE_TYPE when the types or the schemas differ. */
enum cw_error cw_message_copy(const struct cw_message *from, struct cw_message *to);

/* Adds a reference for the caller, who then keeps the message after sending it. */
enum cw_error cw_message_acquire(struct cw_message *message);

/* Releases one reference. The last one returns the message to its pool and releases its block. NULL
   is ignored. */
enum cw_error cw_message_release(struct cw_message *message);

/* Attaches a block of size bytes, which must not change until the last reference is released. At
   that point release is called with context, unless it is NULL; it is called sooner if another
   block is attached. On an error the bytes stay the caller's. */
enum cw_error cw_message_attach(struct cw_message *message, uint8_t *block, uint32_t size,
                                void (*release)(void *context, uint8_t *block, size_t size),
                                void *context);

/* The first field whose value cannot be sent; see cw_schema_check. */
uint32_t cw_message_check(const struct cw_message *message);

CW_END_DECLARATIONS

#endif
