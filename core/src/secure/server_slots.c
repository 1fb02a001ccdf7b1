#include "secure/server_internal.h"

#include <string.h>

enum cw_error cw_slots_layout(struct cw_server *server, struct cw_arena *arena,
                              const struct cw_connection_config *connection)
{
    const uint32_t count = server->config.max_clients;
    server->slots = cw_arena_take(arena, count * sizeof(*server->slots));
    cw_hash_index_layout(&server->slots_by_address, arena, count);
    cw_hash_index_layout(&server->slots_by_id, arena, count);
    if (!connection)
        return CW_OK;
    server->connections = cw_arena_take(arena, count * sizeof(*server->connections));
    struct cw_connection_config config = *connection;
    config.allocator = cw_arena_allocator(arena);
    enum cw_error error = CW_OK;
    for (uint32_t i = 0; i < count && !error; i++) {
        if (!arena->base) {
            cw_arena_take(arena, cw_connection_memory(&config));
            continue;
        }
        error = cw_connection_create(&server->connections[i], &config);
        if (!error)
            cw_connection_set_open(server->connections[i], false);
    }
    return error;
}

void cw_slots_destroy(struct cw_server *server)
{
    for (uint32_t i = 0; server->connections && i < server->config.max_clients; i++)
        cw_connection_destroy(server->connections[i]);
}

static uint32_t number_of(const struct cw_server *server, const struct cw_slot *slot)
{
    return (uint32_t)(slot - server->slots);
}

struct cw_slot *cw_slots_by_address(struct cw_server *server, const struct cw_address *address)
{
    const uint64_t hash = cw_hash_index_hash_address(server->hash_seed, address);
    uint32_t number, probe = 0;
    while ((number = cw_hash_index_find(&server->slots_by_address, hash, &probe)) !=
           CW_HASH_INDEX_NONE)
        if (cw_address_equal(&server->slots[number].address, address))
            return &server->slots[number];
    return NULL;
}

struct cw_slot *cw_slots_by_id(struct cw_server *server, uint64_t id)
{
    const uint64_t hash = cw_hash_index_hash(server->hash_seed, id);
    uint32_t number, probe = 0;
    while ((number = cw_hash_index_find(&server->slots_by_id, hash, &probe)) != CW_HASH_INDEX_NONE)
        if (server->slots[number].id == id)
            return &server->slots[number];
    return NULL;
}

struct cw_slot *cw_slots_find_vacant(struct cw_server *server)
{
    for (uint32_t word = 0; word * 64 < server->config.max_clients; word++) {
        const uint64_t vacant = ~server->used[word];
        if (vacant == 0)
            continue;
        const uint32_t number = word * 64 + (uint32_t)__builtin_ctzll(vacant);
        return number < server->config.max_clients ? &server->slots[number] : NULL;
    }
    return NULL;
}

void cw_slots_connect(struct cw_server *server, struct cw_slot *slot,
                      const struct cw_pending *pending, const uint8_t user_data[CW_USER_DATA_SIZE],
                      double now)
{
    const uint32_t number = number_of(server, slot);
    *slot = (struct cw_slot){
        .state = CW_SLOT_CONNECTED,
        .address = pending->address,
        .id = pending->id,
        .timeout_seconds = pending->timeout_seconds,
        .last_received = now,
        .last_sent = now,
        .keep_alive_due = true,
    };
    memcpy(slot->client_to_server_key, pending->client_to_server_key, CW_KEY_BYTES);
    memcpy(slot->server_to_client_key, pending->server_to_client_key, CW_KEY_BYTES);
    memcpy(slot->user_data, user_data, CW_USER_DATA_SIZE);
    cw_hash_index_add(&server->slots_by_address,
                      cw_hash_index_hash_address(server->hash_seed, &slot->address), number);
    cw_hash_index_add(&server->slots_by_id, cw_hash_index_hash(server->hash_seed, slot->id),
                      number);
    cw_bit_set(server->used, number);
    cw_bit_set(server->due, number);
    if (server->connections)
        cw_connection_set_open(server->connections[number], true);
    server->clients++;
    server->stats.connections++;
    cw_server_put_event(
        server, &(struct cw_server_event){.type = CW_SERVER_EVENT_CONNECTED, .client = number});
}

