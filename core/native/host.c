#include "causeway/native/host.h"

#include "base/config_fields.h"
#include "base/memory.h"
#include "base/one_thread.h"
#include "causeway/native/clock.h"
#include "causeway/native/resolve.h"
#include "causeway/native/socket.h"
#include "native/host_loop.h"
#include "native/proxied.h"
#include "session/server_internal.h"

#include <string.h>

#define BATCH 32 /* datagrams per call of the socket */

/* There is room for the header of a proxy, too. */
struct batch {
    struct cw_socket_datagram datagrams[BATCH];
    uint8_t data[BATCH][CW_PROXY_HEADER_MAX + CW_SECURE_MAX];
};

struct cw_host {
    struct cw_allocator allocator;
    struct cw_server *server;
    struct cw_socket *socket;
    struct cw_proxied *proxied; /* NULL: no proxy is trusted */
    struct cw_address address;
    size_t datagrams_left;  /* datagrams that are received before the next update though the tick is
                               over */
    size_t received, taken; /* datagrams of incoming */
    struct batch incoming, outgoing;
    CW_ONE_THREAD_MEMBER;
};

static void prepare(struct batch *batch)
{
    for (size_t i = 0; i < BATCH; i++) {
        batch->datagrams[i].data = batch->data[i];
        batch->datagrams[i].capacity = sizeof batch->data[i];
    }
}

static bool is_any(const struct cw_address *address)
{
    static const uint8_t zeros[sizeof address->bytes];
    return memcmp(address->bytes, zeros, sizeof zeros) == 0;
}

/* Returns whether an address that could be resolved has a port in its text, 0 included. */
static bool has_port(const char *text)
{
    const char *colon = strrchr(text, ':');
    return colon && (*text == '[' ? colon[-1] == ']' : strchr(text, ':') == colon);
}

struct cw_host_config cw_host_config_default(void)
{
    return (struct cw_host_config){.server = cw_server_config_default()};
}

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(payloads, "must be true for payloads of your own; false when server.connection is set, " \
                    "for messages")                                                                \
    OTHER(addresses, "must be the ones that tokens name, because the socket listens at all "       \
                     "addresses of this machine")
CW_CONFIG_ERRORS(0x1300, FIELDS, cw_host_config_errors)

static enum cw_error open_proxied(struct cw_host *host, const struct cw_host_config *config)
{
    struct cw_proxied_config proxied = {
        .allocator = config->server.allocator,
        .trusted = config->trusted_proxies,
        .trusted_count = config->trusted_proxy_count,
        .places = cw_server_most_clients(host->server),
    };
    if (proxied.trusted_count == 0)
        return CW_OK;
    cw_random_fill(&config->server.random, (uint8_t *)&proxied.seed, sizeof proxied.seed);
    return cw_proxied_create(&proxied, &host->proxied);
}

static enum cw_error open_parts(struct cw_host *host, const char *listen,
                                const struct cw_host_config *config)
{
    if (config->payloads == (config->server.connection != NULL))
        return CW_FIELD_ERROR(payloads);
    struct cw_socket_config socket = cw_socket_config_default();
    socket.allocator = config->server.allocator;
    enum cw_error error = cw_resolve(listen, &socket.address);
    if (error == CW_OK && !has_port(listen))
        error = CW_ERROR_PORT;
    if (error != CW_OK)
        return error;
    error = cw_socket_open(&socket, &host->socket);
    if (error != CW_OK)
        return error;
    cw_socket_address(host->socket, &host->address);
    struct cw_server_config completed = config->server;
    if (!completed.addresses) {
        if (is_any(&host->address))
            return CW_FIELD_ERROR(addresses);
        completed.addresses = &host->address;
        completed.address_count = 1;
    }
    completed.unix_offset_seconds = cw_clock_unix() - cw_clock_now();
    error = cw_server_create(&completed, &host->server);
    return error == CW_OK ? open_proxied(host, config) : error;
}

