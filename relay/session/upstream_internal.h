/* What the parts of an upstream share: upstream.c has a socket for each session, and all that is
   the same for both kinds; upstream_shared.c has one for many sessions. */
#ifndef CAUSEWAY_RELAY_UPSTREAM_INTERNAL_H
#define CAUSEWAY_RELAY_UPSTREAM_INTERNAL_H

#include "os/log.h"
#include "session/datagram.h"
#include "session/upstream.h"

#include <netinet/in.h>

#define UPSTREAM_BATCH 64

/* Game servers that are remembered to be down. */
#define UPSTREAM_DOWN_MAX 64

/* Room for the local address of a datagram. */
struct local_address {
    _Alignas(struct cmsghdr) uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

/* Datagrams side by side, as recvmmsg and sendmmsg take them. */
struct bundle {
    struct mmsghdr header[UPSTREAM_BATCH];
    struct iovec piece[UPSTREAM_BATCH];
    uint8_t data[UPSTREAM_BATCH][CLIENT_HEADER_MAX + SESSION_DATAGRAM_MAX];
    struct local_address local[UPSTREAM_BATCH];
};

struct upstream_batch {
    struct loop *loop;
    struct stats *stats;
    struct upstream *receiver; /* whose datagrams are being handed on */
    int out_socket;            /* through which those in `out` go; -1 = there are none */
    unsigned gathered;
    struct socket_address down[UPSTREAM_DOWN_MAX]; /* not heard of since */
    unsigned down_count;
    struct log_limit down_limit;
    struct log_limit unsent_limit;
    struct log_limit up_limit;
    struct log_limit open_limit;
    struct upstream_shared *shared;          /* NULL = each session has a socket of its own */
    struct upstream *sender[UPSTREAM_BATCH]; /* of each in `out` */
    struct bundle out;
    struct bundle in;
};

/* Gives the headers of a bundle, which is all zero, their places for data. */
void upstream_bundle_init(struct bundle *bundle);

/* An error of the path to the game server is the game server's state, not the session's end. */
bool upstream_means_down(int error);

/* The game server is down, or has spoken. */
void upstream_report_down(struct upstream *upstream, int error);
void upstream_report_up(struct upstream *upstream);

/* Hands a datagram of the game server on, without its header. */
void upstream_take(struct upstream *upstream, const uint8_t *data, size_t size, bool truncated);

/* One socket for many sessions, which the game servers tell apart by their source addresses. There
   is one for IPv4 and one for IPv6, each with a prefix that the system must have given to this
   machine as a whole. */
struct upstream_shared;

/* Opens a socket for each prefix, of which a family has one at most. NULL after logging why it
   cannot, or why the prefix is not this machine's. */
struct upstream_shared *upstream_shared_create(struct upstream_batch *batch,
                                               const struct prefix_list *prefixes,
                                               unsigned sessions);
void upstream_shared_destroy(struct upstream_shared *shared);

/* Gives a session an address: sets upstream->source. False after logging that none is free. */
bool upstream_shared_open(struct upstream_shared *shared, struct upstream *upstream);

/* Gives it the address that it had in another process, whose socket fd is. Takes over fd. False,
   and fd is still the caller's, when that cannot be. */
bool upstream_shared_adopt(struct upstream_shared *shared, struct upstream *upstream, int fd,
                           const unsigned char address[16]);

/* Its address rests from now on. */
void upstream_shared_close(struct upstream_shared *shared, struct upstream *upstream);

/* Reads no more: another process does. */
void upstream_shared_leave(struct upstream_shared *shared);

/* The socket of a session that has an address. */
int upstream_shared_socket(const struct upstream_shared *shared, const struct upstream *upstream);

/* Makes a datagram go from the session's address to its game server. out->msg_control has room for
   a struct local_address. */
void upstream_shared_direct(const struct upstream *upstream, struct msghdr *out);

/* Counts the datagrams that have found a socket full since the last call. */
void upstream_shared_count_overflow(struct upstream_shared *shared);

#endif
