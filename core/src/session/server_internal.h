/* A host uses more of its server than everyone does. */
#ifndef CAUSEWAY_SERVER_INTERNAL_H
#define CAUSEWAY_SERVER_INTERNAL_H

#include "causeway/server.h"

/* The most clients, connected or still connecting, that it speaks to at a time. */
uint32_t cw_server_most_clients(const struct cw_server *server);

#endif