void cw_slots_close(struct cw_server *server, struct cw_slot *slot,
                    enum cw_disconnect_reason reason)
{
    const uint32_t number = number_of(server, slot);
    cw_hash_index_remove(&server->slots_by_address,
                         cw_hash_index_hash_address(server->hash_seed, &slot->address), number);
    cw_hash_index_remove(&server->slots_by_id, cw_hash_index_hash(server->hash_seed, slot->id),
                         number);
    slot->state = CW_SLOT_CLOSED;
    if (server->connections)
        cw_connection_set_open(server->connections[number], false);
    if (reason != CW_DISCONNECT_BY_CLIENT)
        slot->disconnects_left = server->config.disconnect_packets;
    cw_bit_set(server->due, number);
    if (server->outgoing_size > 0 && server->outgoing_client == number)
        server->outgoing_size = 0;
    server->clients--;
    cw_server_put_event(server, &(struct cw_server_event){.type = CW_SERVER_EVENT_DISCONNECTED,
                                                          .client = number,
                                                          .reason = reason});
}

void cw_slots_release(struct cw_server *server, struct cw_slot *slot)
{
    if (slot->state != CW_SLOT_CLOSED || !slot->farewell_taken || slot->disconnects_left > 0)
        return;
    const uint32_t number = number_of(server, slot);
    cw_bit_clear(server->used, number);
    cw_bit_clear(server->due, number);
    if (server->connections)
        cw_connection_reset(server->connections[number]);
    cw_crypto_wipe(slot, sizeof(*slot));
}

static enum cw_error take_payload(struct cw_server *server, struct cw_slot *slot, size_t size,
                                  double now)
{
    const uint32_t number = number_of(server, slot);
    if (server->connections) {
        cw_bit_set(server->readable, number);
        return cw_connection_receive(server->connections[number], server->body, size, now);
    }
    server->payload_waits = true;
    cw_server_put_event(server, &(struct cw_server_event){.type = CW_SERVER_EVENT_PAYLOAD,
                                                          .client = number,
                                                          .payload = server->body,
                                                          .size = size});
    return CW_OK;
}

enum cw_error cw_slots_receive(struct cw_server *server, struct cw_slot *slot, const void *data,
                               size_t size, double now)
{
    struct cw_secure_packet packet;
    const enum cw_error error =
        cw_secure_read(&packet, server->body, data, size, CW_TO_SERVER, server->config.protocol_id,
                       slot->client_to_server_key, &slot->replay);
    if (error)
        return error;
    switch (packet.type) {
    case CW_SECURE_KEEP_ALIVE:
    case CW_SECURE_PAYLOAD:
        slot->confirmed = true;
        slot->last_received = now;
        return packet.type == CW_SECURE_PAYLOAD ? take_payload(server, slot, packet.size, now)
                                                : CW_OK;
    case CW_SECURE_DISCONNECT:
        cw_slots_close(server, slot, CW_DISCONNECT_BY_CLIENT);
        return CW_OK;
    default:
        return CW_ERROR_UNEXPECTED;
    }
}

static size_t write_packet(struct cw_server *server, struct cw_slot *slot, enum cw_secure_type type,
                           const void *body, size_t size, void *out, size_t capacity)
{
    return cw_secure_write(out, capacity, type, slot->sequence++, body, size,
                           server->config.protocol_id, slot->server_to_client_key);
}

