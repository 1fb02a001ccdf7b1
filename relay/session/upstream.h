/* The UDP sockets towards the game servers, a connected one for each session, read and written in
   batches. */
#ifndef CAUSEWAY_RELAY_UPSTREAM_H
#define CAUSEWAY_RELAY_UPSTREAM_H

#include "os/loop.h"
#include "os/socket_address.h"
#include "session/client_header.h"
#include "stats/stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct upstream_batch;

/* One way to a game server, embedded in its session. The first upstream_send opens it. */
struct upstream {
    struct upstream_batch *batch;
    const struct socket_address *game_server;
    struct loop_watch watch; /* of its socket; fd is -1 without */
    bool refused;            /* the latest that came back says that nobody is there */
    bool heard;              /* a datagram has come */
    uint32_t overflowed;     /* see overflow.h */
    enum client_header_format header_format;
    const struct socket_address *client; /* for the header */
    struct client_header header;         /* once the socket is open */
    void (*datagram)(void *context, const uint8_t *data, size_t size);
    void (*flush)(void *context);
    void *context;
};

/* The buffers that all sockets share, and which game servers are down. loop and stats must outlive
   it. NULL when there is no memory. */
struct upstream_batch *upstream_batch_create(struct loop *loop, struct stats *stats);
void upstream_batch_destroy(struct upstream_batch *batch);

/* The number of game servers that were found to be down and have not been heard of since; of many
   the latest 64. */
unsigned upstream_batch_down(const struct upstream_batch *batch);

/* Sends what upstream_send has gathered. */
void upstream_batch_flush(struct upstream_batch *batch);

/* Initialises it without opening a socket; game_server must outlive it. `datagram` gets each
   datagram from the game server, and `flush` ends every run of them. Both may call upstream_close.
 */
void upstream_init(struct upstream *upstream, struct upstream_batch *batch,
                   const struct socket_address *game_server,
                   void (*datagram)(void *context, const uint8_t *data, size_t size),
                   void (*flush)(void *context), void *context);

/* Has a header with this client before its datagrams; client must outlive the first of them. Call
   it before that, or not at all for none. */
void upstream_tell_client(struct upstream *upstream, enum client_header_format format,
                          const struct socket_address *client);

/* Copies a datagram of at most SESSION_DATAGRAM_MAX bytes into the batch, which goes out when
   another socket has its turn, when it is full, or at upstream_batch_flush. False when no socket
   can be opened. */
bool upstream_send(struct upstream *upstream, const uint8_t *data, size_t size);

/* What another process needs to go on with it: its header, and its socket, which stays its own; -1
   while it has none. */
int upstream_socket(const struct upstream *upstream, struct client_header *header);

/* Goes on with the header and the socket of another process, whose game server has been heard; the
   upstream has none yet. Takes over fd. False when that cannot be, and fd is still the caller's. */
bool upstream_adopt(struct upstream *upstream, int fd, const struct client_header *header);

/* Sends what has been gathered for it and lets go of its socket, with which another process goes
   on: what has arrived waits for that. May be called again. */
void upstream_leave(struct upstream *upstream);

/* The address and port from which the game server hears it. False while it has none. */
bool upstream_local(const struct upstream *upstream, struct socket_address *out);

/* Counts the datagrams that have found its socket full since the last call. */
void upstream_count_overflow(struct upstream *upstream);

/* Sends what has been gathered for it, counts what has arrived but can no longer be delivered, and
   closes the socket. May be called again. */
void upstream_close(struct upstream *upstream);

#endif
