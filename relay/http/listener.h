/* Listening TCP sockets. The connections that they accept are not sessions yet. */
#ifndef CAUSEWAY_RELAY_LISTENER_H
#define CAUSEWAY_RELAY_LISTENER_H

#include "http/proxy_connections.h"
#include "limits/pre_session_limit.h"
#include "os/inherited_sockets.h"
#include "os/loop.h"
#include "os/prefix.h"

struct listener;

/* The sources of listening sockets, and the places to which their connections go. All but the
   inherited sockets must outlive the listeners. */
struct listener_config {
    struct loop *loop;
    struct http *http; /* the server of the connections */
    struct pre_session_limit *pre_sessions;
    struct proxy_connections *proxy_connections;
    /* proxies whose connections are read first; NULL = none */
    const struct prefix_list *proxies;
    struct inherited_sockets *inherited; /* sockets that may be open already */
    /* This is asked before connections are accepted; NULL = they always are. It returns false when
       they are for other processes; the listener may then be destroyed already. */
    bool (*may_accept)(void *context);
    void *context;
};

/* Opens a listening socket, or takes over one that this process has inherited. With `shared` there
   may be several at the same address, between which the system divides the connections. Returns -1,
   with errno, when it cannot. */
int listener_open_socket(struct socket_address *address, struct inherited_sockets *inherited,
                         bool shared);

/* Opens a listener at "host:port", or takes over one that this process has inherited; [::] takes
   IPv4 too. Logs why and returns NULL when it cannot. */
struct listener *listener_create(const char *text, const struct listener_config *config);

/* Returns the socket of a listener, for another process. */
int listener_socket(const struct listener *listener);

/* Logs where a listener listens, after `what`, a word on its kind. */
void listener_announce(const struct listener *listener, const char *what);

/* Returns the port on which a listener listens. */
unsigned listener_port(const struct listener *listener);

/* Makes the socket refuse connections, also where other processes have it open. NULL is allowed. */
void listener_stop(struct listener *listener);

/* Closes a listener. Connections that it has accepted stay open. NULL is allowed. */
void listener_destroy(struct listener *listener);

#endif
