#include "native/host_core.h"

#include "base/config_fields.h"
#include "base/memory.h"
#include "causeway/native/clock.h"
#include "causeway/native/socket.h"
#include "native/host_loop.h"

#include <string.h>

static void prepare(struct cw_host_batch *batch)
{
    for (size_t i = 0; i < CW_HOST_BATCH; i++) {
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

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(addresses, "must be the ones that tokens name, because the socket listens at all "       \
                     "addresses of this machine")
CW_CONFIG_ERRORS(0x1300, FIELDS, cw_host_config_errors)

static enum cw_error open_proxied(struct cw_host_core *host,
                                  const struct cw_netcode_server_config *netcode,
                                  const struct cw_host_proxies *proxies)
{
    struct cw_proxied_config proxied = {
        .allocator = netcode->allocator,
        .trusted = proxies->trusted,
        .trusted_count = proxies->count,
        .places = cw_netcode_server_most_clients(host->netcode),
    };
    if (proxied.trusted_count == 0)
        return CW_OK;
    cw_random_fill(&netcode->random, (uint8_t *)&proxied.seed, sizeof proxied.seed);
    return cw_proxied_create(&proxied, &host->proxied);
}

static enum cw_error open_socket(struct cw_host_core *host, const char *listen)
{
    struct cw_socket_config socket = cw_socket_config_default();
    socket.allocator = host->allocator;
    enum cw_error error = cw_resolve(listen, &socket.address);
    if (error == CW_OK && !has_port(listen))
        error = CW_ERROR_PORT;
    if (error == CW_OK)
        error = cw_socket_open(&socket, &host->socket);
    if (error == CW_OK)
        cw_socket_address(host->socket, &host->address);
    return error;
}

static enum cw_error create_server(struct cw_host_core *host,
                                   const struct cw_netcode_server_config *netcode,
                                   const struct cw_server_config *messages)
{
    if (!messages)
        return cw_netcode_server_create(netcode, &host->netcode);
    struct cw_server_config completed = *messages;
    completed.netcode = *netcode;
    const enum cw_error error = cw_server_create(&completed, &host->server);
    host->netcode = cw_server_netcode(host->server);
    return error;
}

static enum cw_error open_parts(struct cw_host_core *host, const char *listen,
                                struct cw_netcode_server_config netcode,
                                const struct cw_server_config *messages,
                                const struct cw_host_proxies *proxies)
{
    enum cw_error error = open_socket(host, listen);
    if (error != CW_OK)
        return error;
    if (!netcode.addresses) {
        if (is_any(&host->address))
            return CW_FIELD_ERROR(addresses);
        netcode.addresses = &host->address;
        netcode.address_count = 1;
    }
    netcode.unix_offset_seconds = cw_clock_unix() - cw_clock_now();
    error = create_server(host, &netcode, messages);
    return error == CW_OK ? open_proxied(host, &netcode, proxies) : error;
}

enum cw_error cw_host_core_open(const char *listen, const struct cw_netcode_server_config *netcode,
                                const struct cw_server_config *messages,
                                const struct cw_host_proxies *proxies, struct cw_host_core **host)
{
    if (!host || !listen || (!proxies->trusted && proxies->count))
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_host_core *made = cw_allocate(&netcode->allocator, sizeof *made);
    if (!made)
        return CW_ERROR_NO_MEMORY;
    memset(made, 0, sizeof *made);
    made->allocator = netcode->allocator;
    made->datagrams_left = CW_HOST_DATAGRAMS_PER_UPDATE;
    prepare(&made->incoming);
    const enum cw_error error = open_parts(made, listen, *netcode, messages, proxies);
    if (error == CW_OK)
        *host = made;
    else
        cw_host_core_close(made);
    return error;
}

/* The server with connections does these things for the one below it. */
static size_t transmit_one(struct cw_host_core *host, uint8_t *out, double now,
                           struct cw_address *to)
{
    return host->server ? cw_server_transmit(host->server, out, CW_SECURE_MAX, now, to)
                        : cw_netcode_server_transmit(host->netcode, out, CW_SECURE_MAX, now, to);
}

static enum cw_error receive_one(struct cw_host_core *host, const struct cw_address *from,
                                 const uint8_t *data, size_t size, double now)
{
    return host->server ? cw_server_receive(host->server, from, data, size, now)
                        : cw_netcode_server_receive(host->netcode, from, data, size, now);
}

/* Sends what is due. A datagram that the socket does not take is lost, as datagrams may be. */
static void transmit(void *context, double now)
{
    struct cw_host_core *host = context;
    struct cw_socket_datagram *datagrams = host->outgoing.datagrams;
    size_t count;
    do {
        for (count = 0; count < CW_HOST_BATCH; count++) {
            struct cw_socket_datagram *datagram = &datagrams[count];
            datagram->data = host->outgoing.data[count] + CW_PROXY_HEADER_MAX;
            datagram->size = transmit_one(host, datagram->data, now, &datagram->address);
            if (datagram->size == 0)
                break;
            if (host->proxied)
                cw_proxied_readdress(host->proxied, datagram, now);
        }
        cw_socket_send_batch(host->socket, datagrams, count);
    } while (count == CW_HOST_BATCH);
}

void cw_host_core_close(struct cw_host_core *host)
{
    if (host->server)
        cw_server_disconnect_all(host->server);
    else
        cw_netcode_server_disconnect_all(host->netcode);
    if (host->netcode)
        transmit(host, cw_clock_now());
    cw_proxied_destroy(host->proxied);
    if (host->server)
        cw_server_destroy(host->server);
    else
        cw_netcode_server_destroy(host->netcode);
    cw_socket_close(host->socket);
    const struct cw_allocator allocator = host->allocator;
    cw_release(&allocator, host, sizeof *host);
}

static bool next(void *context, void *event)
{
    const struct cw_host_core *host = context;
    return host->server ? cw_server_next(host->server, event)
                        : cw_netcode_server_next(host->netcode, event);
}

static void receive_proxied(struct cw_host_core *host, const struct cw_socket_datagram *datagram,
                            double now)
{
    struct cw_proxied_packet packet;
    cw_proxied_receive(host->proxied, datagram, now, &packet);
    if (receive_one(host, &packet.player, packet.data, packet.size, now) == CW_OK)
        cw_proxied_accept(host->proxied, &packet, now);
}

/* Gives the server the next datagram; false when none had arrived. */
static bool receive(void *context, double until)
{
    struct cw_host_core *host = context;
    struct cw_host_batch *in = &host->incoming;
    const double now = cw_clock_now();
    if (host->taken == host->received) {
        const bool all_read = host->received > 0 && host->received < CW_HOST_BATCH;
        host->taken = host->received = 0;
        if (all_read)
            return false; /* this saves asking the system once more */
        if (host->datagrams_left == 0 && now >= until)
            return false;
        host->received = cw_socket_receive_batch(host->socket, in->datagrams, CW_HOST_BATCH);
        host->datagrams_left -=
            host->received < host->datagrams_left ? host->received : host->datagrams_left;
        if (host->received == 0)
            return false;
    }
    const struct cw_socket_datagram *datagram = &in->datagrams[host->taken++];
    if (host->proxied)
        receive_proxied(host, datagram, now);
    else
        (void)receive_one(host, &datagram->address, datagram->data, datagram->size, now);
    return true;
}

bool cw_host_core_next(struct cw_host_core *host, double until, void *event)
{
    const struct cw_host_loop loop = {host, host->socket, next, receive, transmit};
    return cw_host_loop_next(&loop, until, event);
}

void cw_host_core_update(struct cw_host_core *host)
{
    const double now = cw_clock_now();
    host->datagrams_left = CW_HOST_DATAGRAMS_PER_UPDATE;
    cw_netcode_server_set_unix_offset(host->netcode, cw_clock_unix() - now);
    if (host->server)
        cw_server_update(host->server, now);
    else
        cw_netcode_server_update(host->netcode, now);
    transmit(host, now);
}
