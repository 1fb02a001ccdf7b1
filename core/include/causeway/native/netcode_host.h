/* A server for payloads of the application's own, on a UDP socket and the system's clock: what
   native/host.h is for messages. */
#ifndef CAUSEWAY_NATIVE_NETCODE_HOST_H
#define CAUSEWAY_NATIVE_NETCODE_HOST_H

#include "causeway/base.h"
#include "causeway/netcode_server.h"

CW_BEGIN_DECLARATIONS

/* A host is not thread-safe; any number may exist. */
struct cw_netcode_host;

struct cw_netcode_host_config {
    /* Its allocator is the host's too. unix_offset_seconds is ignored, because the host keeps it
       right. addresses may be NULL; then tokens must name the address that the socket is bound
       to. */
    struct cw_netcode_server_config server;

    /* As those of a cw_host. */
    const char *const *trusted_proxies;
    uint32_t trusted_proxy_count;
};

struct cw_netcode_host_config cw_netcode_host_config_default(void);

/* As cw_host_open. */
enum cw_error cw_netcode_host_open(const char *listen, const struct cw_netcode_host_config *config,
                                   struct cw_netcode_host **host);

/* Tells the clients that the server is closing, and destroys it. NULL is allowed. */
void cw_netcode_host_close(struct cw_netcode_host *host);

/* The server, for sending payloads, disconnecting clients and reading statistics. Do not call its
   receive, transmit, next or update: the host does. */
struct cw_netcode_server *cw_netcode_host_server(struct cw_netcode_host *host);

/* The rest is as for a cw_host. */
const struct cw_address *cw_netcode_host_address(const struct cw_netcode_host *host);
bool cw_netcode_host_next(struct cw_netcode_host *host, double until,
                          struct cw_netcode_server_event *event);
void cw_netcode_host_update(struct cw_netcode_host *host);

CW_END_DECLARATIONS

#endif
