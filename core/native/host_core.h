/* The host of a server for messages and that of one for payloads share all but their types. This
   header is not installed. */
#ifndef CAUSEWAY_NATIVE_HOST_CORE_H
#define CAUSEWAY_NATIVE_HOST_CORE_H

#include "base/one_thread.h"
#include "causeway/native/socket.h"
#include "causeway/server.h"
#include "native/proxied.h"
#include "netcode/netcode_server_internal.h"

#define CW_HOST_BATCH 32 /* datagrams per call of the socket */

/* There is room for the header of a proxy, too. */
struct cw_host_batch {
    struct cw_socket_datagram datagrams[CW_HOST_BATCH];
    uint8_t data[CW_HOST_BATCH][CW_PROXY_HEADER_MAX + CW_SECURE_MAX];
};

struct cw_host_core {
    struct cw_allocator allocator;
    struct cw_server *server;          /* NULL in a host for payloads */
    struct cw_netcode_server *netcode; /* the one below it, or the only one */
    struct cw_socket *socket;
    struct cw_proxied *proxied; /* NULL: no proxy is trusted */
    struct cw_address address;
    size_t datagrams_left;  /* datagrams that are received before the next update though the tick is
                               over */
    size_t received, taken; /* datagrams of incoming */
    struct cw_host_batch incoming, outgoing;
    CW_ONE_THREAD_MEMBER;
};

/* The proxies of a config. */
struct cw_host_proxies {
    const char *const *trusted;
    uint32_t count;
};

/* messages: the config of a server for messages, whose own netcode config is not read; NULL for
   payloads. */
enum cw_error cw_host_core_open(const char *listen, const struct cw_netcode_server_config *netcode,
                                const struct cw_server_config *messages,
                                const struct cw_host_proxies *proxies, struct cw_host_core **host);
void cw_host_core_close(struct cw_host_core *host);

/* event: of the server's kind. */
bool cw_host_core_next(struct cw_host_core *host, double until, void *event);
void cw_host_core_update(struct cw_host_core *host);

#endif
