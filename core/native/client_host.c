#include "causeway/native/client_host.h"

#include "base/config_fields.h"
#include "base/memory.h"
#include "base/one_thread.h"
#include "causeway/native/clock.h"
#include "causeway/native/resolve.h"
#include "causeway/native/socket.h"
#include "message/connection_internal.h"
#include "native/client_host_log.h"
#include "native/host_loop.h"
#include "session/client_internal.h"
#include "session/client_policy.h"

#include <math.h>
#include <string.h>

/* Seconds between two looks at the network. Each look costs the system a socket. */
#define LOOK_SECONDS 0.25

struct cw_client_host {
    struct cw_allocator allocator;
    struct cw_log log;
    struct cw_client *client;
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

struct cw_client_host_config cw_client_host_config_default(void)
{
    return (struct cw_client_host_config){
        .client = cw_client_config_default(),
        .silence_seconds = CW_CLIENT_SILENCE_SECONDS,
        .log = {.level = CW_LOG_INFO},
    };
}

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(payloads, "must be true for payloads of your own; false when client.connection is set, " \
                    "for messages")                                                                \
    RANGE(__VA_ARGS__, AMOUNT, silence_seconds, 0, 0)
CW_CONFIG_FIELDS(cw_client_host_config, 0x1310, FIELDS, cw_client_host_config_errors)

static enum cw_error open_parts(struct cw_client_host *host,
                                const struct cw_client_host_config *config)
{
    enum cw_error error = CW_CHECK_FIELDS(config);
    if (error != CW_OK)
        return error;
    if (config->payloads == (config->client.connection != NULL))
        return CW_FIELD_ERROR(payloads);
    struct cw_socket_config socket = cw_socket_config_default();
    socket.allocator = config->client.allocator;
    error = cw_socket_open(&socket, &host->socket);
    return error == CW_OK ? cw_client_create(&config->client, &host->client) : error;
}

enum cw_error cw_client_host_open(const struct cw_client_host_config *config,
                                  struct cw_client_host **host)
{
    if (!config || !host)
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_client_host *made = cw_allocate(&config->client.allocator, sizeof *made);
    if (!made)
        return CW_ERROR_NO_MEMORY;
    memset(made, 0, sizeof *made);
    made->allocator = config->client.allocator;
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
        cw_client_host_close(made);
    return error;
}

/* Sends what is due. A datagram that the socket does not take is lost, as datagrams may be. */
static void transmit(void *context, double now)
{
    struct cw_client_host *host = context;
    uint8_t data[CW_SECURE_MAX];
    struct cw_address to;
    size_t size;
    while ((size = cw_client_transmit(host->client, data, sizeof data, now, &to)) > 0)
        if (cw_socket_send(host->socket, &to, data, size) == CW_ERROR_SEND)
            host->cut_off = true;
}

static void move(struct cw_client_host *host, double now)
{
    cw_client_host_log_moving(&host->log);
    (void)cw_client_move(host->client, now);
}

/* Does what the policy says. The socket leads to every server, over whatever network the system
   has, so it is the link to each of them; another link to a silent server is a move. */
static void act(struct cw_client_host *host, double now)
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
            if (!cw_client_moving(host->client))
                move(host, now);
            break;
        case CW_CLIENT_ACTION_END:
            cw_client_disconnect(host->client);
            host->end_due = true;
            break;
        }
}

static void follow(struct cw_client_host *host, double now)
{
    cw_client_policy_follow(&host->policy, cw_client_state(host->client),
                            cw_client_server_index(host->client), now);
    act(host, now);
}

void cw_client_host_close(struct cw_client_host *host)
{
    CW_ONE_THREAD_LAST(host);
    if (!host)
        return;
    if (host->client) {
        cw_client_disconnect(host->client);
        transmit(host, cw_clock_now());
    }
    cw_client_destroy(host->client);
    cw_socket_close(host->socket);
    const struct cw_allocator allocator = host->allocator;
    cw_release(&allocator, host, sizeof *host);
}

enum cw_error cw_client_host_connect(struct cw_client_host *host, const uint8_t *token, size_t size)
{
    CW_ONE_THREAD(host);
    if (!host)
        return CW_ERROR_INVALID_ARGUMENT;
    const double now = cw_clock_now();
    const enum cw_error error = cw_client_connect(host->client, token, size, now);
    if (error != CW_OK)
        return error;
    host->flushing = host->end_due = host->token_due = false;
    cw_client_policy_token(&host->policy, host->client->token.address_count,
                           (double)host->client->token.expire_time);
    act(host, now);
    cw_client_host_log_connecting(&host->log, host->client);
    transmit(host, now);
    return CW_OK;
}

enum cw_error cw_client_host_connect_insecure(struct cw_client_host *host, const char *server,
                                              uint64_t protocol_id, uint64_t client_id)
{
    CW_ONE_THREAD(host);
    if (!host || !server)
        return CW_ERROR_INVALID_ARGUMENT;
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
    grant.fingerprint = host->client->config.fingerprint;
    uint8_t token[CW_TOKEN_SIZE];
    error = cw_token_insecure(&grant, token);
    if (error == CW_OK)
        error = cw_client_host_connect(host, token, sizeof token);
    cw_crypto_wipe(token, sizeof token);
    return error;
}

