#include "base/bit_set.h"
#include "base/config_fields.h"
#include "base/one_thread.h"
#include "netcode/server_handshake.h"
#include "netcode/server_log.h"

#include <math.h>
#include <string.h>

struct cw_netcode_server_config cw_netcode_server_config_default(void)
{
    return (struct cw_netcode_server_config){
        .max_clients = 64,
        .unix_offset_seconds = NAN, /* missing */
        .max_token_life_seconds = 50,
        .max_pending = CW_AUTO,
        .token_history = CW_AUTO,
        .requests_per_second = 5000,
        .client_datagrams_per_second = 2000,
        .keep_alive_seconds = 0.1,
        .disconnect_packets = 10,
        .takeover = true,
        .log = {.level = CW_LOG_INFO},
    };
}

struct cw_netcode_server {
    struct cw_netcode_server_config config;
    size_t memory;
    struct cw_address *addresses;
    struct cw_server_events events;
    struct cw_slots slots;
    struct cw_handshake handshake;
    struct cw_netcode_server_stats stats;
    uint64_t dropped[CW_ERROR_COUNT]; /* the same datagrams, by error */
    struct cw_server_log_limit log_limit;
    CW_ONE_THREAD_MEMBER;
};

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(addresses, "must be 1 to 32, each IPv4 or IPv6: the ones that tokens name")              \
    OTHER(address_count, "must be from 1 to 32")                                                   \
    RANGE(__VA_ARGS__, UINT, max_clients, 1, CW_SERVER_MAX_CLIENTS)                                \
    OTHER(unix_offset_seconds, "is missing; set it to Unix time minus the time that calls are "    \
                               "given: cw_clock_unix() - cw_clock_now(), or 0 when calls are "     \
                               "given Unix time")                                                  \
    RANGE(__VA_ARGS__, UINT, max_pending, 1, 65536)                                                \
    RANGE(__VA_ARGS__, UINT, token_history, 1, 16777216)                                           \
    RANGE(__VA_ARGS__, ABOVE, requests_per_second, 0, 1000000000)                                  \
    RANGE(__VA_ARGS__, ABOVE, client_datagrams_per_second, 0, 1000000000)                          \
    RANGE(__VA_ARGS__, ABOVE, keep_alive_seconds, 0, 10)                                           \
    RANGE(__VA_ARGS__, UINT, disconnect_packets, 1, 100)
CW_CONFIG_FIELDS(cw_netcode_server_config, 0x1540, FIELDS, cw_netcode_server_config_errors)

_Static_assert(CW_TOKEN_MAX_ADDRESSES == 32, "the limit above");

static enum cw_error check_addresses(const struct cw_netcode_server_config *config)
{
    if (!config->addresses)
        return CW_FIELD_ERROR(addresses);
    if (config->address_count < 1 || config->address_count > CW_TOKEN_MAX_ADDRESSES)
        return CW_FIELD_ERROR(address_count);
    for (uint32_t i = 0; i < config->address_count; i++)
        if (config->addresses[i].type != CW_ADDRESS_IPV4 &&
            config->addresses[i].type != CW_ADDRESS_IPV6)
            return CW_FIELD_ERROR(addresses);
    return CW_OK;
}

static enum cw_error complete_key(struct cw_netcode_server_config *config)
{
    if (config->insecure) {
        memcpy(config->private_key, CW_TOKEN_INSECURE_KEY, CW_KEY_BYTES);
        config->max_token_life_seconds = 0;
        return CW_OK;
    }
    const bool known = cw_crypto_is_zero(config->private_key, CW_KEY_BYTES) ||
                       memcmp(config->private_key, CW_TOKEN_INSECURE_KEY, CW_KEY_BYTES) == 0;
    return known ? CW_ERROR_KEY : CW_OK;
}

/* Fills in what the config leaves to us. */
static enum cw_error complete(struct cw_netcode_server_config *config)
{
    if (config->max_pending == CW_AUTO)
        config->max_pending = 2 * config->max_clients;
    if (config->token_history == CW_AUTO)
        config->token_history = config->max_clients < 64 ? 1024 : 16 * config->max_clients;
    const enum cw_error error = CW_CHECK_FIELDS(config);
    if (error)
        return error;
    const enum cw_error key_error = complete_key(config);
    if (key_error)
        return key_error;
    const enum cw_error address_error = check_addresses(config);
    if (address_error)
        return address_error;
    return isfinite(config->unix_offset_seconds) ? CW_OK : CW_FIELD_ERROR(unix_offset_seconds);
}

