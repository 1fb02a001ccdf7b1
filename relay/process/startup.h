/* The things that a process of the relay gets from the one that started it: the secret of the
   sessions' hashes, open sockets for browsers, and, as a worker, memory and a file that it shares
   with its supervisor. */
#ifndef CAUSEWAY_RELAY_STARTUP_H
#define CAUSEWAY_RELAY_STARTUP_H

#include "os/inherited_sockets.h"
#include "process/message.h"

#include <stdbool.h>
#include <stdint.h>

struct startup {
    int channel; /* to the process that started this one; -1 = none did, and there is nothing */
    uint8_t secret[MESSAGE_SECRET_SIZE];
    unsigned worker;  /* which one this is, from 1 on; 0 = none */
    unsigned workers; /* how many there are */
    int counters;     /* the memory of its counters; -1 = none */
    int filter;       /* that of the directory's filter; -1 = none */
    int options;      /* a copy of the file of options; -1 = none */
    struct inherited_sockets sockets;
};

/* Send the parts of it; `worker` of `workers`, or 0 of 0. False when the other process does not
   take them. */
bool startup_send_hello(int channel, const uint8_t secret[MESSAGE_SECRET_SIZE], unsigned worker,
                        unsigned workers);
bool startup_send_socket(int channel, int socket);

/* Receives what is for this process, up to MESSAGE_OPEN, or finds that no process of the relay has
   started it. Call it once. Logs why and returns false when it cannot. */
bool startup_receive(struct startup *out);

/* Closes what nobody has taken, and the channel. */
void startup_close(struct startup *startup);

/* Sends blocks as MESSAGE_BLOCKS, once everything is open. False when the other process does not
   take them. */
bool startup_send_blocks(int channel, const struct blocks *blocks);

/* Adds those of such a message. */
void startup_take_blocks(struct blocks *blocks, const void *data, size_t size);

#endif
