/* All listeners for browsers that the options ask for: --listen and --http-redirect. */
#ifndef CAUSEWAY_RELAY_LISTENERS_H
#define CAUSEWAY_RELAY_LISTENERS_H

#include "http/listener.h"
#include "options/options.h"

#include <stdbool.h>

/* The listeners; all zero has none. */
struct listeners {
    struct listener *listen[OPTIONS_LISTEN_MAX];
    struct listener *redirects[OPTIONS_LISTEN_MAX];
    struct http *redirect; /* the server of the redirects */
    /* the port of the first --listen, to which --http-redirect sends */
    unsigned port;
};

/* Opens the listeners; config->http serves those of --listen, and a server that is created from
   `redirect` the others. Logs why and returns false when it cannot. */
bool listeners_open(struct listeners *listeners, const struct options *options,
                    const struct listener_config *config, const struct http_config *redirect);

/* Sends the sockets to a process that is starting. Returns false when it does not take them. */
bool listeners_send(const struct listeners *listeners, int channel);

/* Logs where the relay listens for browsers. */
void listeners_announce(const struct listeners *listeners);

/* Makes the sockets refuse connections, also where other processes have them open. */
void listeners_stop(struct listeners *listeners);

/* Closes the listeners. It may be called again. */
void listeners_close(struct listeners *listeners);

/* Frees the rest. Call it after loop_destroy. */
void listeners_free(struct listeners *listeners);

#endif
