/* Listening and UDP sockets that the process which started this one has open already. The system
   would not give their ports to another socket meanwhile. */
#ifndef CAUSEWAY_RELAY_INHERITED_SOCKETS_H
#define CAUSEWAY_RELAY_INHERITED_SOCKETS_H

#include "os/socket_address.h"

#include <stdbool.h>

/* The most sockets that all workers together can have: 64 of them, with 17 each at most. */
#define INHERITED_SOCKETS_MAX 1100

/* A list of sockets; all zero is an empty one. */
struct inherited_sockets {
    int fds[INHERITED_SOCKETS_MAX]; /* the sockets; -1 = somebody has taken it */
    unsigned count;
};

/* Adds a socket, which the list owns from now on. Returns false when there are too many. */
bool inherited_sockets_add(struct inherited_sockets *sockets, int fd);

/* Takes out a socket of this type (SOCK_STREAM, SOCK_DGRAM) that is bound to this address; any port
   will do when the address has none. Returns -1 when there is no such socket. */
int inherited_sockets_take(struct inherited_sockets *sockets, int type,
                           const struct socket_address *address);

/* Closes the sockets that nobody has taken. */
void inherited_sockets_close(struct inherited_sockets *sockets);

#endif
