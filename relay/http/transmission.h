/* A response on its way to a client. */
#ifndef CAUSEWAY_RELAY_TRANSMISSION_H
#define CAUSEWAY_RELAY_TRANSMISSION_H

#include "http/response.h"
#include "os/loop.h"

#include <libwebsockets.h>
#include <stdbool.h>

struct transmission;

/* Begins to send a response, which it takes over; its head alone with `head_only`. Most responses
   go at once: then transmission_done says so. When the rest has been sent, or cannot be,
   libwebsockets is made to close the connection, which must then call transmission_end. Returns
   NULL when the system refuses. */
struct transmission *transmission_begin(struct loop *loop, struct lws *wsi,
                                        struct http_response *response, bool head_only);

/* Returns whether everything has been sent. */
bool transmission_done(const struct transmission *transmission);

/* Stops and frees the transmission. */
void transmission_end(struct transmission *transmission);

#endif
