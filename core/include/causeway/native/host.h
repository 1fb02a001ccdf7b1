/* A host is a game server on a UDP socket and the system's clock. It does everything between a
   cw_server and the game loop.

       for (double tick = cw_clock_now(); running; tick = cw_clock_next_tick(tick, 1 / 60.0)) {
           while (cw_host_next(host, tick, &event))
               ...what a player did...
           ...what the game does in a tick...
           cw_host_update(host);
       } */
#ifndef CAUSEWAY_NATIVE_HOST_H
#define CAUSEWAY_NATIVE_HOST_H

#include "causeway/base.h"
#include "causeway/server.h"

CW_BEGIN_DECLARATIONS

/* A host is not thread-safe, but any number may exist. */
struct cw_host;

struct cw_host_config {
    /* Its allocator is the host's too. In its netcode config, unix_offset_seconds is ignored,
       because the host keeps it right, and addresses may be NULL; then tokens must name the address
       that the socket is bound to. */
    struct cw_server_config server;

    /* Relays and other proxies that tell whose a datagram is: addresses ("10.0.0.5") or prefixes
       ("10.0.0.0/16"), each terminated text, which only open reads. A header of the Simple Proxy
       Protocol or of the PROXY protocol, version 2, before a datagram from there then says by which
       address the server knows the player, and what the server sends to that address goes to the
       proxy. Such a datagram from elsewhere is malformed. Name only proxies that put a header
       before the players' datagrams; through others a player could send one. Default none. */
    const char *const *trusted_proxies;
    uint32_t trusted_proxy_count;
};

struct cw_host_config cw_host_config_default(void);

/* Opens a socket at listen, in any form that cw_resolve reads and with a port, and creates a server
   on it. Port 0 is a free one of the system's choice; see cw_host_address. *host is set only on
   CW_OK. Errors: those of cw_resolve, cw_socket_open and cw_server_create. CW_ERROR_PORT when
   listen has no port; that of a field: addresses also when listen means all addresses of this
   machine and the config does not say which of them tokens name, trusted_proxies for one that is
   neither an address nor a prefix, or has bits behind the prefix. */
enum cw_error cw_host_open(const char *listen, const struct cw_host_config *config,
                           struct cw_host **host);

/* Tells the clients that the server is closing, and destroys it. First release all messages that
   the application still holds. NULL is allowed. */
void cw_host_close(struct cw_host *host);

/* Returns the server, for sending messages, disconnecting clients and reading statistics. Do not
   call its receive, transmit, next or update: the host does. */
struct cw_server *cw_host_server(struct cw_host *host);

/* Returns the address that the socket is bound to. It is valid as long as the host exists. */
const struct cw_address *cw_host_address(const struct cw_host *host);

/* Takes the next event, and waits for one until cw_clock_now reaches `until`. Returns false when
   that time has come and there is none. A time that is not finite counts as having come. Calls
   after that do not wait, but still take datagrams that have arrived, up to 4096 between two
   updates, empty and oversized ones included. So a flood of datagrams cannot delay the game's tick,
   and a slow tick cannot keep datagrams from the game. */
bool cw_host_next(struct cw_host *host, double until, struct cw_server_event *event);

/* Lets time pass and sends what is due. Call it once per tick. */
void cw_host_update(struct cw_host *host);

/* This is a host for payloads of the application's own, without messages; see netcode_server.h. */
struct cw_netcode_host;

struct cw_netcode_host_config {
    /* Its allocator is the host's too. unix_offset_seconds is ignored, because the host keeps it
       right. addresses may be NULL; then tokens must name the address that the socket is bound
       to. */
    struct cw_netcode_server_config server;

    /* These are as in a struct cw_host_config. */
    const char *const *trusted_proxies;
    uint32_t trusted_proxy_count;
};

struct cw_netcode_host_config cw_netcode_host_config_default(void);

/* Does what cw_host_open does; its errors are those of cw_netcode_server_create too. */
enum cw_error cw_netcode_host_open(const char *listen, const struct cw_netcode_host_config *config,
                                   struct cw_netcode_host **host);

/* Tells the clients that the server is closing, and destroys it. NULL is allowed. */
void cw_netcode_host_close(struct cw_netcode_host *host);

/* Returns the server, for sending payloads, disconnecting clients and reading statistics. Do not
   call its receive, transmit, next or update: the host does. */
struct cw_netcode_server *cw_netcode_host_server(struct cw_netcode_host *host);

/* These do what those of a cw_host do. */
const struct cw_address *cw_netcode_host_address(const struct cw_netcode_host *host);
bool cw_netcode_host_next(struct cw_netcode_host *host, double until,
                          struct cw_netcode_server_event *event);
void cw_netcode_host_update(struct cw_netcode_host *host);

CW_END_DECLARATIONS

#endif
