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

/* Takes the datagrams that came together from the game server; there may be none, when nothing that
   came can be used. The function may close the upstream. */
typedef void upstream_receive(void *context, const struct datagram *datagrams, size_t count);

/* One way to a game server, embedded in its session. The first upstream_send opens its socket. */
struct upstream {
    struct upstream_common *common;
    const struct socket_address *game_server;
    struct loop_watch watch; /* watches its socket; fd is -1 without one */
    bool server_down;        /* the latest answer of the path was that nobody is there */
    bool server_spoke;       /* a datagram has come */
    uint32_t overflow_count; /* see overflow.h */
    enum client_header_format header_format;
    const struct socket_address *client; /* the client that the header names */
    struct client_header header;         /* the header, once the socket is open */
    upstream_receive *receive;
    void *context;
    struct drops *drops; /* its session's */
};

/* Creates the parts that all upstreams share: a buffer to receive into, and the list of game
   servers that are down. loop and stats must outlive it. Returns NULL when there is no memory. */
struct upstream_common *upstream_common_create(struct loop *loop, struct stats *stats);
void upstream_common_destroy(struct upstream_common *common);

/* Returns one of the game servers that were found to be down and have not been heard since, of
   which only the latest 64 count; NULL when there are no more than `index`. */
const struct socket_address *upstream_common_down(const struct upstream_common *common,
                                                  unsigned index);

/* Initialises an upstream without opening a socket; game_server and drops, to which it adds what it
   drops, must outlive it. */
void upstream_init(struct upstream *upstream, struct upstream_common *common,
                   const struct socket_address *game_server, upstream_receive *receive,
                   void *context, struct drops *drops);

/* Puts a header with this client before the datagrams of an upstream; client must outlive the first
   of them. Call it before the first datagram, or not at all for no header. */
void upstream_tell_client(struct upstream *upstream, enum client_header_format format,
                          const struct socket_address *client);

/* Sends a datagram of at most SESSION_DATAGRAM_MAX bytes, or drops and counts it. Returns false
   when no socket can be opened. */
bool upstream_send(struct upstream *upstream, const uint8_t *data, size_t size);

/* Fills in the header and returns the socket, with which another process goes on. The socket stays
   this upstream's; -1 while there is none. */
int upstream_socket(const struct upstream *upstream, struct client_header *header);

/* Goes on with the header and the socket of another process, to which the game server has spoken;
   the upstream has no socket yet. Takes over fd. Returns false when that cannot be, and then fd is
   still the caller's. */
bool upstream_adopt(struct upstream *upstream, int fd, const struct client_header *header);

/* Leaves the socket to another process, which goes on with it: datagrams that have arrived wait for
   that process. It may be called again. */
void upstream_leave(struct upstream *upstream);

/* Fills in the address and port that the game server sees. Returns false while there is no socket.
 */
bool upstream_local(const struct upstream *upstream, struct socket_address *out);

/* Counts the datagrams that have found the socket full since the last call. */
void upstream_count_overflow(struct upstream *upstream);

/* Counts the datagrams that have arrived but can no longer be delivered, and closes the socket. May
   be called again. */
void upstream_close(struct upstream *upstream);

#endif
