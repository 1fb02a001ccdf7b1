#include "native/client_host_core.h"

#include "base/config_fields.h"
#include "base/memory.h"
#include "causeway/native/clock.h"
#include "causeway/native/socket.h"
#include "message/connection_internal.h"
#include "native/client_host_log.h"
#include "native/host_loop.h"

#include <math.h>
#include <string.h>

/* Seconds between two looks at the network. Each look costs the system a socket. */
#define LOOK_SECONDS 0.25

#define FIELDS(OTHER, RANGE, ...) RANGE(__VA_ARGS__, AMOUNT, silence_seconds, 0, 0)
CW_CONFIG_FIELDS(cw_client_host_core_config, 0x1310, FIELDS, cw_client_host_config_errors)

static enum cw_error open_parts(struct cw_client_host_core *host,
                                const struct cw_client_host_core_config *config)
{
    enum cw_error error = CW_CHECK_FIELDS(config);
    if (error != CW_OK)
        return error;
    struct cw_socket_config socket = cw_socket_config_default();
    socket.allocator = host->allocator;
    error = cw_socket_open(&socket, &host->socket);
    if (error != CW_OK)
        return error;
    if (!config->messages)
        return cw_netcode_client_create(config->netcode, &host->netcode);
    error = cw_client_create(config->messages, &host->client);
    host->netcode = cw_client_netcode(host->client);
    return error;
}

enum cw_error cw_client_host_core_open(const struct cw_client_host_core_config *config,
                                       struct cw_client_host_core **host)
{
    const struct cw_netcode_client_config *netcode =
        config->messages ? &config->messages->netcode : config->netcode;
    struct cw_client_host_core *made = cw_allocate(&netcode->allocator, sizeof *made);
    if (!made)
        return CW_ERROR_NO_MEMORY;
    memset(made, 0, sizeof *made);
    made->allocator = netcode->allocator;
    made->log = config->log;
    made->policy.config = (struct cw_client_policy_config){
        .silence_seconds = config->silence_seconds,
        .attempts = config->token ? UINT32_MAX : 0,
        .after_any_end = true,
    };
    made->token = config->token;
    made->token_context = config->token_context;
    if (made->token)
        cw_client_policy_start(&made->policy, false, cw_clock_now());
    made->datagrams_left = CW_HOST_DATAGRAMS_PER_UPDATE;
    const enum cw_error error = open_parts(made, config);
    if (error == CW_OK)
        *host = made;
    else
        cw_client_host_core_close(made);
    return error;
}

/* The client with a connection does these things for the one below it. */
static enum cw_error connect_client(struct cw_client_host_core *host, const uint8_t *token,
                                    size_t size, double now)
{
    return host->client ? cw_client_connect(host->client, token, size, now)
                        : cw_netcode_client_connect(host->netcode, token, size, now);
}

static void disconnect(struct cw_client_host_core *host)
{
    if (host->client)
        cw_client_disconnect(host->client);
    else
        cw_netcode_client_disconnect(host->netcode);
}

static size_t transmit_one(struct cw_client_host_core *host, uint8_t out[CW_SECURE_MAX], double now,
                           struct cw_address *to)
{
    return host->client ? cw_client_transmit(host->client, out, CW_SECURE_MAX, now, to)
                        : cw_netcode_client_transmit(host->netcode, out, CW_SECURE_MAX, now, to);
}

static enum cw_error receive_one(struct cw_client_host_core *host,
                                 const struct cw_socket_datagram *datagram, double now)
{
    const struct cw_address *from = &datagram->address;
    return host->client ? cw_client_receive(host->client, from, datagram->data, datagram->size, now)
                        : cw_netcode_client_receive(host->netcode, from, datagram->data,
                                                    datagram->size, now);
}

/* Sends what is due. A datagram that the socket does not take is lost, as datagrams may be. */
static void transmit(void *context, double now)
{
    struct cw_client_host_core *host = context;
    uint8_t data[CW_SECURE_MAX];
    struct cw_address to;
    size_t size;
    while ((size = transmit_one(host, data, now, &to)) > 0)
        if (cw_socket_send(host->socket, &to, data, size) == CW_ERROR_SEND)
            host->cut_off = true;
}

static void move(struct cw_client_host_core *host, double now)
{
    cw_client_host_log_moving(&host->log);
    (void)cw_netcode_client_move(host->netcode, now);
}

/* Does what the policy says. The socket leads to every server, over whatever network the system
   has, so it is the link to each of them; another link to a silent server is a move. */