static size_t write_keep_alive(struct cw_server *server, struct cw_slot *slot, void *out,
                               size_t capacity)
{
    uint8_t body[CW_KEEP_ALIVE_SIZE];
    cw_keep_alive_put(body, number_of(server, slot), server->config.max_clients);
    slot->keep_alive_due = false;
    return write_packet(server, slot, CW_SECURE_KEEP_ALIVE, body, sizeof(body), out, capacity);
}

/* The next payload packet of a slot, with a keep-alive before it while the client may not know that
   it is connected; 0 when there is none. */
static size_t write_payload(struct cw_server *server, struct cw_slot *slot, uint8_t *out,
                            size_t capacity, double now)
{
    const uint32_t number = number_of(server, slot);
    const bool waits = server->outgoing_size > 0 && server->outgoing_client == number;
    if (!waits && !slot->round_open)
        return 0;
    if (!slot->confirmed && !slot->introduced) {
        slot->introduced = true;
        return write_keep_alive(server, slot, out, capacity);
    }
    const uint8_t *body = server->outgoing;
    size_t size = server->outgoing_size;
    if (waits) {
        server->outgoing_size = 0;
    } else {
        uint8_t *place = out + cw_secure_body_offset(slot->sequence);
        size = cw_connection_transmit(server->connections[number], place, CW_PAYLOAD_MAX, now);
        body = place;
    }
    if (size == 0) {
        slot->round_open = false;
        return 0;
    }
    slot->introduced = false;
    slot->keep_alive_due = false;
    return write_packet(server, slot, CW_SECURE_PAYLOAD, body, size, out, capacity);
}

/* The next packet of a slot; 0 when it has none. */
static size_t write_next(struct cw_server *server, struct cw_slot *slot, void *out, size_t capacity,
                         double now)
{
    if (slot->state == CW_SLOT_CLOSED) {
        if (slot->disconnects_left == 0)
            return 0;
        slot->disconnects_left--;
        return write_packet(server, slot, CW_SECURE_DISCONNECT, NULL, 0, out, capacity);
    }
    const size_t size = write_payload(server, slot, out, capacity, now);
    if (size > 0)
        return size;
    return slot->keep_alive_due ? write_keep_alive(server, slot, out, capacity) : 0;
}

size_t cw_slots_transmit(struct cw_server *server, struct cw_address *to, void *out,
                         size_t capacity, double now)
{
    const uint32_t count = server->config.max_clients;
    for (;;) {
        uint32_t number = cw_bit_next(server->due, server->due_cursor, count);
        if (number == CW_HASH_INDEX_NONE)
            number = cw_bit_next(server->due, server->due_cursor = 0, count);
        if (number == CW_HASH_INDEX_NONE)
            return 0;
        server->due_cursor = number;
        struct cw_slot *slot = &server->slots[number];
        const size_t size = write_next(server, slot, out, capacity, now);
        if (size > 0) {
            *to = slot->address;
            slot->last_sent = now;
            return size;
        }
        cw_bit_clear(server->due, number);
        cw_slots_release(server, slot);
    }
}

void cw_slots_update(struct cw_server *server, double now)
{
    const uint32_t count = server->config.max_clients;
    for (uint32_t number = cw_bit_next(server->used, 0, count); number != CW_HASH_INDEX_NONE;
         number = cw_bit_next(server->used, number + 1, count)) {
        struct cw_slot *slot = &server->slots[number];
        if (slot->state != CW_SLOT_CONNECTED)
            continue;
        if (slot->timeout_seconds > 0 && now - slot->last_received >= slot->timeout_seconds) {
            cw_slots_close(server, slot, CW_DISCONNECT_TIMED_OUT);
            continue;
        }
        if (now - slot->last_sent >= server->config.keep_alive_seconds) {
            slot->keep_alive_due = true;
            cw_bit_set(server->due, number);
        }
        if (server->connections) {
            cw_connection_update(server->connections[number], now);
            slot->round_open = true;
            cw_bit_set(server->due, number);
            cw_bit_set(server->readable, number);
        }
    }
}
