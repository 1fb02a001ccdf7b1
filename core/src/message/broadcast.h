/* Messages that go to many connections at once. Each connection has a copy of its own, so that it
   queues, resends and releases it like any other message, and one that is slow or full holds up no
   other. The copies share their bits on the wire, which are kept in a ring: a connection that sends
   several of them in their order copies them all at once. When later broadcasts have overwritten a
   message's bits, a connection serializes its own copy. */
#ifndef CAUSEWAY_BROADCAST_H
#define CAUSEWAY_BROADCAST_H

#include "base/memory.h"
#include "message/channel_common.h"

#include "causeway/connection.h"

/* The bytes of the ring, and the most broadcasts in it: enough for several ticks of a busy server.
   Both are powers of two. */
#define CW_BROADCAST_BYTES  65536
#define CW_BROADCAST_BODIES 1024

struct cw_broadcasts {
    struct cw_copies copies;      /* it must come first */
    struct cw_message_pool *pool; /* holds the messages to be broadcast */
    uint8_t *ring;
    struct cw_broadcast_body *bodies; /* indexed by number */
    uint32_t number;                  /* the number of the latest broadcast */
    uint32_t written;                 /* bits that were ever written to the ring; wraps */
    uint32_t run;       /* the current run: its bodies follow each other without a gap */
    uint32_t type_bits; /* the width of the type in front of a body */
};

/* A message that is being broadcast. */
struct cw_broadcast {
    struct cw_message *message;
    uint32_t channel;
    uint32_t bits;   /* the bits that cw_channel_measure gives */
    uint32_t number; /* the number of its body; 0: none */
};

/* Takes its parts from the arena, whose memory is zero. broadcasts is zero too. capacity is the
   number of messages in the pool. */
enum cw_error cw_broadcasts_layout(struct cw_broadcasts *broadcasts, struct cw_arena *arena,
                                   const struct cw_schema *schema, uint32_t capacity);

/* Lets a connection take part. All have the same schema. */
void cw_broadcasts_join(struct cw_broadcasts *broadcasts, struct cw_connection *connection);

/* Checks a message of the pool for a channel that all connections have like this one. Errors: those
   of cw_connection_send that do not depend on what is queued. */
enum cw_error cw_broadcast_begin(struct cw_broadcasts *broadcasts,
                                 const struct cw_connection *connection, uint32_t channel,
                                 struct cw_message *message, struct cw_broadcast *broadcast);

/* Queues a copy of the message for a connection. Errors: CW_ERROR_NOT_CONNECTED,
   CW_ERROR_RECEIPTS_FULL, CW_ERROR_POOL_EMPTY, CW_ERROR_QUEUE_FULL, also when the connection holds
   more blocks of broadcasts than can still be made; nothing has changed then. */
enum cw_error cw_broadcast_send(const struct cw_broadcast *broadcast,
                                struct cw_connection *connection, double now);

#endif
