/* The sockets for browsers that the supervisor opens for each worker: those of --listen and
   --http-redirect, at the same ports for all, and one of WebRTC, at a port of its own. */
#ifndef CAUSEWAY_RELAY_WORKER_SOCKETS_H
#define CAUSEWAY_RELAY_WORKER_SOCKETS_H

#include "options/options.h"
#include "os/inherited_sockets.h"

#include <stdbool.h>

#define WORKER_SOCKETS_MAX (2 * OPTIONS_LISTEN_MAX + 1)

_Static_assert(WORKER_SOCKETS_MAX *OPTIONS_WORKERS_MAX <= INHERITED_SOCKETS_MAX,
               "a successor inherits those of all workers");

struct worker_sockets {
    int fds[WORKER_SOCKETS_MAX];
    unsigned count;
};

/* Opens the sockets of options->workers, or takes over inherited ones. Logs why and returns false
   when it cannot; the sockets that are open then are still in *out. */
bool worker_sockets_open(const struct options *options, struct inherited_sockets *inherited,
                         struct worker_sockets *out);

/* Sends the sockets of one worker to a process that is starting. Returns false when it does not
   take them. */
bool worker_sockets_send(const struct worker_sockets *sockets, int channel);

/* Logs where all workers listen. */
void worker_sockets_announce(const struct worker_sockets *sockets, const struct options *options);

/* Closes the sockets of one worker. */
void worker_sockets_close(struct worker_sockets *sockets);

#endif
