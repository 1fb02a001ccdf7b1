/* The host of a client for messages and that of one for payloads share all but their types. This
   header is not installed. */
#ifndef CAUSEWAY_NATIVE_CLIENT_HOST_CORE_H
#define CAUSEWAY_NATIVE_CLIENT_HOST_CORE_H

#include "base/one_thread.h"
#include "causeway/base.h"
#include "causeway/client.h"
#include "causeway/native/socket.h"
#include "netcode/netcode_client_internal.h"
#include "session/client_policy.h"

struct cw_client_host_core {
    struct cw_allocator allocator;
    struct cw_log log;
    struct cw_client *client;          /* NULL in a host for payloads */
    struct cw_netcode_client *netcode; /* the one below it, or the only one */
    struct cw_socket *socket;
    struct cw_client_policy policy;
    double look_time;         /* when to look at the network next */
    struct cw_address source; /* where datagrams leave; CW_ADDRESS_NONE: not known */
    bool cut_off;             /* there was no way for a datagram since the last look */
    size_t datagrams_left; /* datagrams that are received before the next update though the tick is
                              over */
    size_t (*token)(void *context, uint8_t *out, size_t capacity);
    void *token_context;
    bool token_due; /* a token is to be asked for */
    bool end_due;   /* the application has not taken the end as an event */
    bool flushing;  /* the host disconnects when everything sent is done, or at flush_deadline */
    double flush_deadline;
    uint8_t data[CW_SECURE_MAX];
    CW_ONE_THREAD_MEMBER;
};

/* The parts that both configs have, and the config of one of the clients. */
struct cw_client_host_core_config {
    const struct cw_client_config *messages;
    const struct cw_netcode_client_config *netcode; /* read when messages is NULL */
    double silence_seconds;
    size_t (*token)(void *context, uint8_t *out, size_t capacity);
    void *token_context;
    struct cw_log log;
};

enum cw_error cw_client_host_core_open(const struct cw_client_host_core_config *config,
                                       struct cw_client_host_core **host);
void cw_client_host_core_close(struct cw_client_host_core *host);
enum cw_error cw_client_host_core_connect(struct cw_client_host_core *host, const uint8_t *token,
                                          size_t size);
enum cw_error cw_client_host_core_connect_insecure(struct cw_client_host_core *host,
                                                   const char *server, uint64_t protocol_id,
                                                   uint64_t client_id);
void cw_client_host_core_flush_and_disconnect(struct cw_client_host_core *host,
                                              double flush_seconds);

/* event: of the client's kind. */
bool cw_client_host_core_next(struct cw_client_host_core *host, double until, void *event);
void cw_client_host_core_update(struct cw_client_host_core *host);

#endif
