#include "base/config_fields.h"
#include "base/memory.h"
#include "netcode/netcode_client_internal.h"

#include <math.h>
#include <string.h>

struct cw_netcode_client_config cw_netcode_client_config_default(void)
{
    return (struct cw_netcode_client_config){
        .resend_seconds = 0.1,
        .keep_alive_seconds = 0.1,
        .disconnect_packets = 10,
    };
}

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    RANGE(__VA_ARGS__, ABOVE, resend_seconds, 0, 10)                                               \
    RANGE(__VA_ARGS__, ABOVE, keep_alive_seconds, 0, 10)                                           \
    RANGE(__VA_ARGS__, UINT, disconnect_packets, 1, 100)
CW_CONFIG_FIELDS(cw_netcode_client_config, 0x1500, FIELDS, cw_netcode_client_config_errors)

enum cw_error cw_netcode_client_check(const struct cw_netcode_client_config *config)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    return CW_CHECK_FIELDS(config);
}

size_t cw_netcode_client_memory(const struct cw_netcode_client_config *config)
{
    return cw_netcode_client_check(config) == CW_OK ? sizeof(struct cw_netcode_client) : 0;
}

enum cw_error cw_netcode_client_create(const struct cw_netcode_client_config *config,
                                       struct cw_netcode_client **client)
{
    const enum cw_error error =
        client ? cw_netcode_client_check(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error)
        return error;
    if (!cw_crypto_init())
        return CW_ERROR_NO_RANDOM;
    struct cw_netcode_client *made = cw_allocate(&config->allocator, sizeof(*made));
    if (!made)
        return CW_ERROR_NO_MEMORY;
    memset(made, 0, sizeof(*made));
    made->config = *config;
    *client = made;
    return CW_OK;
}

void cw_netcode_client_destroy(struct cw_netcode_client *client)
{
    CW_ONE_THREAD_LAST(client);
    if (!client)
        return;
    const struct cw_allocator allocator = client->config.allocator;
    cw_crypto_wipe(client, sizeof(*client));
    cw_release(&allocator, client, sizeof(*client));
}

static void start_request(struct cw_netcode_client *client, double now)
{
    client->state = CW_CLIENT_SENDING_REQUEST;
    client->last_received = now;
    client->send_due = true;
    client->replay = (struct cw_replay){0};
}

void cw_netcode_client_forget_keys(struct cw_netcode_client *client)
{
    cw_crypto_wipe(client->token.client_to_server_key, CW_KEY_BYTES);
    cw_crypto_wipe(client->token.server_to_client_key, CW_KEY_BYTES);
}

/* Ends the connection or the attempt in the state `to`, of which the application is told. */
static void finish(struct cw_netcode_client *client, enum cw_client_state to, bool tell_server)
{
    client->state = to;
    client->disconnected_waits = true;
    client->outgoing_size = 0;
    client->index = 0;
    client->max_clients = 0;
    if (tell_server)
        client->disconnects_left = client->config.disconnect_packets;
    else
        cw_netcode_client_forget_keys(client);
}

static void try_server(struct cw_netcode_client *client, uint32_t index, double now)
{
    client->address = index;
    start_request(client, now);
}

/* Goes from a server that does not take the client to the next one of the token. The attempt ends
   for this reason when there is none. */
static void next_server(struct cw_netcode_client *client, enum cw_client_state reason, double now)
{
    if (client->address + 1 >= client->token.address_count) {
        finish(client, reason, false);
        return;
    }
    try_server(client, client->address + 1, now);
}

bool cw_netcode_client_can_run(const struct cw_netcode_client *client, double now)
{
    return client && isfinite(now);
}

