/* The relay as a whole. */
#ifndef CAUSEWAY_RELAY_SERVER_H
#define CAUSEWAY_RELAY_SERVER_H

#include "options.h"

struct server;

/* Opens everything; NULL after logging what failed. options outlives it. */
struct server *server_create(const struct options *options);

/* Serves until a signal has stopped it and all sessions are closed. */
void server_run(struct server *server);

/* Closes everything. NULL is allowed. */
void server_destroy(struct server *server);

#endif