static void act(struct cw_client_host_core *host, double now)
{
    for (;;)
        switch (cw_client_policy_next(&host->policy)) {
        case CW_CLIENT_ACTION_NONE:
            return;
        case CW_CLIENT_ACTION_TOKEN:
            host->token_due = true;
            break;
        case CW_CLIENT_ACTION_OPEN:
            cw_client_policy_link(&host->policy, true, now);
            break;
        case CW_CLIENT_ACTION_RENEW:
            if (!cw_netcode_client_moving(host->netcode))
                move(host, now);
            break;
        case CW_CLIENT_ACTION_END:
            disconnect(host);
            host->end_due = true;
            break;
        }
}

static void follow(struct cw_client_host_core *host, double now)
{
    cw_client_policy_follow(&host->policy, cw_netcode_client_state(host->netcode),
                            cw_netcode_client_server_index(host->netcode), now);
    act(host, now);
}

void cw_client_host_core_close(struct cw_client_host_core *host)
{
    if (host->netcode) {
        disconnect(host);
        transmit(host, cw_clock_now());
    }
    if (host->client)
        cw_client_destroy(host->client);
    else
        cw_netcode_client_destroy(host->netcode);
    cw_socket_close(host->socket);
    const struct cw_allocator allocator = host->allocator;
    cw_release(&allocator, host, sizeof *host);
}

enum cw_error cw_client_host_core_connect(struct cw_client_host_core *host, const uint8_t *token,
                                          size_t size)
{
    const double now = cw_clock_now();
    const enum cw_error error = connect_client(host, token, size, now);
    if (error != CW_OK)
        return error;
    host->flushing = host->end_due = host->token_due = false;
    cw_client_policy_token(&host->policy, host->netcode->token.address_count,
                           (double)host->netcode->token.expire_time);
    act(host, now);
    cw_client_host_log_server(&host->log, "connecting to ", host->netcode);
    transmit(host, now);
    return CW_OK;
}

enum cw_error cw_client_host_core_connect_insecure(struct cw_client_host_core *host,
                                                   const char *server, uint64_t protocol_id,
                                                   uint64_t client_id)
{
    struct cw_address address;
    enum cw_error error = cw_resolve(server, &address);
    if (error == CW_OK && address.port == 0)
        error = CW_ERROR_PORT;
    if (error != CW_OK)
        return error;
    struct cw_token_grant grant = cw_token_grant_default();
    grant.protocol_id = protocol_id;
    grant.client_id = client_id;
    grant.create_time = (uint64_t)cw_clock_unix();
    grant.addresses = &address;
    grant.address_count = 1;
    grant.fingerprint = host->netcode->config.fingerprint;
    uint8_t token[CW_TOKEN_SIZE];
    error = cw_token_insecure(&grant, token);
    if (error == CW_OK)
        error = cw_client_host_core_connect(host, token, sizeof token);
    cw_crypto_wipe(token, sizeof token);
    return error;
}

/* Asks for the token that is due, and connects with it. */
static void use_token(struct cw_client_host_core *host, double now)
{
    uint8_t token[CW_TOKEN_SIZE];
    const size_t size = host->token(host->token_context, token, sizeof token);
    if (size == 0)
        return;
    host->token_due = false;
    const enum cw_error error = cw_client_host_core_connect(host, token, size);
    if (error == CW_ERROR_TOKEN_USED) {
        cw_client_policy_fail(&host->policy, CW_CLIENT_TOKEN_EXPIRED, now);
        (void)cw_client_policy_next(&host->policy); /* the application has been told before */
    } else if (error != CW_OK) {
        cw_client_policy_fail(&host->policy, cw_netcode_client_state(host->netcode), now);
        act(host, now);
    }
    cw_crypto_wipe(token, sizeof token);
}

/* Returns whether all that was sent is done. */
static bool is_flushed(const struct cw_client_host_core *host)
{
    return host->client ? cw_connection_is_idle(cw_client_connection(host->client))
                        : host->netcode->outgoing_size == 0;
}

/* A connection that ended while it was flushed is not made again. */
static void end_flush(struct cw_client_host_core *host, double now)
{
    const bool connected = cw_netcode_client_state(host->netcode) == CW_CLIENT_CONNECTED;
    if (host->flushing && (!connected || now >= host->flush_deadline || is_flushed(host)))
        disconnect(host);
}

void cw_client_host_core_flush_and_disconnect(struct cw_client_host_core *host,
                                              double flush_seconds)
{
    const double now = cw_clock_now();
    cw_client_policy_leave(&host->policy);
    host->token_due = false;
    host->flushing = true;
    host->flush_deadline = now + flush_seconds;
    if (host->client)
        cw_connection_set_open(cw_client_connection(host->client), false);
    end_flush(host, now);
}

