#include "base/config_fields.h"
#include "base/memory.h"
#include "message/connection_internal.h"
#include "message/schema_internal.h"
#include "netcode/netcode_client_internal.h"
#include "session/payload.h"

#include "causeway/client.h"

#include <math.h>

struct cw_client {
    struct cw_allocator allocator;
    size_t memory;
    struct cw_netcode_client *netcode;
    struct cw_connection *connection;
    bool connected; /* the connection has been told that it is open */
    CW_ONE_THREAD_MEMBER;
};

struct cw_client_config cw_client_config_default(void)
{
    struct cw_client_config config = {.netcode = cw_netcode_client_config_default()};
    config.netcode.fingerprint = CW_FINGERPRINT_AUTO;
    return config;
}

/* Creates the parts of a client in the arena, or measures them when it has no memory. */
static enum cw_error create_parts(struct cw_client *client, struct cw_arena *arena,
                                  const struct cw_client_config *config)
{
    struct cw_netcode_client_config netcode = config->netcode;
    struct cw_connection_config connection = *config->connection;
    netcode.allocator = connection.allocator = cw_arena_allocator(arena);
    if (netcode.fingerprint == CW_FINGERPRINT_AUTO)
        netcode.fingerprint = cw_connection_fingerprint(config->connection);
    if (!arena->base) {
        cw_arena_take(arena, cw_netcode_client_memory(&netcode));
        cw_arena_take(arena, cw_connection_memory(&connection));
        return CW_OK;
    }
    const enum cw_error error = cw_netcode_client_create(&netcode, &client->netcode);
    return error ? error : cw_connection_create(&connection, &client->connection);
}

size_t cw_client_memory(const struct cw_client_config *config)
{
    if (!config || cw_payload_check(config->connection) != CW_OK ||
        cw_netcode_client_memory(&config->netcode) == 0)
        return 0;
    struct cw_arena arena = {0};
    cw_arena_take(&arena, sizeof(struct cw_client));
    (void)create_parts(NULL, &arena, config);
    return arena.used;
}

static void destroy(struct cw_client *client)
{
    const struct cw_allocator allocator = client->allocator;
    const size_t memory = client->memory;
    cw_netcode_client_destroy(client->netcode);
    cw_connection_destroy(client->connection);
    cw_crypto_wipe(client, memory);
    cw_release(&allocator, client, memory);
}