enum cw_error cw_netcode_client_connect(struct cw_netcode_client *client, const uint8_t *token,
                                        size_t size, double now)
{
    CW_ONE_THREAD(client);
    if (!cw_netcode_client_can_run(client, now) || (!token && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    if (client->state > CW_CLIENT_DISCONNECTED)
        return CW_ERROR_CONNECTED;
    struct cw_token read = {0};
    enum cw_error error = cw_token_read(token, size, &read);
    const uint8_t *mac = read.sealed + CW_TOKEN_PRIVATE_SIZE - CW_MAC_BYTES;
    if (!error && client->used_any && memcmp(mac, client->used_mac, CW_MAC_BYTES) == 0) {
        cw_crypto_wipe(&read, sizeof(read));
        return CW_ERROR_TOKEN_USED;
    }
    enum cw_client_state failed = CW_CLIENT_INVALID_TOKEN;
    if (!error && client->config.fingerprint != 0 && read.fingerprint != 0 &&
        client->config.fingerprint != read.fingerprint) {
        error = CW_ERROR_SCHEMA;
        failed = CW_CLIENT_SCHEMA;
    }

    client->connected_waits = client->disconnected_waits = false;
    client->payload_size = client->outline_size = 0;
    client->disconnects_left = 0;
    memset(&client->farewell, 0, sizeof(client->farewell));
    memset(&client->stats, 0, sizeof(client->stats));
    memset(client->dropped, 0, sizeof(client->dropped));
    client->address = 0;
    client->sequence = 0;
    client->move = (struct cw_move){0};
    client->token = read;
    if (error) {
        memset(&client->token, 0, sizeof(client->token));
        client->state = failed;
    } else {
        memcpy(client->used_mac, mac, CW_MAC_BYTES);
        client->used_any = true;
        client->connect_time = now;
        start_request(client, now);
    }
    cw_crypto_wipe(&read, sizeof(read));
    return error;
}

/* Returns the state of a client to which the server has said this. */
static enum cw_client_state state_after(const struct cw_farewell *farewell)
{
    switch (farewell->reason) {
    case CW_DISCONNECT_TIMED_OUT:
        return CW_CLIENT_TIMED_OUT;
    case CW_DISCONNECT_REPLACED:
        return CW_CLIENT_REPLACED;
    case CW_DISCONNECT_STOPPING:
        return CW_CLIENT_STOPPING;
    case CW_DISCONNECT_BY_SERVER:
    case CW_DISCONNECT_BY_CLIENT:
        break;
    }
    return CW_CLIENT_KICKED;
}

/* Returns what a denied packet's number says. */
static enum cw_client_state denial_of(uint64_t sequence)
{
    if (sequence & CW_SEQUENCE_OTHER_SCHEMA)
        return CW_CLIENT_SCHEMA;
    if (sequence & CW_SEQUENCE_NOT_YET)
        return CW_CLIENT_NOT_YET;
    return sequence & CW_SEQUENCE_ID_CONNECTED ? CW_CLIENT_ID_CONNECTED : CW_CLIENT_DENIED;
}

/* A challenge for a move means that another client is connected with this token. The other client
   has used the numbers that an answer would be encrypted with, and the server would not take it. */
static void take_challenge(struct cw_netcode_client *client, const struct cw_secure_packet *packet,
                           double now)
{
    client->move.newest_challenge = packet->sequence;
    memcpy(client->challenge_token, cw_challenge_get(client->body, &client->challenge_sequence),
           CW_CHALLENGE_TOKEN_SIZE);
    if (client->challenge_sequence & CW_CHALLENGE_MOVE) {
        next_server(client, CW_CLIENT_RESPONSE_TIMED_OUT, now);
        return;
    }
    client->state = CW_CLIENT_SENDING_RESPONSE;
    client->last_received = now;
    client->send_due = true;
}

static enum cw_error take(struct cw_netcode_client *client, const struct cw_secure_packet *packet,
                          double now)
{
    const bool connecting =
        client->state == CW_CLIENT_SENDING_REQUEST || client->state == CW_CLIENT_SENDING_RESPONSE;
    const bool connected = client->state == CW_CLIENT_CONNECTED;
    switch (packet->type) {
    case CW_SECURE_DENIED:
        if (!connecting)
            break;
        client->outline_size = packet->sequence & CW_SEQUENCE_OTHER_SCHEMA ? packet->size : 0;
        memcpy(client->outline, client->body, client->outline_size);
        next_server(client, denial_of(packet->sequence), now);
        return CW_OK;
    case CW_SECURE_CHALLENGE:
        if (connected && cw_move_challenge(&client->move, packet, now))
            return CW_OK;
        if (client->state != CW_CLIENT_SENDING_REQUEST)
            break;
        take_challenge(client, packet, now);
        return CW_OK;
    case CW_SECURE_KEEP_ALIVE:
        if (client->state == CW_CLIENT_SENDING_RESPONSE) {
            cw_keep_alive_get(client->body, &client->index, &client->max_clients);
            client->state = CW_CLIENT_CONNECTED;
            client->connected_waits = true;
            client->send_due = true;
        } else if (!connected) {
            break;
        }
        cw_move_received(&client->move, packet);
        client->last_received = now;
        return CW_OK;
    case CW_SECURE_PAYLOAD:
        if (!connected)
            break;
        cw_move_received(&client->move, packet);
        client->last_received = now;
        client->payload_size = packet->size;
        return CW_OK;
    case CW_SECURE_DISCONNECT:
        if (!connected)
            break;
        finish(client,
               cw_farewell_get(client->body, packet->size, &client->farewell)
                   ? state_after(&client->farewell)
                   : CW_CLIENT_DISCONNECTED,
               false);
        return CW_OK;
    case CW_SECURE_REQUEST:
    case CW_SECURE_RESPONSE:
    case CW_SECURE_TYPES:
        break;
    }
    return CW_ERROR_UNEXPECTED;
}

static enum cw_error receive(struct cw_netcode_client *client, const struct cw_address *from,
                             const uint8_t *data, size_t size, double now)
{
    if (client->state <= CW_CLIENT_DISCONNECTED)
        return CW_ERROR_NOT_CONNECTED;
    if (client->payload_size > 0)
        return CW_ERROR_EVENTS_PENDING;
    if (from && !cw_address_equal(from, cw_netcode_client_server_address(client)))
        return CW_ERROR_WRONG_SENDER;
    struct cw_secure_packet packet;
    const enum cw_error error =
        cw_secure_read(data, size,
                       &(struct cw_secure_key){.protocol_id = client->token.protocol_id,
                                               .direction = CW_TO_CLIENT,
                                               .bytes = client->token.server_to_client_key},
                       &client->replay, client->body, &packet);
    return error ? error : take(client, &packet, now);
}

enum cw_error cw_netcode_client_receive(struct cw_netcode_client *client,
                                        const struct cw_address *from, const uint8_t *data,
                                        size_t size, double now)
{
    CW_ONE_THREAD(client);
    if (!cw_netcode_client_can_run(client, now) || (!data && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    client->stats.datagrams_received++;
    client->stats.bytes_received += size;
    const enum cw_error error = receive(client, from, data, size, now);
    return error ? cw_netcode_client_drop(client, error) : CW_OK;
}

enum cw_error cw_netcode_client_drop(struct cw_netcode_client *client, enum cw_error error)
{
    client->stats.datagrams_dropped++;
    client->dropped[error]++;
    return error;
}

size_t cw_netcode_client_take_payload(struct cw_netcode_client *client, const uint8_t **payload)
{
    const size_t size = client->payload_size;
    client->payload_size = 0;
    if (size > 0)
        *payload = client->body;
    return size;
}

bool cw_netcode_client_begins(const struct cw_netcode_client *client)
{
    return client->connected_waits;
}

static void check_times(struct cw_netcode_client *client, double now)
{
    const bool connected = client->state == CW_CLIENT_CONNECTED;
    const double life = (double)(client->token.expire_time - client->token.create_time);
    if (!connected && now - client->connect_time >= life) {
        finish(client, CW_CLIENT_TOKEN_EXPIRED, false);
        return;
    }
    const int32_t timeout = client->token.timeout_seconds;
    if (timeout <= 0 || now - client->last_received < timeout)
        return;
    if (connected) {
        finish(client, CW_CLIENT_TIMED_OUT, true);
    } else if (client->state == CW_CLIENT_SENDING_REQUEST) {
        next_server(client, CW_CLIENT_REQUEST_TIMED_OUT, now);
    } else {
        next_server(client, CW_CLIENT_RESPONSE_TIMED_OUT, now);
    }
}

void cw_netcode_client_update(struct cw_netcode_client *client, double now)
{
    CW_ONE_THREAD(client);
    if (!cw_netcode_client_can_run(client, now) || client->state <= CW_CLIENT_DISCONNECTED)
        return;
    check_times(client, now);
    const bool connected = client->state == CW_CLIENT_CONNECTED;
    const double interval =
        connected ? client->config.keep_alive_seconds : client->config.resend_seconds;
    if (client->state > CW_CLIENT_DISCONNECTED && now - client->last_sent >= interval)
        client->send_due = true;
    cw_move_update(&client->move, client->config.resend_seconds, client->token.timeout_seconds,
                   now);
}

bool cw_netcode_client_next(struct cw_netcode_client *client, struct cw_netcode_client_event *event)
{
    CW_ONE_THREAD(client);
    if (!client || !event)
        return false;
    struct cw_netcode_client_event next = {.state = client->state};
    if (client->connected_waits) {
        client->connected_waits = false;
        next.type = CW_NETCODE_CLIENT_EVENT_CONNECTED;
        next.state = CW_CLIENT_CONNECTED;
    } else if ((next.size = cw_netcode_client_take_payload(client, &next.payload)) > 0) {
        next.type = CW_NETCODE_CLIENT_EVENT_PAYLOAD;
    } else if (client->disconnected_waits) {
        client->disconnected_waits = false;
        next.type = CW_NETCODE_CLIENT_EVENT_DISCONNECTED;
        next.code = client->farewell.code;
        next.text = client->farewell.text;
    } else {
        return false;
    }
    *event = next;
    return true;
}

void cw_netcode_client_disconnect(struct cw_netcode_client *client)
{
    CW_ONE_THREAD(client);
    /* A client that has answered a challenge may have a slot already. */
    if (client && client->state > CW_CLIENT_DISCONNECTED)
        finish(client, CW_CLIENT_DISCONNECTED, client->state >= CW_CLIENT_SENDING_RESPONSE);
}

enum cw_error cw_netcode_client_try_server(struct cw_netcode_client *client, uint32_t index,
                                           double now)
{
    CW_ONE_THREAD(client);
    if (!cw_netcode_client_can_run(client, now))
        return CW_ERROR_INVALID_ARGUMENT;
    if (client->state <= CW_CLIENT_DISCONNECTED)
        return CW_ERROR_NOT_CONNECTED;
    if (client->state == CW_CLIENT_CONNECTED)
        return CW_ERROR_CONNECTED;
    if (index >= client->token.address_count)
        return CW_ERROR_INVALID_ARGUMENT;
    try_server(client, index, now);
    return CW_OK;
}

enum cw_error cw_netcode_client_move(struct cw_netcode_client *client, double now)
{
    CW_ONE_THREAD(client);
    if (!cw_netcode_client_can_run(client, now))
        return CW_ERROR_INVALID_ARGUMENT;
    if (client->state != CW_CLIENT_CONNECTED)
        return CW_ERROR_NOT_CONNECTED;
    cw_move_start(&client->move, now);
    return CW_OK;
}
