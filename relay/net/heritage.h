/* What a process of the relay gets from the one that started it, over a Unix socket: the secret of
   the sessions' names, and open sockets for browsers, which would not let others have their ports
   otherwise. */
#ifndef CAUSEWAY_RELAY_HERITAGE_H
#define CAUSEWAY_RELAY_HERITAGE_H

#include "net/socket_address.h"

#include <stdbool.h>
#include <stdint.h>

#define HERITAGE_SECRET_SIZE 32
#define HERITAGE_SOCKETS_MAX 32

/* Kinds of messages, in the order in which they come. */
enum heritage_message {
    HERITAGE_SECRET = 1, /* to the new process: version and secret */
    HERITAGE_SOCKET,     /* each with a socket */
    HERITAGE_OPEN,       /* that was all: open everything */
    HERITAGE_READY,      /* from the new process: everything is open */
    HERITAGE_PARCEL,     /* to it: a session and its socket */
    HERITAGE_START,      /* those were all */
    HERITAGE_STARTED,    /* from it: it serves them from now on */
};

struct heritage {
    int line; /* to the process that started this one; -1 = none did, and there is nothing */
    uint8_t secret[HERITAGE_SECRET_SIZE];
    int sockets[HERITAGE_SOCKETS_MAX]; /* -1 = taken */
    unsigned count;
};

/* Sends the parts of a heritage. False when the other process does not take them. */
bool heritage_send_secret(int line, const uint8_t secret[HERITAGE_SECRET_SIZE]);
bool heritage_send_socket(int line, int socket);

/* Receives the heritage of this process, up to HERITAGE_OPEN, or finds that there is none. Call it
   once. Logs why and returns false when it cannot. */
bool heritage_receive(struct heritage *out);

/* Takes out a socket of this type (SOCK_STREAM, SOCK_DGRAM) that is bound to this address; any port
   will do when that has none. -1 when there is none. */
int heritage_take(struct heritage *heritage, int type, const struct socket_address *address);

/* Closes the sockets that nobody has taken, and the line. */
void heritage_close(struct heritage *heritage);

#endif
