/* All listeners for browsers that the options ask for: --listen and --http-redirect. */
#ifndef CAUSEWAY_RELAY_LISTENERS_H
#define CAUSEWAY_RELAY_LISTENERS_H

#include "http/listener.h"
#include "options/options.h"

#include <libwebsockets.h>
#include <stdbool.h>

/* Seconds for a client to send its request; an open connection waits as long for the next request.
 */
#define LISTENERS_REQUEST_SECONDS 10

/* The listeners; all zero has none. */
struct listeners {
    struct listener *listen[OPTIONS_LISTEN_MAX];
    struct listener *redirects[OPTIONS_LISTEN_MAX];
    struct lws_protocols protocols[2]; /* the protocols of the redirects */
    /* the port of the first --listen, to which --http-redirect sends */
    unsigned port;
};

/* Opens the listeners; config->vhost serves those of --listen. Logs why and returns false when it
   cannot. */
bool listeners_open(struct listeners *listeners, const struct options *options,
                    const struct listener_config *config);

/* Sends the sockets to a process that is starting. Returns false when it does not take them. */
bool listeners_send(const struct listeners *listeners, int channel);

/* Logs where the relay listens for browsers. */
void listeners_announce(const struct listeners *listeners);

/* Makes the sockets refuse connections, also where other processes have them open. */
void listeners_stop(struct listeners *listeners);

/* Closes the listeners. It may be called again. */
void listeners_close(struct listeners *listeners);

#endif
