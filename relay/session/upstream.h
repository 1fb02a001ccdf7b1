/* The UDP sockets towards the game servers: a connected one for each session. */
#ifndef CAUSEWAY_RELAY_UPSTREAM_H
#define CAUSEWAY_RELAY_UPSTREAM_H

#include "os/loop.h"
#include "os/socket_address.h"
#include "session/client_header.h"
#include "session/datagram.h"
#include "stats/stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct upstream_common;

/* A function that takes the datagrams which came together from the game server; none when nothing
   of what came can be used. It may close the upstream. */
typedef void upstream_receive(void *context, const struct datagram *datagrams, size_t count);

/* One way to a game server, embedded in its session. The first upstream_send opens it. */
struct upstream {
    struct upstream_common *common;
    const struct socket_address *game_server;
    struct loop_watch watch; /* of its socket; fd is -1 without */
    bool server_down;        /* the latest that came back says that nobody is there */
    bool server_spoke;       /* a datagram has come */
    uint32_t overflow_count; /* see overflow.h */
    enum client_header_format header_format;
    const struct socket_address *client; /* for the header */
    struct client_header header;         /* once the socket is open */
    upstream_receive *receive;
    void *context;
};

/* Creates what all upstreams share: a buffer to receive into, and which game servers are down. loop
   and stats must outlive it. NULL when there is no memory. */
struct upstream_common *upstream_common_create(struct loop *loop, struct stats *stats);
void upstream_common_destroy(struct upstream_common *common);

/* The number of game servers that were found to be down and have not been heard of since; of many
   the latest 64. */
unsigned upstream_common_down(const struct upstream_common *common);

/* Initialises it without opening a socket; game_server must outlive it. */
void upstream_init(struct upstream *upstream, struct upstream_common *common,
                   const struct socket_address *game_server, upstream_receive *receive,
                   void *context);

/* Has a header with this client before its datagrams; client must outlive the first of them. Call
   it before that, or not at all for none. */
void upstream_tell_client(struct upstream *upstream, enum client_header_format format,
                          const struct socket_address *client);

/* Sends a datagram of at most SESSION_DATAGRAM_MAX bytes, or drops and counts it. False when no
   socket can be opened. */
bool upstream_send(struct upstream *upstream, const uint8_t *data, size_t size);

/* What another process needs to go on with it: its header, and its socket, which stays its own; -1
   while it has none. */
int upstream_socket(const struct upstream *upstream, struct client_header *header);

/* Goes on with the header and the socket of another process, to which the game server has spoken;
   the upstream has none yet. Takes over fd. False when that cannot be, and fd is still the
   caller's. */
bool upstream_adopt(struct upstream *upstream, int fd, const struct client_header *header);

/* Lets go of its socket, with which another process goes on: what has arrived waits for that. May
   be called again. */
void upstream_leave(struct upstream *upstream);

/* The address and port from which the game server hears it. False while it has none. */
bool upstream_local(const struct upstream *upstream, struct socket_address *out);

/* Counts the datagrams that have found its socket full since the last call. */
void upstream_count_overflow(struct upstream *upstream);

/* Counts what has arrived but can no longer be delivered, and closes the socket. May be called
   again. */
void upstream_close(struct upstream *upstream);

#endif
