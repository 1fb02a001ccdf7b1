/* Listening TCP sockets. The connections that they accept are not sessions yet. */
#ifndef CAUSEWAY_RELAY_LISTENER_H
#define CAUSEWAY_RELAY_LISTENER_H

#include "http/preface.h"
#include "limits/pre_session_limit.h"
#include "os/inherited_sockets.h"
#include "os/loop.h"
#include "os/prefix.h"

struct listener;

/* Where listeners come from, and what becomes of the connections. All but the inherited sockets
   must outlive the listeners. */
struct listener_config {
    struct loop *loop;
    struct lws_vhost *vhost; /* serves them */
    struct pre_session_limit *pre_sessions;
    struct prefaces *prefaces;
    const struct prefix_list *proxies;   /* connections from these begin with a preface */
    struct inherited_sockets *inherited; /* the sockets that may be open already */
};

/* Opens a listening socket, or takes over one that this process has inherited. With `shared` there
   may be several at the same address, between which the system divides the connections. -1, with
   errno, when it cannot. */
int listener_open_socket(struct socket_address *address, struct inherited_sockets *inherited,
                         bool shared);

/* Opens one at "host:port", or takes over one that this process has inherited; [::] takes IPv4 too.
 * Logs why and returns NULL when it cannot. */
struct listener *listener_create(const char *text, const struct listener_config *config);

/* Its socket, for another process. */
int listener_socket(const struct listener *listener);

/* Logs where it listens, after a word on what it is. */
void listener_announce(const struct listener *listener, const char *what);

/* The port on which it listens. */
unsigned listener_port(const struct listener *listener);

/* Nobody can connect any more, also where other processes have the socket open. NULL is allowed. */
void listener_stop(struct listener *listener);

/* Closes it. Connections that it has accepted stay open. NULL is allowed. */
void listener_destroy(struct listener *listener);

#endif