enum cw_error cw_netcode_server_check(const struct cw_netcode_server_config *config)
{
    struct cw_netcode_server_config completed = *config;
    return complete(&completed);
}

uint32_t cw_netcode_server_most_clients(const struct cw_netcode_server *server)
{
    return server->config.max_clients + server->config.max_pending;
}

/* Lays the server's parts out in the arena. The config must be complete. */
static void layout(struct cw_netcode_server *server, struct cw_arena *arena)
{
    server->addresses =
        cw_arena_take(arena, server->config.address_count * sizeof(*server->addresses));
    server->slots.config = server->handshake.config = &server->config;
    server->slots.events = &server->events;
    server->handshake.slots = &server->slots;
    cw_server_events_layout(&server->events, arena, server->config.max_clients);
    cw_handshake_layout(&server->handshake, arena);
    cw_slots_layout(&server->slots, arena);
}

static size_t measure(const struct cw_netcode_server_config *config)
{
    struct cw_netcode_server server = {.config = *config};
    struct cw_arena arena = {0};
    cw_arena_take(&arena, sizeof(server));
    layout(&server, &arena);
    return arena.used;
}

size_t cw_netcode_server_memory(const struct cw_netcode_server_config *config)
{
    if (!config)
        return 0;
    struct cw_netcode_server_config completed = *config;
    return complete(&completed) == CW_OK ? measure(&completed) : 0;
}

enum cw_error cw_netcode_server_create(const struct cw_netcode_server_config *config,
                                       struct cw_netcode_server **server)
{
    if (!server || !config)
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_netcode_server_config completed = *config;
    const enum cw_error error = complete(&completed);
    if (error)
        return error;
    if (!cw_crypto_init())
        return CW_ERROR_NO_RANDOM;
    struct cw_arena arena = cw_arena_create(&config->allocator, measure(&completed));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_netcode_server *made = cw_arena_take(&arena, sizeof(*made));
    made->config = completed;
    made->memory = arena.size;
    layout(made, &arena);
    memcpy(made->addresses, config->addresses, config->address_count * sizeof(*made->addresses));
    made->config.addresses = made->addresses;
    cw_slots_start(&made->slots);
    cw_handshake_start(&made->handshake);
    if (completed.insecure)
        cw_server_log_insecure(&completed.log);
    *server = made;
    return CW_OK;
}

void cw_netcode_server_destroy(struct cw_netcode_server *server)
{
    CW_ONE_THREAD_LAST(server);
    if (!server)
        return;
    const struct cw_allocator allocator = server->config.allocator;
    const size_t memory = server->memory;
    cw_crypto_wipe(server, memory);
    cw_release(&allocator, server, memory);
}

/* Returns whether a call can be carried out: there is a server, and the time is finite. */
static bool can_run(const struct cw_netcode_server *server, double time)
{
    return server && isfinite(time);
}

void cw_netcode_server_set_unix_offset(struct cw_netcode_server *server, double unix_offset_seconds)
{
    CW_ONE_THREAD(server);
    if (can_run(server, unix_offset_seconds))
        server->config.unix_offset_seconds = unix_offset_seconds;
}

static enum cw_error receive(struct cw_netcode_server *server, const struct cw_address *from,
                             const uint8_t *data, size_t size, double now)
{
    if (size == 0)
        return CW_ERROR_PACKET_SHORT;
    if (*data == CW_SECURE_REQUEST)
        return cw_handshake_request(&server->handshake, from, data, size, now);
    if (server->events.payload_waits)
        return CW_ERROR_EVENTS_PENDING;
    struct cw_slot *slot = cw_slots_by_address(&server->slots, from);
    return slot && (*data & 15) != CW_SECURE_RESPONSE
               ? cw_slots_receive(&server->slots, slot, data, size, now)
               : cw_handshake_response(&server->handshake, from, data, size, now);
}