enum cw_error cw_host_open(const char *listen, const struct cw_host_config *config,
                           struct cw_host **host)
{
    if (!host || !listen || !config || (!config->trusted_proxies && config->trusted_proxy_count))
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_host *made = cw_allocate(&config->server.allocator, sizeof *made);
    if (!made)
        return CW_ERROR_NO_MEMORY;
    memset(made, 0, sizeof *made);
    made->allocator = config->server.allocator;
    made->datagrams_left = CW_HOST_DATAGRAMS_PER_UPDATE;
    prepare(&made->incoming);
    const enum cw_error error = open_parts(made, listen, config);
    if (error == CW_OK)
        *host = made;
    else
        cw_host_close(made);
    return error;
}

/* Sends what is due. A datagram that the socket does not take is lost, as datagrams may be. */
static void transmit(void *context, double now)
{
    struct cw_host *host = context;
    struct cw_socket_datagram *datagrams = host->outgoing.datagrams;
    size_t count;
    do {
        for (count = 0; count < BATCH; count++) {
            struct cw_socket_datagram *datagram = &datagrams[count];
            datagram->data = host->outgoing.data[count] + CW_PROXY_HEADER_MAX;
            datagram->size = cw_server_transmit(host->server, datagram->data, CW_SECURE_MAX, now,
                                                &datagram->address);
            if (datagram->size == 0)
                break;
            if (host->proxied)
                cw_proxied_readdress(host->proxied, datagram, now);
        }
        cw_socket_send_batch(host->socket, datagrams, count);
    } while (count == BATCH);
}

void cw_host_close(struct cw_host *host)
{
    CW_ONE_THREAD_LAST(host);
    if (!host)
        return;
    if (host->server) {
        cw_server_disconnect_all(host->server);
        transmit(host, cw_clock_now());
    }
    cw_proxied_destroy(host->proxied);
    cw_server_destroy(host->server);
    cw_socket_close(host->socket);
    const struct cw_allocator allocator = host->allocator;
    cw_release(&allocator, host, sizeof *host);
}

struct cw_server *cw_host_server(struct cw_host *host)
{
    CW_ONE_THREAD(host);
    return host ? host->server : NULL;
}

const struct cw_address *cw_host_address(const struct cw_host *host)
{
    return host ? &host->address : NULL;
}

static bool next(void *context, void *event)
{
    const struct cw_host *host = context;
    return cw_server_next(host->server, event);
}

static void receive_proxied(struct cw_host *host, const struct cw_socket_datagram *datagram,
                            double now)
{
    struct cw_proxied_packet packet;
    cw_proxied_receive(host->proxied, datagram, now, &packet);
    if (cw_server_receive(host->server, &packet.player, packet.data, packet.size, now) == CW_OK)
        cw_proxied_accept(host->proxied, &packet, now);
}

/* Gives the server the next datagram; false when none had arrived. */
static bool receive(void *context, double until)
{
    struct cw_host *host = context;
    struct batch *in = &host->incoming;
    const double now = cw_clock_now();
    if (host->taken == host->received) {
        const bool all_read = host->received > 0 && host->received < BATCH;
        host->taken = host->received = 0;
        if (all_read)
            return false; /* this saves asking the system once more */
        if (host->datagrams_left == 0 && now >= until)
            return false;
        host->received = cw_socket_receive_batch(host->socket, in->datagrams, BATCH);
        host->datagrams_left -=
            host->received < host->datagrams_left ? host->received : host->datagrams_left;
        if (host->received == 0)
            return false;
    }
    const struct cw_socket_datagram *datagram = &in->datagrams[host->taken++];
    if (host->proxied)
        receive_proxied(host, datagram, now);
    else
        (void)cw_server_receive(host->server, &datagram->address, datagram->data, datagram->size,
                                now);
    return true;
}

bool cw_host_next(struct cw_host *host, double until, struct cw_server_event *event)
{
    CW_ONE_THREAD(host);
    if (!host || !event)
        return false;
    const struct cw_host_loop loop = {host, host->socket, next, receive, transmit};
    return cw_host_loop_next(&loop, until, event);
}

void cw_host_update(struct cw_host *host)
{
    CW_ONE_THREAD(host);
    if (!host)
        return;
    const double now = cw_clock_now();
    host->datagrams_left = CW_HOST_DATAGRAMS_PER_UPDATE;
    cw_server_set_unix_offset(host->server, cw_clock_unix() - now);
    cw_server_update(host->server, now);
    transmit(host, now);
}