/* Asks for the token that is due, and connects with it. */
static void use_token(struct cw_client_host *host, double now)
{
    uint8_t token[CW_TOKEN_SIZE];
    const size_t size = host->token(host->token_context, token, sizeof token);
    if (size == 0)
        return;
    host->token_due = false;
    const enum cw_error error = cw_client_host_connect(host, token, size);
    if (error == CW_ERROR_TOKEN_USED) {
        cw_client_policy_fail(&host->policy, CW_CLIENT_TOKEN_EXPIRED, now);
        (void)cw_client_policy_next(&host->policy); /* the application has been told before */
    } else if (error != CW_OK) {
        cw_client_policy_fail(&host->policy, cw_client_state(host->client), now);
        act(host, now);
    }
    cw_crypto_wipe(token, sizeof token);
}

bool cw_client_host_reconnects(const struct cw_client_host *host)
{
    return host && cw_client_policy_returns(&host->policy);
}

static bool is_flushed(const struct cw_client *client)
{
    return client->connection ? cw_connection_is_idle(client->connection)
                              : client->outgoing_size == 0;
}

/* A connection that ended while it was flushed is not made again. */
static void end_flush(struct cw_client_host *host, double now)
{
    const bool connected = cw_client_state(host->client) == CW_CLIENT_CONNECTED;
    if (host->flushing && (!connected || now >= host->flush_deadline || is_flushed(host->client)))
        cw_client_disconnect(host->client);
}

void cw_client_host_flush_and_disconnect(struct cw_client_host *host, double flush_seconds)
{
    CW_ONE_THREAD(host);
    if (!host || !isfinite(flush_seconds))
        return;
    const double now = cw_clock_now();
    cw_client_policy_leave(&host->policy);
    host->token_due = false;
    host->flushing = true;
    host->flush_deadline = now + flush_seconds;
    if (host->client->connection)
        cw_connection_set_open(host->client->connection, false);
    end_flush(host, now);
}

struct cw_client *cw_client_host_client(struct cw_client_host *host)
{
    CW_ONE_THREAD(host);
    return host ? host->client : NULL;
}

/* Takes the client's next event, or that of an end which the client has not noticed. */
static bool take_event(struct cw_client_host *host, struct cw_client_event *event)
{
    if (cw_client_next(host->client, event))
        return true;
    if (host->end_due)
        *event = (struct cw_client_event){.type = CW_CLIENT_EVENT_DISCONNECTED, .text = ""};
    return host->end_due;
}

static bool next(void *context, void *out)
{
    struct cw_client_host *host = context;
    struct cw_client_event *event = out;
    if (!take_event(host, event))
        return false;
    if (event->type == CW_CLIENT_EVENT_DISCONNECTED) {
        follow(host, cw_clock_now());
        event->state = host->policy.end;
        host->end_due = false;
    }
    cw_client_host_log_event(&host->log, host->client, event);
    return true;
}

/* Gives the client the next datagram; false when none had arrived. */
static bool receive(void *context, double until)
{
    struct cw_client_host *host = context;
    const double now = cw_clock_now();
    struct cw_socket_datagram datagram = {.data = host->data, .capacity = sizeof host->data};
    if (host->datagrams_left == 0 && now >= until)
        return false;
    if (cw_socket_receive_batch(host->socket, &datagram, 1) == 0)
        return false;
    if (host->datagrams_left > 0)
        host->datagrams_left--;
    if (cw_client_receive(host->client, &datagram.address, datagram.data, datagram.size, now) ==
        CW_OK)
        cw_client_policy_hear(&host->policy, now, cw_clock_unix());
    follow(host, now);
    return true;
}

bool cw_client_host_next(struct cw_client_host *host, double until, struct cw_client_event *event)
{
    CW_ONE_THREAD(host);
    if (!host || !event)
        return false;
    const struct cw_host_loop loop = {host, host->socket, next, receive, transmit};
    return cw_host_loop_next(&loop, until, event);
}

/* Returns whether datagrams leave from another address than at the last look. While there is no way
   there is no address either, and the one before still counts. */
static bool has_other_source(struct cw_client_host *host)
{
    struct cw_address source;
    if (cw_socket_source(cw_client_server_address(host->client), &source) != CW_OK)
        return false;
    const bool other =
        host->source.type != CW_ADDRESS_NONE && !cw_address_equal(&source, &host->source);
    host->source = source;
    return other;
}

/* Lets a connected client go on from where it is now, when it may have another address there. */
static void look_after(struct cw_client_host *host, double now)
{
    if (now < host->look_time)
        return;
    host->look_time = now + LOOK_SECONDS;
    if (has_other_source(host) || host->cut_off)
        move(host, now);
    host->cut_off = false;
}

void cw_client_host_update(struct cw_client_host *host)
{
    CW_ONE_THREAD(host);
    if (!host)
        return;
    const double now = cw_clock_now();
    host->datagrams_left = CW_HOST_DATAGRAMS_PER_UPDATE;
    cw_client_policy_update(&host->policy, now, cw_clock_unix());
    act(host, now);
    if (host->token_due)
        use_token(host, now);
    if (cw_client_state(host->client) == CW_CLIENT_CONNECTED)
        look_after(host, now);
    else
        host->source.type = CW_ADDRESS_NONE;
    end_flush(host, now);
    cw_client_update(host->client, now);
    follow(host, now);
    transmit(host, now);
}
