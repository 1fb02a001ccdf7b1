#include "secure/server_internal.h"

#include <math.h>
#include <string.h>

struct cw_server_config cw_server_config_default(void)
{
    return (struct cw_server_config){
        .max_clients = 64,
        .unix_offset = NAN, /* missing */
        .max_token_life = 50,
        .requests_per_second = 5000,
        .keep_alive_seconds = 0.1,
        .disconnect_packets = 10,
    };
}

/* Fills in what the config leaves to us. */
static enum cw_error complete(struct cw_server_config *config)
{
    if (config->max_clients < 1 || config->max_clients > CW_SERVER_MAX_CLIENTS ||
        config->max_pending > 65536 || config->token_history > 1u << 24)
        return CW_ERROR_CONFIG_CLIENTS;
    if (cw_crypto_is_zero(config->private_key, CW_KEY_BYTES))
        return CW_ERROR_KEY; /* which anyone could guess */
    if (!config->addresses || config->address_count < 1 ||
        config->address_count > CW_TOKEN_MAX_ADDRESSES)
        return CW_ERROR_CONFIG_ADDRESSES;
    for (uint32_t i = 0; i < config->address_count; i++)
        if (config->addresses[i].type != CW_ADDRESS_IPV4 &&
            config->addresses[i].type != CW_ADDRESS_IPV6)
            return CW_ERROR_CONFIG_ADDRESSES;
    if (!(config->keep_alive_seconds > 0 && config->keep_alive_seconds <= 10) ||
        !(config->requests_per_second > 0 && config->requests_per_second <= 1e9))
        return CW_ERROR_CONFIG_TIME;
    if (!isfinite(config->unix_offset))
        return CW_ERROR_CONFIG_UNIX_OFFSET;
    if (config->disconnect_packets < 1 || config->disconnect_packets > 100)
        return CW_ERROR_CONFIG_DISCONNECT_PACKETS;
    if (config->max_pending == 0)
        config->max_pending = 2 * config->max_clients;
    if (config->token_history == 0)
        config->token_history = config->max_clients < 64 ? 1024 : 16 * config->max_clients;
    if (!config->connection)
        return CW_OK;
    const enum cw_error error = cw_payload_check(config->connection);
    if (!error && config->fingerprint == 0)
        config->fingerprint = cw_connection_fingerprint(config->connection);
    return error;
}

/* The server's parts; config is complete. */
static enum cw_error layout(struct cw_server *server, struct cw_arena *arena,
                            const struct cw_connection_config *connection)
{
    server->addresses =
        cw_arena_take(arena, server->config.address_count * sizeof(*server->addresses));
    server->event_capacity = 2 * server->config.max_clients + 1;
    server->events = cw_arena_take(arena, server->event_capacity * sizeof(*server->events));
    cw_handshake_layout(server, arena);
    return cw_slots_layout(server, arena, connection);
}

static size_t measure(const struct cw_server_config *config)
{
    struct cw_server server = {.config = *config};
    struct cw_arena arena = {0};
    cw_arena_take(&arena, sizeof(server));
    (void)layout(&server, &arena, config->connection);
    return arena.used;
}

size_t cw_server_memory(const struct cw_server_config *config)
{
    struct cw_server_config completed = *config;
    return complete(&completed) == CW_OK ? measure(&completed) : 0;
}

enum cw_error cw_server_create(struct cw_server **server, const struct cw_server_config *config)
{
    struct cw_server_config completed = *config;
    enum cw_error error = complete(&completed);
    if (error)
        return error;
    if (!cw_crypto_init())
        return CW_ERROR_NO_RANDOM;
    struct cw_arena arena = {.size = measure(&completed)};
    arena.base = cw_allocate(&config->allocator, arena.size);
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    memset(arena.base, 0, arena.size);
    struct cw_server *made = cw_arena_take(&arena, sizeof(*made));
    made->config = completed;
    made->memory = arena.size;
    error = layout(made, &arena, config->connection);
    if (error) {
        cw_release(&config->allocator, arena.base, arena.size);
        return error;
    }
    made->config.connection = NULL;
    memcpy(made->addresses, config->addresses, config->address_count * sizeof(*made->addresses));
    made->config.addresses = made->addresses;
    cw_random_fill(&config->random, made->challenge_key, CW_KEY_BYTES);
    cw_random_fill(&config->random, &made->hash_seed, sizeof(made->hash_seed));
    cw_handshake_start(made);
    *server = made;
    return CW_OK;
}

void cw_server_destroy(struct cw_server *server)
{
    if (!server)
        return;
    const struct cw_allocator allocator = server->config.allocator;
    const size_t memory = server->memory;
    cw_slots_destroy(server);
    cw_crypto_wipe(server, memory);
    cw_release(&allocator, server, memory);
}

void cw_server_set_unix_offset(struct cw_server *server, double unix_offset)
{
    server->config.unix_offset = unix_offset;
}

uint64_t cw_server_unix(const struct cw_server *server, double now)
{
    const double time = now + server->config.unix_offset;
    return time > 0 ? (uint64_t)time : 0;
}

static void start(struct cw_server *server, double now)
{
    if (server->started)
        return;
    server->started = true;
    server->start_time = now;
    server->allowance_time = now;
}

void cw_server_put_event(struct cw_server *server, const struct cw_server_event *event)
{
    const uint32_t place = (server->event_first + server->event_count++) % server->event_capacity;
    server->events[place] = *event;
}

