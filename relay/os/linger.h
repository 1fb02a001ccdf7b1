/* These are connections over which the relay sends nothing more. They stay open until the client
   has received everything. If one were closed while bytes from the client are unread or still
   arriving, TCP would reset the connection, and the client would lose what it has not read yet. */
#ifndef CAUSEWAY_RELAY_LINGER_H
#define CAUSEWAY_RELAY_LINGER_H

#include "os/loop.h"

/* The number of connections that may linger at a time. For one more, the one that has lingered
   longest is closed. */
#define LINGERS_MAX 32

struct lingers;

/* Creates the set. Returns NULL when there is no memory. */
struct lingers *lingers_create(struct loop *loop);

/* Closes all connections of the set. After that, linger does nothing. Call it before loop_destroy.
   NULL is allowed. */
void lingers_close(struct lingers *lingers);

/* Frees the set, which must be closed. NULL is allowed. */
void lingers_destroy(struct lingers *lingers);

/* Ends the sending direction of a connected socket and discards what still arrives, until the
   client has closed too, within bounds of time and amount. The caller still owns fd and closes it.
   */
void linger(struct lingers *lingers, int fd);

#endif