enum cw_error cw_client_create(const struct cw_client_config *config, struct cw_client **client)
{
    if (!config || !client)
        return CW_ERROR_INVALID_ARGUMENT;
    enum cw_error error = cw_netcode_client_check(&config->netcode);
    if (!error)
        error = cw_payload_check(config->connection);
    if (error)
        return error;
    struct cw_arena arena = cw_arena_create(&config->netcode.allocator, cw_client_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_client *made = cw_arena_take(&arena, sizeof(*made));
    made->allocator = config->netcode.allocator;
    made->memory = arena.size;
    error = create_parts(made, &arena, config);
    if (error) {
        destroy(made);
        return error;
    }
    cw_connection_set_open(made->connection, false);
    *client = made;
    return CW_OK;
}

void cw_client_destroy(struct cw_client *client)
{
    CW_ONE_THREAD_LAST(client);
    if (client)
        destroy(client);
}

/* Opens or closes the connection, which is open while the client is connected. */
static void follow(struct cw_client *client)
{
    const bool connected = cw_client_state(client) == CW_CLIENT_CONNECTED;
    if (connected != client->connected)
        cw_connection_set_open(client->connection, connected);
    client->connected = connected;
}

enum cw_error cw_client_connect(struct cw_client *client, const uint8_t *token, size_t size,
                                double now)
{
    CW_ONE_THREAD(client);
    if (!client)
        return CW_ERROR_INVALID_ARGUMENT;
    const enum cw_error error = cw_netcode_client_connect(client->netcode, token, size, now);
    if (error != CW_ERROR_INVALID_ARGUMENT && error != CW_ERROR_CONNECTED &&
        error != CW_ERROR_TOKEN_USED)
        cw_connection_reset(client->connection);
    return error;
}

enum cw_error cw_client_receive(struct cw_client *client, const struct cw_address *from,
                                const uint8_t *data, size_t size, double now)
{
    CW_ONE_THREAD(client);
    if (!client)
        return CW_ERROR_INVALID_ARGUMENT;
    enum cw_error error = cw_netcode_client_receive(client->netcode, from, data, size, now);
    follow(client);
    const uint8_t *payload;
    const size_t payload_size = cw_netcode_client_take_payload(client->netcode, &payload);
    if (payload_size > 0)
        error = cw_connection_receive(client->connection, payload, payload_size, now);
    return payload_size > 0 && error ? cw_netcode_client_drop(client->netcode, error) : error;
}

size_t cw_client_transmit(struct cw_client *client, uint8_t *out, size_t capacity, double now,
                          struct cw_address *to)
{
    CW_ONE_THREAD(client);
    if (!client || !isfinite(now) || !out || capacity < CW_SECURE_MAX)
        return 0;
    struct cw_netcode_client *netcode = client->netcode;
    const enum cw_outlet outlet = cw_netcode_client_outlet(netcode);
    size_t size = 0;
    if (outlet != CW_OUTLET_CLOSED)
        do
            size = cw_connection_transmit(client->connection, cw_netcode_client_body(netcode, out),
                                          CW_PAYLOAD_MAX, now);
        while (size > 0 && outlet == CW_OUTLET_LOST);
    return size > 0 ? cw_netcode_client_seal(netcode, out, capacity, size, now, to)
                    : cw_netcode_client_transmit(netcode, out, capacity, now, to);
}

void cw_client_update(struct cw_client *client, double now)
{
    CW_ONE_THREAD(client);
    if (!client)
        return;
    cw_netcode_client_update(client->netcode, now);
    follow(client);
    if (client->connected)
        cw_connection_update(client->connection, now);
}

/* Takes the connection's next event, if it has one. */
static bool next_of_connection(struct cw_client *client, struct cw_client_event *event)
{
    struct cw_connection_event next;
    if (!cw_connection_next(client->connection, &next))
        return false;
    *event = (struct cw_client_event){
        .type = (enum cw_client_event_type)next.type,
        .state = cw_client_state(client),
        .message = next.message,
        .channel = next.channel,
        .receipt = next.receipt,
        .request = next.request,
        .unanswered = next.unanswered,
        .code = next.code,
    };
    return true;
}

bool cw_client_next(struct cw_client *client, struct cw_client_event *event)
{
    CW_ONE_THREAD(client);
    if (!client || !event)
        return false;
    if (!cw_netcode_client_begins(client->netcode) && next_of_connection(client, event))
        return true;
    struct cw_netcode_client_event next;
    if (!cw_netcode_client_next(client->netcode, &next))
        return false;
    *event = (struct cw_client_event){
        .type = next.type == CW_NETCODE_CLIENT_EVENT_CONNECTED ? CW_CLIENT_EVENT_CONNECTED
                                                               : CW_CLIENT_EVENT_DISCONNECTED,
        .state = next.state,
        .code = next.code,
        .text = next.text,
    };
    return true;
}

struct cw_connection *cw_client_connection(struct cw_client *client)
{
    CW_ONE_THREAD(client);
    return client ? client->connection : NULL;
}

void cw_client_disconnect(struct cw_client *client)
{
    CW_ONE_THREAD(client);
    if (!client)
        return;
    cw_netcode_client_disconnect(client->netcode);
    follow(client);
}

enum cw_client_state cw_client_state(const struct cw_client *client)
{
    return client ? cw_netcode_client_state(client->netcode) : CW_CLIENT_DISCONNECTED;
}

bool cw_client_schema_difference(const struct cw_client *client,
                                 struct cw_schema_difference *difference)
{
    if (!client || !difference || client->netcode->outline_size == 0)
        return false;
    const struct cw_schema *schema = client->connection->config.schema;
    const uint8_t *other = client->netcode->outline;
    uint8_t own[CW_OUTLINE_MAX];
    const size_t size = cw_schema_outline(schema, own, sizeof own);
    size_t same = 0;
    while (same < size && same < client->netcode->outline_size && own[same] == other[same])
        same++;
    if (same == sizeof own) /* they differ behind what an outline can tell */
        return false;
    cw_schema_entry(schema, same / 2, difference);
    return true;
}

struct cw_netcode_client *cw_client_netcode(struct cw_client *client)
{
    CW_ONE_THREAD(client);
    return client ? client->netcode : NULL;
}
