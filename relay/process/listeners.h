/* All listeners for browsers that the options ask for: --listen and --http-redirect. */
#ifndef CAUSEWAY_RELAY_LISTENERS_H
#define CAUSEWAY_RELAY_LISTENERS_H

#include "http/listener.h"
#include "options/options.h"

#include <libwebsockets.h>
#include <stdbool.h>

/* Seconds for a client to send its request; an open connection waits as long for the next one. */
#define LISTENERS_REQUEST_SECONDS 10

/* All zero has none. */
struct listeners {
    struct listener *listen[OPTIONS_LISTEN_MAX];
    struct listener *redirects[OPTIONS_LISTEN_MAX];
    struct lws_protocols protocols[2]; /* of the redirects */
    unsigned port;                     /* of the first; to it --http-redirect sends */
};

/* Opens them; config->vhost serves those of --listen. Logs why and returns false when it cannot. */
bool listeners_open(struct listeners *listeners, const struct options *options,
                    const struct listener_config *config);

/* Sends their sockets to a process that is starting. False when it does not take them. */
bool listeners_send(const struct listeners *listeners, int channel);

/* Logs where they listen. */
void listeners_announce(const struct listeners *listeners);

/* Has the sockets refuse connections, which other processes may have too. */
void listeners_stop(struct listeners *listeners);

/* Closes them. May be called again. */
void listeners_close(struct listeners *listeners);

#endif
