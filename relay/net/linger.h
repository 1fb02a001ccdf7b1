/* Connections on which the relay has said its last: they stay open until the client has heard it.
   Closed at once, with bytes of the client unread or still to come, TCP resets the connection, and
   the client loses the reply that it had not read. */
#ifndef CAUSEWAY_RELAY_LINGER_H
#define CAUSEWAY_RELAY_LINGER_H

#include "net/loop.h"

/* At a time; when there are more, the one that lingers longest is closed. */
#define LINGERS_MAX 32

struct lingers;

/* Makes the set; NULL when there is no memory. */
struct lingers *lingers_create(struct loop *loop);

/* Closes them all; from now on linger does nothing. To be called before loop_destroy. */
void lingers_close(struct lingers *lingers);

/* Frees the set, which has been closed. NULL is allowed. */
void lingers_destroy(struct lingers *lingers);

/* Ends the sending direction of a connected socket and throws away what still comes, until the
   client has closed too, for a bounded time and amount. fd stays the caller's, to be closed. */
void linger(struct lingers *lingers, int fd);

#endif