/* The parts of an event of either kind that the host needs. */
struct event {
    bool connected, disconnected;
    enum cw_client_state *state;
    uint32_t code;
    const char *text;
};

static struct event event_of(const struct cw_client_host_core *host, void *taken)
{
    if (host->client) {
        struct cw_client_event *event = taken;
        return (struct event){event->type == CW_CLIENT_EVENT_CONNECTED,
                              event->type == CW_CLIENT_EVENT_DISCONNECTED, &event->state,
                              event->code, event->text};
    }
    struct cw_netcode_client_event *event = taken;
    return (struct event){event->type == CW_NETCODE_CLIENT_EVENT_CONNECTED,
                          event->type == CW_NETCODE_CLIENT_EVENT_DISCONNECTED, &event->state,
                          event->code, event->text};
}

/* Takes the client's next event, or that of an end which the client has not noticed. */
static bool take_event(const struct cw_client_host_core *host, void *out)
{
    if (host->client ? cw_client_next(host->client, out)
                     : cw_netcode_client_next(host->netcode, out))
        return true;
    if (host->end_due && host->client)
        *(struct cw_client_event *)out =
            (struct cw_client_event){.type = CW_CLIENT_EVENT_DISCONNECTED, .text = ""};
    else if (host->end_due)
        *(struct cw_netcode_client_event *)out = (struct cw_netcode_client_event){
            .type = CW_NETCODE_CLIENT_EVENT_DISCONNECTED, .text = ""};
    return host->end_due;
}

static bool next(void *context, void *out)
{
    struct cw_client_host_core *host = context;
    if (!take_event(host, out))
        return false;
    const struct event event = event_of(host, out);
    if (event.connected)
        cw_client_host_log_server(&host->log, "connected to ", host->netcode);
    if (event.disconnected) {
        follow(host, cw_clock_now());
        *event.state = host->policy.end;
        host->end_due = false;
        cw_client_host_log_end(&host->log, host->policy.end, event.code, event.text);
    }
    return true;
}

/* Gives the client the next datagram; false when none had arrived. */
static bool receive(void *context, double until)
{
    struct cw_client_host_core *host = context;
    const double now = cw_clock_now();
    struct cw_socket_datagram datagram = {.data = host->data, .capacity = sizeof host->data};
    if (host->datagrams_left == 0 && now >= until)
        return false;
    if (cw_socket_receive_batch(host->socket, &datagram, 1) == 0)
        return false;
    if (host->datagrams_left > 0)
        host->datagrams_left--;
    if (receive_one(host, &datagram, now) == CW_OK)
        cw_client_policy_received(&host->policy, now, cw_clock_unix());
    follow(host, now);
    return true;
}

bool cw_client_host_core_next(struct cw_client_host_core *host, double until, void *event)
{
    const struct cw_host_loop loop = {host, host->socket, next, receive, transmit};
    return cw_host_loop_next(&loop, until, event);
}

/* Returns whether datagrams leave from another address than at the last look. While there is no way
   there is no address either, and the one before still counts. */
static bool has_other_source(struct cw_client_host_core *host)
{
    struct cw_address source;
    if (cw_socket_source(cw_netcode_client_server_address(host->netcode), &source) != CW_OK)
        return false;
    const bool other =
        host->source.type != CW_ADDRESS_NONE && !cw_address_equal(&source, &host->source);
    host->source = source;
    return other;
}

/* Lets a connected client go on from where it is now, when it may have another address there. */
static void look_after(struct cw_client_host_core *host, double now)
{
    if (now < host->look_time)
        return;
    host->look_time = now + LOOK_SECONDS;
    if (has_other_source(host) || host->cut_off)
        move(host, now);
    host->cut_off = false;
}

void cw_client_host_core_update(struct cw_client_host_core *host)
{
    const double now = cw_clock_now();
    host->datagrams_left = CW_HOST_DATAGRAMS_PER_UPDATE;
    cw_client_policy_update(&host->policy, now, cw_clock_unix());
    act(host, now);
    if (host->token_due)
        use_token(host, now);
    if (cw_netcode_client_state(host->netcode) == CW_CLIENT_CONNECTED)
        look_after(host, now);
    else
        host->source.type = CW_ADDRESS_NONE;
    end_flush(host, now);
    if (host->client)
        cw_client_update(host->client, now);
    else
        cw_netcode_client_update(host->netcode, now);
    follow(host, now);
    transmit(host, now);
}
