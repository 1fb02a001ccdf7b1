#include "base/config_fields.h"
#include "base/memory.h"
#include "message/message_pool.h"
#include "netcode/netcode_server_internal.h"
#include "session/payload.h"
#include "session/server_internal.h"

#include "message/connection_internal.h"
#include "message/schema_internal.h"

#include <math.h>

#define MESSAGES_PER_DATAGRAM 64 /* these cost at most as much as a datagram without them */

struct cw_server_config cw_server_config_default(void)
{
    struct cw_server_config config = {
        .netcode = cw_netcode_server_config_default(),
        .max_broadcasts = 64,
    };
    config.netcode.fingerprint = CW_FINGERPRINT_AUTO;
    return config;
}

#define FIELDS(OTHER, RANGE, ...) RANGE(__VA_ARGS__, UINT, max_broadcasts, 1, 32768)
CW_CONFIG_FIELDS(cw_server_config, 0x1240, FIELDS, cw_server_config_errors)

static enum cw_error check(const struct cw_server_config *config)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    enum cw_error error = cw_netcode_server_check(&config->netcode);
    if (!error)
        error = CW_CHECK_FIELDS(config);
    return error ? error : cw_payload_check(config->connection);
}

/* Creates the parts of a server in the arena, or measures them when it has no memory. */
static enum cw_error create_parts(struct cw_server *server, struct cw_arena *arena,
                                  const struct cw_server_config *config)
{
    struct cw_netcode_server_config netcode = config->netcode;
    struct cw_connection_config connection = *config->connection;
    netcode.allocator = connection.allocator = cw_arena_allocator(arena);
    if (netcode.fingerprint == CW_FINGERPRINT_AUTO)
        netcode.fingerprint = cw_connection_fingerprint(config->connection);
    enum cw_error error = CW_OK;
    if (arena->base)
        error = cw_netcode_server_create(&netcode, &server->netcode);
    else
        cw_arena_take(arena, cw_netcode_server_memory(&netcode));
    server->sessions = cw_arena_take(arena, server->max_clients * sizeof *server->sessions);
    for (uint32_t i = 0; i < server->max_clients && !error; i++) {
        if (!arena->base) {
            cw_arena_take(arena, cw_connection_memory(&connection));
            continue;
        }
        error = cw_connection_create(&connection, &server->sessions[i].connection);
        if (error)
            break;
        cw_connection_set_open(server->sessions[i].connection, false);
        cw_broadcasts_join(&server->broadcasts, server->sessions[i].connection);
    }
    return error ? error
                 : cw_broadcasts_layout(&server->broadcasts, arena, connection.schema,
                                        config->max_broadcasts);
}

static size_t measure(const struct cw_server_config *config)
{
    struct cw_server server = {.max_clients = config->netcode.max_clients};
    struct cw_arena arena = {0};
    cw_arena_take(&arena, sizeof server);
    (void)create_parts(&server, &arena, config);
    return arena.used;
}

size_t cw_server_memory(const struct cw_server_config *config)
{
    return check(config) == CW_OK ? measure(config) : 0;
}

static void destroy(struct cw_server *server)
{
    const struct cw_allocator allocator = server->allocator;
    const size_t memory = server->memory;
    for (uint32_t i = 0; server->sessions && i < server->max_clients; i++)
        cw_connection_destroy(server->sessions[i].connection);
    cw_message_pool_destroy(server->broadcasts.pool);
    cw_netcode_server_destroy(server->netcode);
    cw_crypto_wipe(server, memory);
    cw_release(&allocator, server, memory);
}

