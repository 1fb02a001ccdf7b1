/* The loop that the hosts of server and client share: it waits for the next event until a tick is
   due. This header is not installed. */
#ifndef CAUSEWAY_NATIVE_HOST_LOOP_H
#define CAUSEWAY_NATIVE_HOST_LOOP_H

#include "causeway/native/socket.h"

#include <stdbool.h>

/* Datagrams that a host takes between two updates though the tick is over. */
#define CW_HOST_DATAGRAMS_PER_UPDATE 4096

struct cw_host_loop {
    void *host;
    struct cw_socket *socket;

    /* Takes the host's next event; false when there is none. */
    bool (*next)(void *host, void *event);

    /* Takes the next datagram; false when none had arrived, or none may be taken any more. */
    bool (*receive)(void *host, double until);

    /* Sends what is due. */
    void (*transmit)(void *host, double now);
};

/* Takes the next event, and waits for one until cw_clock_now reaches `until`. Returns false when
   that time has come and there is none. A time that is not finite counts as having come. */
bool cw_host_loop_next(const struct cw_host_loop *loop, double until, void *event);

#endif
