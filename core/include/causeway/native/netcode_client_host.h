/* A client for payloads of the application's own, on a UDP socket and the system's clock: what
   native/client_host.h is for messages. All that stands here is as it is there. */
#ifndef CAUSEWAY_NATIVE_NETCODE_CLIENT_HOST_H
#define CAUSEWAY_NATIVE_NETCODE_CLIENT_HOST_H

#include "causeway/base.h"
#include "causeway/netcode_client.h"

CW_BEGIN_DECLARATIONS

/* A host is not thread-safe; any number may exist. */
struct cw_netcode_client_host;

struct cw_netcode_client_host_config {
    struct cw_netcode_client_config client; /* its allocator is the host's too */
    double silence_seconds;
    size_t (*token)(void *context, uint8_t *out, size_t capacity);
    void *token_context;
    struct cw_log log;
};

struct cw_netcode_client_host_config cw_netcode_client_host_config_default(void);

/* Errors: those of cw_socket_open and cw_netcode_client_create. */
enum cw_error cw_netcode_client_host_open(const struct cw_netcode_client_host_config *config,
                                          struct cw_netcode_client_host **host);
void cw_netcode_client_host_close(struct cw_netcode_client_host *host);

/* Errors: those of cw_netcode_client_connect. */
enum cw_error cw_netcode_client_host_connect(struct cw_netcode_client_host *host,
                                             const uint8_t *token, size_t size);
/* Errors: those of cw_client_host_connect_insecure. */
enum cw_error cw_netcode_client_host_connect_insecure(struct cw_netcode_client_host *host,
                                                      const char *server, uint64_t protocol_id,
                                                      uint64_t client_id);
bool cw_netcode_client_host_reconnects(const struct cw_netcode_client_host *host);

/* The end comes when the payload that was sent has been transmitted. */
void cw_netcode_client_host_flush_and_disconnect(struct cw_netcode_client_host *host,
                                                 double flush_seconds);

struct cw_netcode_client *cw_netcode_client_host_client(struct cw_netcode_client_host *host);
bool cw_netcode_client_host_next(struct cw_netcode_client_host *host, double until,
                                 struct cw_netcode_client_event *event);
void cw_netcode_client_host_update(struct cw_netcode_client_host *host);

CW_END_DECLARATIONS

#endif