enum cw_error cw_server_create(const struct cw_server_config *config, struct cw_server **server)
{
    enum cw_error error = server ? check(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error)
        return error;
    struct cw_arena arena = cw_arena_create(&config->netcode.allocator, measure(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_server *made = cw_arena_take(&arena, sizeof *made);
    made->allocator = config->netcode.allocator;
    made->memory = arena.size;
    made->max_clients = config->netcode.max_clients;
    error = create_parts(made, &arena, config);
    if (error) {
        destroy(made);
        return error;
    }
    uint8_t outline[CW_OUTLINE_MAX];
    cw_netcode_server_set_outline(
        made->netcode, outline,
        cw_schema_outline(config->connection->schema, outline, sizeof outline));
    *server = made;
    return CW_OK;
}

void cw_server_destroy(struct cw_server *server)
{
    CW_ONE_THREAD_LAST(server);
    if (server)
        destroy(server);
}

/* Brings a connection into the state of its slot: it is open while the client is connected, and
   gives up what it holds when the slot is free. */
static void follow_slot(struct cw_server *server, uint32_t client)
{
    struct cw_session *session = &server->sessions[client];
    const enum cw_slot_state state = cw_netcode_server_slot(server->netcode, client);
    const bool connected = state == CW_SLOT_CONNECTED;
    if (state != CW_SLOT_CLOSED && session->used) {
        cw_connection_reset(session->connection);
        session->used = false;
    }
    session->flushing = false;
    cw_connection_set_open(session->connection, connected);
    cw_bit_clear(server->connected, client);
    cw_bit_clear(server->round_open, client);
    if (connected) {
        cw_bit_set(server->connected, client);
        session->used = true;
    }
}

static void follow(struct cw_server *server)
{
    uint32_t client;
    while ((client = cw_netcode_server_changed(server->netcode)) != CW_SERVER_NOBODY)
        follow_slot(server, client);
}

/* Gives a packet to the client's connection, and charges the client for its messages. */
static enum cw_error take_packet(struct cw_server *server, uint32_t client, const uint8_t *data,
                                 size_t size, double now)
{
    struct cw_connection *connection = server->sessions[client].connection;
    const uint32_t before = connection->messages_read;
    const enum cw_error error = cw_connection_receive(connection, data, size, now);
    cw_netcode_server_charge(server->netcode, client,
                             (double)(connection->messages_read - before) / MESSAGES_PER_DATAGRAM);
    cw_bit_set(server->readable, client);
    return error;
}

enum cw_error cw_server_receive(struct cw_server *server, const struct cw_address *from,
                                const uint8_t *data, size_t size, double now)
{
    CW_ONE_THREAD(server);
    if (!server)
        return CW_ERROR_INVALID_ARGUMENT;
    enum cw_error error = cw_netcode_server_receive(server->netcode, from, data, size, now);
    follow(server);
    uint32_t client;
    const uint8_t *payload;
    const size_t payload_size = cw_netcode_server_take_payload(server->netcode, &client, &payload);
    if (payload_size == 0)
        return error;
    error = take_packet(server, client, payload, payload_size, now);
    return error ? cw_netcode_server_drop(server->netcode, from, error, now) : CW_OK;
}

/* Writes the next datagram of a connection, or the packet that its client must get before it.
   Returns 0 when there is none. */
static size_t transmit_one(struct cw_server *server, uint32_t client, uint8_t out[CW_SECURE_MAX],
                           double now, struct cw_address *to)
{
    struct cw_netcode_server *netcode = server->netcode;
    const size_t announced = cw_netcode_server_announce(netcode, client, out, now, to);
    if (announced > 0)
        return announced;
    const size_t size =
        cw_connection_transmit(server->sessions[client].connection,
                               cw_netcode_server_body(netcode, client, out), CW_PAYLOAD_MAX, now);
    return size > 0 ? cw_netcode_server_seal(netcode, client, out, size, now, to) : 0;
}

static size_t transmit_round(struct cw_server *server, uint8_t out[CW_SECURE_MAX], double now,
                             struct cw_address *to)
{
    for (;;) {
        uint32_t client =
            cw_bit_next(server->round_open, server->round_cursor, server->max_clients);
        if (client == CW_BIT_NONE)
            client = cw_bit_next(server->round_open, 0, server->max_clients);
        if (client == CW_BIT_NONE)
            return 0;
        server->round_cursor = client;
        const size_t size = transmit_one(server, client, out, now, to);
        if (size > 0)
            return size;
        cw_bit_clear(server->round_open, client);
    }
}

size_t cw_server_transmit(struct cw_server *server, uint8_t *out, size_t capacity, double now,
                          struct cw_address *to)
{
    CW_ONE_THREAD(server);
    if (!server || !isfinite(now) || !to || !out || capacity < CW_SECURE_MAX)
        return 0;
    /* A payload is a keep-alive too, so payloads go first. */
    size_t size = transmit_round(server, out, now, to);
    if (size == 0) {
        size = cw_netcode_server_transmit(server->netcode, out, capacity, now, to);
        follow(server);
    }
    return size;
}

/* Disconnects a client for which everything is done, or whose time is over. */
static void end_flush(struct cw_server *server, uint32_t client, double now)
{
    const struct cw_session *session = &server->sessions[client];
    if (session->flushing &&
        (now >= session->flush_deadline || cw_connection_is_idle(session->connection)))
        cw_netcode_server_disconnect(server->netcode, client, session->farewell.code,
                                     session->farewell.text);
}

void cw_server_update(struct cw_server *server, double now)
{
    CW_ONE_THREAD(server);
    if (!server || !isfinite(now))
        return;
    const uint32_t count = server->max_clients;
    cw_netcode_server_update(server->netcode, now);
    follow(server);
    for (uint32_t client = cw_bit_next(server->connected, 0, count); client != CW_BIT_NONE;
         client = cw_bit_next(server->connected, client + 1, count)) {
        end_flush(server, client, now);
        cw_connection_update(server->sessions[client].connection, now);
        cw_bit_set(server->round_open, client);
        cw_bit_set(server->readable, client);
    }
    follow(server);
}

/* Takes the next event of one client's connection. */
static bool next_of_one(struct cw_server *server, uint32_t client, struct cw_server_event *event)
{
    struct cw_connection_event next;
    if (!cw_connection_next(server->sessions[client].connection, &next))
        return false;
    *event = (struct cw_server_event){
        .type = (enum cw_server_event_type)next.type,
        .client = client,
        .message = next.message,
        .channel = next.channel,
        .receipt = next.receipt,
        .request = next.request,
        .unanswered = next.unanswered,
        .code = next.code,
        .user = cw_netcode_server_user(server->netcode, client),
    };
    return true;
}

static bool next_of_all(struct cw_server *server, struct cw_server_event *event)
{
    uint32_t client;
    while ((client = cw_bit_next(server->readable, 0, server->max_clients)) != CW_BIT_NONE) {
        if (next_of_one(server, client, event))
            return true;
        cw_bit_clear(server->readable, client);
    }
    return false;
}

bool cw_server_next(struct cw_server *server, struct cw_server_event *event)
{
    CW_ONE_THREAD(server);
    if (!server || !event)
        return false;
    const struct cw_netcode_server_event *first = cw_netcode_server_first(server->netcode);
    if (!first)
        return next_of_all(server, event);
    const bool disconnected = first->type == CW_NETCODE_SERVER_EVENT_DISCONNECTED;
    if (disconnected && next_of_one(server, first->client, event))
        return true;
    struct cw_netcode_server_event next;
    (void)cw_netcode_server_next(server->netcode, &next);
    follow(server);
    *event = (struct cw_server_event){
        .type = disconnected ? CW_SERVER_EVENT_DISCONNECTED : CW_SERVER_EVENT_CONNECTED,
        .client = next.client,
        .reason = next.reason,
        .user = next.user,
    };
    return true;
}

struct cw_connection *cw_server_connection(struct cw_server *server, uint32_t client)
{
    CW_ONE_THREAD(server);
    return server && client < server->max_clients && server->sessions[client].used
               ? server->sessions[client].connection
               : NULL;
}

void cw_server_disconnect(struct cw_server *server, uint32_t client, uint32_t code,
                          const char *text)
{
    CW_ONE_THREAD(server);
    if (!server)
        return;
    cw_netcode_server_disconnect(server->netcode, client, code, text);
    follow(server);
}

void cw_server_disconnect_all(struct cw_server *server)
{
    CW_ONE_THREAD(server);
    if (!server)
        return;
    cw_netcode_server_disconnect_all(server->netcode);
    follow(server);
}

void cw_server_flush_and_disconnect(struct cw_server *server, uint32_t client, uint32_t code,
                                    const char *text, double flush_seconds, double now)
{
    CW_ONE_THREAD(server);
    if (!server || !isfinite(now) || !isfinite(flush_seconds) || client >= server->max_clients ||
        !cw_bit_get(server->connected, client))
        return;
    struct cw_session *session = &server->sessions[client];
    session->flushing = true;
    session->flush_deadline = now + flush_seconds;
    session->farewell = cw_farewell_make(CW_DISCONNECT_BY_SERVER, code, text);
    cw_connection_set_open(session->connection, false);
    end_flush(server, client, now);
    follow(server);
}

bool cw_server_client(const struct cw_server *server, uint32_t client,
                      struct cw_server_client_info *about)
{
    return server && cw_netcode_server_client(server->netcode, client, about);
}

void cw_server_set_user(struct cw_server *server, uint32_t client, void *user)
{
    CW_ONE_THREAD(server);
    if (server)
        cw_netcode_server_set_user(server->netcode, client, user);
}

void *cw_server_user(const struct cw_server *server, uint32_t client)
{
    return server ? cw_netcode_server_user(server->netcode, client) : NULL;
}

uint64_t cw_server_dropped(const struct cw_server *server, enum cw_error error)
{
    return server ? cw_netcode_server_dropped(server->netcode, error) : 0;
}

struct cw_netcode_server *cw_server_netcode(struct cw_server *server)
{
    CW_ONE_THREAD(server);
    return server ? server->netcode : NULL;
}
