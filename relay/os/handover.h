/* Messages between the processes of one relay, with a file descriptor or without, over a pair of
   Unix sockets that keeps them whole. */
#ifndef CAUSEWAY_RELAY_HANDOVER_H
#define CAUSEWAY_RELAY_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most that a message holds. */
#define HANDOVER_MAX 512

struct handover_message {
    uint32_t kind; /* its meaning is the users' */
    size_t size;
    uint8_t data[HANDOVER_MAX];
    int fd; /* -1 = none, or this process may have no more; the receiver owns it */
};

enum handover_result {
    HANDOVER_MESSAGE,
    HANDOVER_NONE,  /* none has come; never when the socket waits */
    HANDOVER_ENDED, /* the other process has closed its end, or sent what is no message */
};

/* Opens two connected sockets that wait, and are not inherited. False, with errno, when the system
   refuses. */
bool handover_pair(int out[2]);

/* Sends a message of at most HANDOVER_MAX bytes, with a copy of fd unless that is -1. Waits while
   the other process is behind, at most so long as the socket's send timeout says. False, with
   errno, when it cannot. */
bool handover_send(int socket, uint32_t kind, const void *data, size_t size, int fd);

/* Receives the next message. With `wait` it waits for one, at most so long as the socket's receive
   timeout says. */
enum handover_result handover_receive(int socket, struct handover_message *out, bool wait);

#endif