/* Counts a datagram that was dropped. */
static enum cw_error drop(struct cw_netcode_server *server,
                          const struct cw_server_log_refusal *refusal, double now)
{
    server->stats.datagrams_dropped++;
    server->dropped[refusal->error]++;
    cw_server_log_refused(&server->config.log, &server->log_limit, refusal, now);
    return refusal->error;
}

enum cw_error cw_netcode_server_receive(struct cw_netcode_server *server,
                                        const struct cw_address *from, const uint8_t *data,
                                        size_t size, double now)
{
    CW_ONE_THREAD(server);
    if (!can_run(server, now) || !from || (!data && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    cw_handshake_set_time(&server->handshake, now);
    server->stats.datagrams_received++;
    server->stats.bytes_received += size;
    const enum cw_error error = receive(server, from, data, size, now);
    const bool is_request = size > 0 && *data == CW_SECURE_REQUEST;
    return error ? drop(server, &(struct cw_server_log_refusal){from, is_request, error}, now)
                 : CW_OK;
}

enum cw_error cw_netcode_server_drop(struct cw_netcode_server *server,
                                     const struct cw_address *from, enum cw_error error, double now)
{
    return drop(server, &(struct cw_server_log_refusal){from, false, error}, now);
}

size_t cw_netcode_server_take_payload(struct cw_netcode_server *server, uint32_t *client,
                                      const uint8_t **payload)
{
    struct cw_netcode_server_event event;
    if (!cw_server_events_take_payload(&server->events, &event))
        return 0;
    *client = event.client;
    *payload = event.payload;
    return event.size;
}

void cw_netcode_server_set_outline(struct cw_netcode_server *server, const uint8_t *outline,
                                   size_t size)
{
    memcpy(server->handshake.outline, outline, size);
    server->handshake.outline_size = size;
}

void cw_netcode_server_charge(struct cw_netcode_server *server, uint32_t client, double datagrams)
{
    server->slots.slots[client].allowance -= datagrams;
}

/* Counts a datagram, if there is one. */
static size_t sent(struct cw_netcode_server *server, size_t size)
{
    server->stats.datagrams_sent += size > 0;
    server->stats.bytes_sent += size;
    return size;
}

size_t cw_netcode_server_announce(struct cw_netcode_server *server, uint32_t client,
                                  uint8_t out[CW_SECURE_MAX], double now, struct cw_address *to)
{
    struct cw_slots *slots = &server->slots;
    return sent(server, cw_slots_announce(slots, &slots->slots[client], out, now, to));
}

uint8_t *cw_netcode_server_body(const struct cw_netcode_server *server, uint32_t client,
                                uint8_t *out)
{
    return out + cw_secure_body_offset(server->slots.slots[client].sequence);
}

size_t cw_netcode_server_seal(struct cw_netcode_server *server, uint32_t client,
                              uint8_t out[CW_SECURE_MAX], size_t size, double now,
                              struct cw_address *to)
{
    struct cw_slots *slots = &server->slots;
    return sent(server, cw_slots_seal(slots, &slots->slots[client], out, size, now, to));
}

size_t cw_netcode_server_transmit(struct cw_netcode_server *server, uint8_t *out, size_t capacity,
                                  double now, struct cw_address *to)
{
    CW_ONE_THREAD(server);
    if (!can_run(server, now) || !to || !out || capacity < CW_SECURE_MAX)
        return 0;
    size_t size = cw_handshake_transmit(&server->handshake, out, capacity, now, to);
    if (size == 0)
        size = cw_slots_transmit(&server->slots, out, capacity, now, to);
    if (size == 0 && cw_handshake_settle(&server->handshake, now))
        size = cw_slots_transmit(&server->slots, out, capacity, now, to);
    return sent(server, size);
}

void cw_netcode_server_update(struct cw_netcode_server *server, double now)
{
    CW_ONE_THREAD(server);
    if (!can_run(server, now))
        return;
    cw_handshake_set_time(&server->handshake, now);
    cw_handshake_update(&server->handshake, now);
    cw_slots_update(&server->slots, now);
}

bool cw_netcode_server_next(struct cw_netcode_server *server, struct cw_netcode_server_event *event)
{
    CW_ONE_THREAD(server);
    return server && event && cw_slots_next(&server->slots, event);
}

const struct cw_netcode_server_event *
cw_netcode_server_first(const struct cw_netcode_server *server)
{
    return cw_server_events_first(&server->events);
}

enum cw_slot_state cw_netcode_server_slot(const struct cw_netcode_server *server, uint32_t client)
{
    return server->slots.slots[client].state;
}

uint32_t cw_netcode_server_changed(struct cw_netcode_server *server)
{
    struct cw_slots *slots = &server->slots;
    const uint32_t client = slots->any_changed
                                ? cw_bit_next(slots->changed, 0, server->config.max_clients)
                                : CW_BIT_NONE;
    slots->any_changed = client != CW_BIT_NONE;
    if (client == CW_BIT_NONE)
        return CW_SERVER_NOBODY;
    cw_bit_clear(slots->changed, client);
    return client;
}

enum cw_error cw_netcode_server_send(struct cw_netcode_server *server, uint32_t client,
                                     const uint8_t *payload, size_t size)
{
    CW_ONE_THREAD(server);
    if (!server || (!payload && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    return cw_slots_send(&server->slots, client, payload, size);
}

void cw_netcode_server_disconnect(struct cw_netcode_server *server, uint32_t client, uint32_t code,
                                  const char *text)
{
    CW_ONE_THREAD(server);
    const struct cw_farewell farewell = cw_farewell_make(CW_DISCONNECT_BY_SERVER, code, text);
    if (server)
        cw_slots_disconnect(&server->slots, client, &farewell);
}

void cw_netcode_server_disconnect_all(struct cw_netcode_server *server)
{
    CW_ONE_THREAD(server);
    const struct cw_farewell farewell = {.reason = CW_DISCONNECT_STOPPING};
    for (uint32_t client = 0; server && client < server->config.max_clients; client++)
        cw_slots_disconnect(&server->slots, client, &farewell);
}

bool cw_netcode_server_client(const struct cw_netcode_server *server, uint32_t client,
                              struct cw_server_client_info *about)
{
    const struct cw_slot *slot = server && about ? cw_slots_get(&server->slots, client) : NULL;
    if (!slot)
        return false;
    *about = (struct cw_server_client_info){
        .id = slot->identity.id,
        .token_id = cw_token_id(slot->identity.mac),
        .address = slot->identity.address,
        .user_data = slot->identity.user_data,
        .confirmed = slot->confirmed,
        .datagrams_refused = slot->datagrams_refused,
    };
    return true;
}

void cw_netcode_server_set_user(struct cw_netcode_server *server, uint32_t client, void *user)
{
    CW_ONE_THREAD(server);
    if (server)
        cw_slots_set_user(&server->slots, client, user);
}

void *cw_netcode_server_user(const struct cw_netcode_server *server, uint32_t client)
{
    const struct cw_slot *slot = server ? cw_slots_get(&server->slots, client) : NULL;
    return slot ? slot->user : NULL;
}

uint32_t cw_netcode_server_client_at(const struct cw_netcode_server *server,
                                     const struct cw_address *address)
{
    const struct cw_slot *slot =
        server && address ? cw_slots_by_address(&server->slots, address) : NULL;
    return slot ? cw_slots_number(&server->slots, slot) : CW_SERVER_NOBODY;
}

void cw_netcode_server_get_stats(const struct cw_netcode_server *server,
                                 struct cw_netcode_server_stats *stats)
{
    if (!server || !stats)
        return;
    *stats = server->stats;
    stats->clients = server->slots.clients;
    stats->moves = server->slots.moves;
    stats->takeovers = server->handshake.takeovers;
    stats->connections = server->slots.connections_made;
    stats->pending = server->handshake.active_count;
    stats->challenges_sent = server->handshake.challenges.sent;
    stats->denied_sent = server->handshake.denied_sent;
}

uint64_t cw_netcode_server_dropped(const struct cw_netcode_server *server, enum cw_error error)
{
    return server && (unsigned)error < CW_ERROR_COUNT ? server->dropped[error] : 0;
}