static enum cw_error receive(struct cw_server *server, const struct cw_address *from,
                             const void *data, size_t size, double now)
{
    if (size == 0)
        return CW_ERROR_PACKET_SHORT;
    if (*(const uint8_t *)data == CW_SECURE_REQUEST)
        return cw_handshake_request(server, from, data, size, now);
    if (server->payload_waits)
        return CW_ERROR_EVENTS_PENDING;
    struct cw_slot *slot = cw_slots_by_address(server, from);
    return slot ? cw_slots_receive(server, slot, data, size, now)
                : cw_handshake_response(server, from, data, size, now);
}

enum cw_error cw_server_receive(struct cw_server *server, const struct cw_address *from,
                                const void *data, size_t size, double now)
{
    start(server, now);
    server->stats.datagrams_received++;
    server->stats.bytes_received += size;
    const enum cw_error error = receive(server, from, data, size, now);
    if (error)
        server->stats.dropped[error]++;
    return error;
}

size_t cw_server_transmit(struct cw_server *server, struct cw_address *to, void *out,
                          size_t capacity, double now)
{
    if (capacity < CW_SECURE_MAX)
        return 0;
    size_t size = cw_handshake_transmit(server, to, out, capacity);
    if (size == 0)
        size = cw_slots_transmit(server, to, out, capacity, now);
    if (size > 0) {
        server->stats.datagrams_sent++;
        server->stats.bytes_sent += size;
    }
    return size;
}

void cw_server_update(struct cw_server *server, double now)
{
    start(server, now);
    cw_handshake_update(server, now);
    cw_slots_update(server, now);
}

/* The next message of one client, or the next receipt of one sent to it. */
static bool next_of_one(struct cw_server *server, uint32_t client, struct cw_server_event *event)
{
    if (!server->connections)
        return false;
    struct cw_connection *connection = server->connections[client];
    struct cw_receipt receipt;
    *event = (struct cw_server_event){.client = client};
    if ((event->message = cw_connection_next(connection, &event->channel)) != NULL) {
        event->type = CW_SERVER_EVENT_MESSAGE;
    } else if (cw_connection_next_receipt(connection, &receipt)) {
        event->type = receipt.acked ? CW_SERVER_EVENT_ACKED : CW_SERVER_EVENT_LOST;
        event->receipt = receipt.number;
    } else {
        return false;
    }
    return true;
}

static bool next_of_all(struct cw_server *server, struct cw_server_event *event)
{
    uint32_t client;
    while ((client = cw_bit_next(server->readable, 0, server->config.max_clients)) !=
           CW_HASH_INDEX_NONE) {
        if (next_of_one(server, client, event))
            return true;
        cw_bit_clear(server->readable, client);
    }
    return false;
}

bool cw_server_next(struct cw_server *server, struct cw_server_event *event)
{
    if (server->event_count == 0)
        return next_of_all(server, event);
    const struct cw_server_event *first = &server->events[server->event_first];
    if (first->type == CW_SERVER_EVENT_DISCONNECTED && next_of_one(server, first->client, event))
        return true;
    *event = *first;
    server->event_first = (server->event_first + 1) % server->event_capacity;
    server->event_count--;
    if (event->type == CW_SERVER_EVENT_PAYLOAD) {
        server->payload_waits = false;
    } else if (event->type == CW_SERVER_EVENT_DISCONNECTED) {
        struct cw_slot *slot = &server->slots[event->client];
        slot->farewell_taken = true;
        cw_slots_release(server, slot);
    }
    return true;
}

static struct cw_slot *connected(struct cw_server *server, uint32_t client)
{
    if (client >= server->config.max_clients || server->slots[client].state != CW_SLOT_CONNECTED)
        return NULL;
    return &server->slots[client];
}

struct cw_connection *cw_server_connection(struct cw_server *server, uint32_t client)
{
    if (!server->connections || client >= server->config.max_clients ||
        server->slots[client].state == CW_SLOT_FREE)
        return NULL;
    return server->connections[client];
}

enum cw_error cw_server_send(struct cw_server *server, uint32_t client, const void *payload,
                             size_t size)
{
    if (!connected(server, client))
        return CW_ERROR_NOT_CONNECTED;
    if (size > CW_PAYLOAD_MAX)
        return CW_ERROR_PACKET_TOO_LARGE;
    if (size == 0 || server->connections)
        return CW_ERROR_INVALID_ARGUMENT;
    if (server->outgoing_size > 0)
        return CW_ERROR_TRANSMIT_PENDING;
    memcpy(server->outgoing, payload, size);
    server->outgoing_size = size;
    server->outgoing_client = client;
    cw_bit_set(server->due, client);
    return CW_OK;
}

void cw_server_disconnect(struct cw_server *server, uint32_t client)
{
    struct cw_slot *slot = connected(server, client);
    if (slot)
        cw_slots_close(server, slot, CW_DISCONNECT_BY_SERVER);
}

void cw_server_disconnect_all(struct cw_server *server)
{
    for (uint32_t client = 0; client < server->config.max_clients; client++)
        cw_server_disconnect(server, client);
}

bool cw_server_client(const struct cw_server *server, uint32_t client,
                      struct cw_server_client *about)
{
    if (client >= server->config.max_clients || server->slots[client].state == CW_SLOT_FREE)
        return false;
    const struct cw_slot *slot = &server->slots[client];
    *about = (struct cw_server_client){
        .id = slot->id,
        .address = slot->address,
        .user_data = slot->user_data,
        .confirmed = slot->confirmed,
    };
    return true;
}

void cw_server_stats(const struct cw_server *server, struct cw_server_stats *stats)
{
    *stats = server->stats;
    stats->clients = server->clients;
    stats->pending = server->pending_count;
}
