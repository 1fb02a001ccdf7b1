/* The connections of the admin listener. It is not a vhost of libwebsockets, so that it answers
   however many browsers there are: it has places of its own, and a slow client loses its place to
   the next. */
#ifndef CAUSEWAY_RELAY_ADMIN_SERVER_H
#define CAUSEWAY_RELAY_ADMIN_SERVER_H

#include "admin/request.h"
#include "admin/text.h"
#include "os/inherited_sockets.h"
#include "os/loop.h"
#include "os/socket_address.h"

#include <stdint.h>

struct admin_reply {
    unsigned status;
    const char *type; /* constant text */
    struct text body;
};

/* An empty reply, of plain text. */
#define ADMIN_REPLY                                                                                \
    (struct admin_reply)                                                                           \
    {                                                                                              \
        .status = 200, .type = "text/plain"                                                        \
    }

/* Takes a request, which is gone when this returns, and has admin_server_answer called with the
   ticket, now or later. */
typedef void admin_handle(void *context, const struct admin_request *request, uint64_t ticket);

struct admin_server;

/* Listens at an address, or takes over the socket that this process has inherited. Logs why and
   returns NULL when it cannot. */
struct admin_server *admin_server_create(const struct socket_address *address, struct loop *loop,
                                         struct inherited_sockets *inherited, admin_handle *handle,
                                         void *context);

/* Answers the request that came with a ticket, unless its client has gone. Frees the reply's body.
 */
void admin_server_answer(struct admin_server *server, uint64_t ticket, struct admin_reply *reply);

/* Returns the listening socket, for another process; -1 when it is closed. */
int admin_server_socket(const struct admin_server *server);

/* Logs where the server listens. */
void admin_server_announce(const struct admin_server *server);

/* Takes no more connections. It may be called again. */
void admin_server_close(struct admin_server *server);

/* Closes all connections and frees the server. Call it before loop_destroy. NULL is allowed. */
void admin_server_destroy(struct admin_server *server);

#endif
