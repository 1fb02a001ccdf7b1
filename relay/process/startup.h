/* A process of the relay gets these from the one that started it: the secret of the sessions'
   hashes, open sockets for browsers, and, as a worker, memory and a file that it shares with its
   supervisor. */
#ifndef CAUSEWAY_RELAY_STARTUP_H
#define CAUSEWAY_RELAY_STARTUP_H

#include "os/inherited_sockets.h"
#include "process/message.h"

#include <stdbool.h>
#include <stdint.h>

struct startup {
    int channel; /* leads to the process that started this one; -1 = all is empty */
    uint8_t secret[MESSAGE_SECRET_SIZE];
    unsigned worker;  /* the number of this worker, from 1 on; 0 = it is none */
    unsigned workers; /* the number of workers */
    int counters;     /* the memory of its counters; -1 = none */
    int filter;       /* the memory of the directory's filter; -1 = none */
    int options;      /* a copy of the file of options; -1 = none */
    struct inherited_sockets sockets;
};

/* Send the parts of a startup; `worker` of `workers`, or 0 of 0. They return false when the other
   process does not take them. */
bool startup_send_hello(int channel, const uint8_t secret[MESSAGE_SECRET_SIZE], unsigned worker,
                        unsigned workers);
bool startup_send_socket(int channel, int socket);

/* Receives everything that is for this process, up to MESSAGE_OPEN, or finds that no process of the
   relay has started it. Call it once. Logs why and returns false when it cannot. */
bool startup_receive(struct startup *out);

/* Closes the descriptors that nobody has taken, and the channel. */
void startup_close(struct startup *startup);

/* Sends blocks as MESSAGE_BLOCKS, once everything is open. Returns false when the other process
   does not take them. */
bool startup_send_blocks(int channel, const struct blocks *blocks);

/* Adds the blocks of such a message. */
void startup_take_blocks(struct blocks *blocks, const void *data, size_t size);

#endif
