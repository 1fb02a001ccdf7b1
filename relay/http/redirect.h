/* Plain HTTP beside HTTPS: every request is sent to the HTTPS listener. */
#ifndef CAUSEWAY_RELAY_REDIRECT_H
#define CAUSEWAY_RELAY_REDIRECT_H

#include "http/http.h"

/* Adds the route of all requests. *port is the port to which they are sent. */
void redirect_add_route(struct http *http, unsigned *port);

#endif
