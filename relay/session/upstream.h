/* The connected UDP sockets towards the game server, read and written in batches. */
#ifndef CAUSEWAY_RELAY_UPSTREAM_H
#define CAUSEWAY_RELAY_UPSTREAM_H

#include "net/loop.h"
#include "net/socket_address.h"
#include "net/stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct upstream_batch;

/* One socket; embedded in its session. Opened by the first upstream_send. */
struct upstream {
    struct upstream_batch *batch;
    struct loop_watch watch;
    uint32_t overflowed; /* see overflow.h */
    void (*datagram)(void *context, const uint8_t *data, size_t size);
    void (*flush)(void *context);
    void *context;
};

/* The buffers that all sockets share, and what is known of the game server at `game_server`, which
   outlives it like the loop and the stats do. NULL when there is no memory. */
struct upstream_batch *upstream_batch_create(struct loop *loop, struct stats *stats,
                                             const struct socket_address *game_server);
void upstream_batch_destroy(struct upstream_batch *batch);

/* Sends what upstream_send has gathered. */
void upstream_batch_flush(struct upstream_batch *batch);

/* Sets it up, without a socket. `datagram` gets each datagram of the game server, `flush` ends
   every run of them; both may call upstream_close. */
void upstream_init(struct upstream *upstream, struct upstream_batch *batch,
                   void (*datagram)(void *context, const uint8_t *data, size_t size),
                   void (*flush)(void *context), void *context);

/* Copies a datagram of at most SESSION_DATAGRAM_MAX bytes into the batch, which goes out when
   another socket's turn comes, when it is full, or at upstream_batch_flush. False when no socket
   can be opened. */
bool upstream_send(struct upstream *upstream, const uint8_t *data, size_t size);

/* Counts what has found its socket full since the last call. */
void upstream_count_overflow(struct upstream *upstream);

/* Sends what is gathered for it, counts what came for it in vain, and closes the socket. May be
   called again. */
void upstream_close(struct upstream *upstream);

#endif
