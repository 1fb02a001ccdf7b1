/* What client and server do with the connections that are theirs. */
#ifndef CAUSEWAY_CONNECTION_OPEN_H
#define CAUSEWAY_CONNECTION_OPEN_H

#include "causeway/connection.h"

/* Whether messages are taken to be sent: without anyone at the other end they would be lost. True
   after create; a reset leaves it as it is. */
void cw_connection_set_open(struct cw_connection *connection, bool open);

#endif
