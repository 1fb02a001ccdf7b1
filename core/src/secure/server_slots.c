#include "secure/server_slots.h"

#include "base/bit_set.h"
#include "secure/payload.h"

#include <assert.h>
#include <string.h>

enum cw_error cw_slots_layout(struct cw_slots *slots, struct cw_arena *arena,
                              const struct cw_connection_config *connection)
{
    const uint32_t count = slots->config->max_clients;
    slots->slots = cw_arena_take(arena, count * sizeof(*slots->slots));
    cw_hash_index_layout(&slots->by_address, arena, count);
    cw_hash_index_layout(&slots->by_id, arena, count);
    cw_hash_index_layout(&slots->by_token, arena, count);
    if (!connection)
        return CW_OK;
    slots->connections = cw_arena_take(arena, count * sizeof(*slots->connections));
    struct cw_connection_config config = *connection;
    config.allocator = cw_arena_allocator(arena);
    for (uint32_t i = 0; i < count; i++) {
        if (!arena->base) {
            cw_arena_take(arena, cw_connection_memory(&config));
            continue;
        }
        const enum cw_error error = cw_connection_create(&config, &slots->connections[i]);
        if (error)
            return error;
        cw_connection_set_open(slots->connections[i], false);
        cw_broadcasts_join(&slots->broadcasts, slots->connections[i]);
    }
    return cw_broadcasts_layout(&slots->broadcasts, arena, connection->schema,
                                slots->config->max_broadcasts);
}

void cw_slots_destroy(struct cw_slots *slots)
{
    for (uint32_t i = 0; slots->connections && i < slots->config->max_clients; i++)
        cw_connection_destroy(slots->connections[i]);
    cw_message_pool_destroy(slots->broadcasts.pool);
}

void cw_slots_start(struct cw_slots *slots)
{
    cw_random_fill(&slots->config->random, (uint8_t *)&slots->hash_seed, sizeof(slots->hash_seed));
}

uint32_t cw_slots_number(const struct cw_slots *slots, const struct cw_slot *slot)
{
    return (uint32_t)(slot - slots->slots);
}

struct cw_slot *cw_slots_by_address(const struct cw_slots *slots, const struct cw_address *address)
{
    const uint64_t hash = cw_hash_index_hash_address(slots->hash_seed, address);
    uint32_t number, probe = 0;
    while ((number = cw_hash_index_find(&slots->by_address, hash, &probe)) != CW_HASH_INDEX_NONE)
        if (cw_address_equal(&slots->slots[number].peer.address, address))
            return &slots->slots[number];
    return NULL;
}

struct cw_slot *cw_slots_by_id(const struct cw_slots *slots, uint64_t id)
{
    const uint64_t hash = cw_hash_index_hash(slots->hash_seed, id);
    uint32_t number, probe = 0;
    while ((number = cw_hash_index_find(&slots->by_id, hash, &probe)) != CW_HASH_INDEX_NONE)
        if (slots->slots[number].peer.id == id)
            return &slots->slots[number];
    return NULL;
}

/* MACs are as good as random. */
static uint64_t hash_of_token(const uint8_t mac[CW_MAC_BYTES])
{
    uint64_t hash;
    memcpy(&hash, mac, sizeof(hash));
    return hash;
}

struct cw_slot *cw_slots_by_token(const struct cw_slots *slots, const uint8_t mac[CW_MAC_BYTES])
{
    uint32_t number, probe = 0;
    while ((number = cw_hash_index_find(&slots->by_token, hash_of_token(mac), &probe)) !=
           CW_HASH_INDEX_NONE)
        if (memcmp(slots->slots[number].peer.mac, mac, CW_MAC_BYTES) == 0)
            return &slots->slots[number];
    return NULL;
}

static uint32_t find_vacant(const struct cw_slots *slots)
{
    for (uint32_t word = 0; word * 64 < slots->config->max_clients; word++) {
        const uint64_t vacant = ~slots->used[word];
        if (vacant == 0)
            continue;
        const uint32_t number = word * 64 + cw_lowest_bit(vacant);
        return number < slots->config->max_clients ? number : CW_BIT_NONE;
    }
    return CW_BIT_NONE;
}

bool cw_slots_full(const struct cw_slots *slots)
{
    return find_vacant(slots) == CW_BIT_NONE;
}

const struct cw_slot *cw_slots_get(const struct cw_slots *slots, uint32_t client)
{
    return client < slots->config->max_clients &&
                   (slots->slots[client].state == CW_SLOT_CONNECTED ||
                    slots->slots[client].state == CW_SLOT_CLOSED)
               ? &slots->slots[client]
               : NULL;
}

static void occupy(struct cw_slots *slots, uint32_t number, const struct cw_peer *peer, double now)
{
    slots->slots[number] = (struct cw_slot){
        .state = CW_SLOT_CONNECTED,
        .peer = *peer,
        .last_received = now,
        .last_sent = now,
        .keep_alive_due = true,
    };
    cw_hash_index_add(&slots->by_address,
                      cw_hash_index_hash_address(slots->hash_seed, &peer->address), number);
    cw_hash_index_add(&slots->by_id, cw_hash_index_hash(slots->hash_seed, peer->id), number);
    cw_hash_index_add(&slots->by_token, hash_of_token(peer->mac), number);
    cw_bit_set(slots->used, number);
    cw_bit_set(slots->due, number);
    if (slots->connections)
        cw_connection_set_open(slots->connections[number], true);
    slots->clients++;
    slots->connections_made++;
    cw_server_events_put(slots->events, &(struct cw_server_event){.type = CW_SERVER_EVENT_CONNECTED,
                                                                  .client = number});
}

void cw_slots_connect(struct cw_slots *slots, const struct cw_peer *peer, double now)
{
    const uint32_t number = find_vacant(slots);
    assert(number != CW_BIT_NONE);
    occupy(slots, number, peer, now);
}

bool cw_slots_connect_kept(struct cw_slots *slots, uint32_t client, const struct cw_peer *peer,
                           double now)
{
    if (slots->slots[client].state != CW_SLOT_KEPT)
        return false;
    occupy(slots, client, peer, now);
    return true;
}

void cw_slots_unkeep(struct cw_slots *slots, uint32_t client)
{
    struct cw_slot *slot = &slots->slots[client];
    slot->kept = false;
    if (slot->state != CW_SLOT_KEPT)
        return;
    slot->state = CW_SLOT_FREE;
    cw_bit_clear(slots->used, client);
}

static void close_slot(struct cw_slots *slots, struct cw_slot *slot,
                       const struct cw_farewell *farewell)
{
    const uint32_t number = cw_slots_number(slots, slot);
    cw_hash_index_remove(&slots->by_address,
                         cw_hash_index_hash_address(slots->hash_seed, &slot->peer.address), number);
    cw_hash_index_remove(&slots->by_id, cw_hash_index_hash(slots->hash_seed, slot->peer.id),
                         number);
    cw_hash_index_remove(&slots->by_token, hash_of_token(slot->peer.mac), number);
    slot->state = CW_SLOT_CLOSED;
    slot->farewell = *farewell;
    if (slots->connections)
        cw_connection_set_open(slots->connections[number], false);
    if (farewell->reason != CW_DISCONNECT_BY_CLIENT)
        slot->disconnects_left = 2 * slots->config->disconnect_packets;
    cw_bit_set(slots->due, number);
    if (slots->outgoing_size > 0 && slots->outgoing_client == number)
        slots->outgoing_size = 0;
    slots->clients--;
    cw_server_events_put(slots->events,
                         &(struct cw_server_event){.type = CW_SERVER_EVENT_DISCONNECTED,
                                                   .client = number,
                                                   .reason = farewell->reason});
}

/* Frees a closed slot when its client has been told and the application knows. */
static void release(struct cw_slots *slots, struct cw_slot *slot)
{
    if (slot->state != CW_SLOT_CLOSED || !slot->farewell_taken || slot->disconnects_left > 0)
        return;
    const uint32_t number = cw_slots_number(slots, slot);
    const bool kept = slot->kept;
    if (!kept)
        cw_bit_clear(slots->used, number);
    cw_bit_clear(slots->due, number);
    if (slots->connections)
        cw_connection_reset(slots->connections[number]);
    cw_crypto_wipe(slot, sizeof(*slot));
    slot->state = kept ? CW_SLOT_KEPT : CW_SLOT_FREE;
}

void cw_slots_replace(struct cw_slots *slots, struct cw_slot *slot)
{
    const struct cw_farewell farewell = cw_farewell_make(CW_DISCONNECT_REPLACED, 0, NULL);
    close_slot(slots, slot, &farewell);
    slot->kept = true;
}

void cw_slots_move(struct cw_slots *slots, struct cw_slot *slot, const struct cw_address *address,
                   uint64_t challenge, double now)
{
    const uint32_t number = cw_slots_number(slots, slot);
    slot->moved = true;
    cw_bit_set(slots->due, number);
    if (challenge == slot->challenge)
        return;
    slot->challenge = challenge;
    slot->last_received = now;
    if (cw_address_equal(address, &slot->peer.address))
        return;
    cw_hash_index_remove(&slots->by_address,
                         cw_hash_index_hash_address(slots->hash_seed, &slot->peer.address), number);
    slot->peer.address = *address;
    cw_hash_index_add(&slots->by_address, cw_hash_index_hash_address(slots->hash_seed, address),
                      number);
    slots->moves++;
}

struct cw_slot *cw_slots_connected(const struct cw_slots *slots, uint32_t client)
{
    return client < slots->config->max_clients && slots->slots[client].state == CW_SLOT_CONNECTED
               ? &slots->slots[client]
               : NULL;
}

void cw_slots_disconnect(struct cw_slots *slots, uint32_t client,
                         const struct cw_farewell *farewell)
{
    struct cw_slot *slot = cw_slots_connected(slots, client);
    if (slot)
        close_slot(slots, slot, farewell);
}

/* Whether all that was sent to a client is done. */
static bool is_flushed(const struct cw_slots *slots, uint32_t client)
{
    return slots->connections ? cw_connection_is_idle(slots->connections[client])
                              : slots->outgoing_size == 0 || slots->outgoing_client != client;
}

static void end_flush(struct cw_slots *slots, uint32_t client, double now)
{
    struct cw_slot *slot = &slots->slots[client];
    if (now >= slot->flush_deadline || is_flushed(slots, client))
        close_slot(slots, slot, &slot->farewell);
}

void cw_slots_flush(struct cw_slots *slots, uint32_t client, const struct cw_farewell *farewell,
                    double deadline, double now)
{
    struct cw_slot *slot = cw_slots_connected(slots, client);
    if (!slot)
        return;
    slot->flushing = true;
    slot->flush_deadline = deadline;
    slot->farewell = *farewell;
    if (slots->connections)
        cw_connection_set_open(slots->connections[client], false);
    end_flush(slots, client, now);
}

/* Whether the application can send to a client. */
static bool takes_messages(const struct cw_slots *slots, uint32_t client)
{
    const struct cw_slot *slot = cw_slots_connected(slots, client);
    return slot && !slot->flushing;
}

static enum cw_error take_payload(struct cw_slots *slots, struct cw_slot *slot, size_t size,
                                  double now)
{
    const uint32_t number = cw_slots_number(slots, slot);
    if (slots->connections) {
        cw_bit_set(slots->readable, number);
        return cw_connection_receive(slots->connections[number], slots->body, size, now);
    }
    cw_server_events_put(slots->events, &(struct cw_server_event){.type = CW_SERVER_EVENT_PAYLOAD,
                                                                  .client = number,
                                                                  .payload = slots->body,
                                                                  .size = size});
    return CW_OK;
}

enum cw_error cw_slots_receive(struct cw_slots *slots, struct cw_slot *slot, const uint8_t *data,
                               size_t size, double now)
{
    struct cw_secure_packet packet;
    const enum cw_error error =
        cw_secure_read(data, size,
                       &(struct cw_secure_key){.protocol_id = slots->config->protocol_id,
                                               .direction = CW_TO_SERVER,
                                               .bytes = slot->peer.client_to_server_key},
                       &slot->replay, slots->body, &packet);
    if (error)
        return error;
    switch (packet.type) {
    case CW_SECURE_KEEP_ALIVE:
    case CW_SECURE_PAYLOAD:
        slot->confirmed = true;
        slot->last_received = now;
        return packet.type == CW_SECURE_PAYLOAD ? take_payload(slots, slot, packet.size, now)
                                                : CW_OK;
    case CW_SECURE_DISCONNECT:
        close_slot(slots, slot, &(struct cw_farewell){.reason = CW_DISCONNECT_BY_CLIENT});
        return CW_OK;
    default:
        return CW_ERROR_UNEXPECTED;
    }
}

enum cw_error cw_slots_send(struct cw_slots *slots, uint32_t client, const uint8_t *payload,
                            size_t size)
{
    if (!takes_messages(slots, client))
        return CW_ERROR_NOT_CONNECTED;
    if (size > CW_PAYLOAD_MAX)
        return CW_ERROR_PACKET_TOO_LARGE;
    if (size == 0 || slots->connections)
        return CW_ERROR_INVALID_ARGUMENT;
    if (slots->outgoing_size > 0)
        return CW_ERROR_TRANSMIT_PENDING;
    memcpy(slots->outgoing, payload, size);
    slots->outgoing_size = size;
    slots->outgoing_client = client;
    cw_bit_set(slots->due, client);
    return CW_OK;
}

enum cw_error cw_slots_create_message(struct cw_slots *slots, uint32_t type,
                                      struct cw_message **message)
{
    return cw_message_create(slots->broadcasts.pool, type, message);
}

static enum cw_error begin_broadcast(struct cw_slots *slots, uint32_t channel,
                                     struct cw_message *message, struct cw_broadcast *broadcast)
{
    if (!slots->connections)
        return CW_ERROR_INVALID_ARGUMENT;
    const enum cw_error error =
        cw_broadcast_begin(&slots->broadcasts, slots->connections[0], channel, message, broadcast);
    if (error == CW_OK)
        memset(slots->refused, 0, sizeof slots->refused);
    return error;
}

static void broadcast_to_one(struct cw_slots *slots, const struct cw_broadcast *broadcast,
                             uint32_t client, double now)
{
    if (!takes_messages(slots, client) ||
        cw_broadcast_send(broadcast, slots->connections[client], now) == CW_OK)
        return;
    cw_bit_set(slots->refused, client);
    slots->broadcasts_refused++;
}

enum cw_error cw_slots_broadcast(struct cw_slots *slots, uint32_t channel,
                                 struct cw_message *message, uint32_t except, double now)
{
    const uint32_t count = slots->config->max_clients;
    struct cw_broadcast broadcast;
    const enum cw_error error = begin_broadcast(slots, channel, message, &broadcast);
    if (error != CW_OK)
        return error;
    for (uint32_t client = cw_bit_next(slots->used, 0, count); client != CW_BIT_NONE;
         client = cw_bit_next(slots->used, client + 1, count))
        if (client != except)
            broadcast_to_one(slots, &broadcast, client, now);
    return cw_message_release(message);
}

enum cw_error cw_slots_broadcast_to(struct cw_slots *slots, uint32_t channel,
                                    struct cw_message *message, const uint32_t *clients,
                                    uint32_t count, double now)
{
    struct cw_broadcast broadcast;
    const enum cw_error error = begin_broadcast(slots, channel, message, &broadcast);
    if (error != CW_OK)
        return error;
    for (uint32_t i = 0; i < count; i++)
        broadcast_to_one(slots, &broadcast, clients[i], now);
    return cw_message_release(message);
}

/* Writes a packet to the slot's client under the next number. */
static size_t write_packet(struct cw_slots *slots, struct cw_slot *slot,
                           struct cw_secure_packet packet, uint8_t *out, size_t capacity)
{
    const struct cw_secure_key key = {slots->config->protocol_id, CW_TO_CLIENT,
                                      slot->peer.server_to_client_key};
    packet.sequence = slot->sequence++;
    return cw_secure_write(&packet, &key, out, capacity);
}

static size_t write_keep_alive(struct cw_slots *slots, struct cw_slot *slot, uint8_t *out,
                               size_t capacity)
{
    uint8_t body[CW_KEEP_ALIVE_SIZE];
    if (slot->moved)
        cw_keep_alive_put(CW_KEEP_ALIVE_MOVED, (uint32_t)slot->challenge, body);
    else
        cw_keep_alive_put(cw_slots_number(slots, slot), slots->config->max_clients, body);
    slot->moved = false;
    slot->keep_alive_due = false;
    return write_packet(
        slots, slot,
        (struct cw_secure_packet){.type = CW_SECURE_KEEP_ALIVE, .body = body, .size = sizeof(body)},
        out, capacity);
}

/* The next payload packet of a slot, with a keep-alive before it while the client may not know that
   it is connected; 0 when there is none. */
static size_t write_payload(struct cw_slots *slots, struct cw_slot *slot, uint8_t *out,
                            size_t capacity, double now)
{
    const uint32_t number = cw_slots_number(slots, slot);
    const bool waits = slots->outgoing_size > 0 && slots->outgoing_client == number;
    if (!waits && !slot->round_open)
        return 0;
    if (!slot->confirmed && !slot->introduced) {
        slot->introduced = true;
        return write_keep_alive(slots, slot, out, capacity);
    }
    const uint8_t *body = slots->outgoing;
    size_t size = slots->outgoing_size;
    if (waits) {
        slots->outgoing_size = 0;
    } else {
        uint8_t *place = out + cw_secure_body_offset(slot->sequence);
        size = cw_connection_transmit(slots->connections[number], place, CW_PAYLOAD_MAX, now);
        body = place;
    }
    if (size == 0) {
        slot->round_open = false;
        return 0;
    }
    slot->introduced = false;
    slot->keep_alive_due = false;
    return write_packet(
        slots, slot,
        (struct cw_secure_packet){.type = CW_SECURE_PAYLOAD, .body = body, .size = size}, out,
        capacity);
}

/* Tells a client that it is disconnected: first the packets that say why, then those that clients
   of other makers understand. */
static size_t write_disconnect(struct cw_slots *slots, struct cw_slot *slot, uint8_t *out,
                               size_t capacity)
{
    struct cw_secure_packet packet = {.type = CW_SECURE_DISCONNECT};
    uint8_t body[CW_FAREWELL_SIZE_MAX];
    if (slot->disconnects_left-- > slots->config->disconnect_packets) {
        packet.body = body;
        packet.size = cw_farewell_put(&slot->farewell, body);
    }
    return write_packet(slots, slot, packet, out, capacity);
}

/* The next packet of a slot; 0 when it has none. */
static size_t write_next(struct cw_slots *slots, struct cw_slot *slot, uint8_t *out,
                         size_t capacity, double now)
{
    if (slot->state == CW_SLOT_CLOSED)
        return slot->disconnects_left > 0 ? write_disconnect(slots, slot, out, capacity) : 0;
    if (slot->moved)
        return write_keep_alive(slots, slot, out, capacity);
    const size_t size = write_payload(slots, slot, out, capacity, now);
    if (size > 0)
        return size;
    return slot->keep_alive_due ? write_keep_alive(slots, slot, out, capacity) : 0;
}

size_t cw_slots_transmit(struct cw_slots *slots, uint8_t *out, size_t capacity, double now,
                         struct cw_address *to)
{
    const uint32_t count = slots->config->max_clients;
    for (;;) {
        uint32_t number = cw_bit_next(slots->due, slots->due_cursor, count);
        if (number == CW_BIT_NONE)
            number = cw_bit_next(slots->due, slots->due_cursor = 0, count);
        if (number == CW_BIT_NONE)
            return 0;
        slots->due_cursor = number;
        struct cw_slot *slot = &slots->slots[number];
        const size_t size = write_next(slots, slot, out, capacity, now);
        if (size > 0) {
            *to = slot->peer.address;
            slot->last_sent = now;
            return size;
        }
        cw_bit_clear(slots->due, number);
        release(slots, slot);
    }
}

void cw_slots_update(struct cw_slots *slots, double now)
{
    const uint32_t count = slots->config->max_clients;
    for (uint32_t number = cw_bit_next(slots->used, 0, count); number != CW_BIT_NONE;
         number = cw_bit_next(slots->used, number + 1, count)) {
        struct cw_slot *slot = &slots->slots[number];
        if (slot->state != CW_SLOT_CONNECTED)
            continue;
        if (slot->peer.timeout_seconds > 0 &&
            now - slot->last_received >= slot->peer.timeout_seconds) {
            close_slot(slots, slot, &(struct cw_farewell){.reason = CW_DISCONNECT_TIMED_OUT});
            continue;
        }
        if (slot->flushing) {
            end_flush(slots, number, now);
            if (slot->state != CW_SLOT_CONNECTED)
                continue;
        }
        if (now - slot->last_sent >= slots->config->keep_alive_seconds) {
            slot->keep_alive_due = true;
            cw_bit_set(slots->due, number);
        }
        if (slots->connections) {
            cw_connection_update(slots->connections[number], now);
            slot->round_open = true;
            cw_bit_set(slots->due, number);
            cw_bit_set(slots->readable, number);
        }
    }
}

/* The next event of one client's connection. */
static bool next_of_one(struct cw_slots *slots, uint32_t client, struct cw_server_event *event)
{
    struct cw_connection_event of_connection;
    if (!slots->connections || !cw_connection_next(slots->connections[client], &of_connection))
        return false;
    *event = (struct cw_server_event){
        .type = (enum cw_server_event_type)of_connection.type,
        .client = client,
        .message = of_connection.message,
        .channel = of_connection.channel,
        .receipt = of_connection.receipt,
    };
    return true;
}

static bool next_of_all(struct cw_slots *slots, struct cw_server_event *event)
{
    uint32_t client;
    while ((client = cw_bit_next(slots->readable, 0, slots->config->max_clients)) != CW_BIT_NONE) {
        if (next_of_one(slots, client, event))
            return true;
        cw_bit_clear(slots->readable, client);
    }
    return false;
}

bool cw_slots_next(struct cw_slots *slots, struct cw_server_event *event)
{
    const struct cw_server_event *first = cw_server_events_first(slots->events);
    if (!first)
        return next_of_all(slots, event);
    if (first->type == CW_SERVER_EVENT_DISCONNECTED && next_of_one(slots, first->client, event))
        return true;
    *event = *first;
    cw_server_events_drop(slots->events);
    if (event->type == CW_SERVER_EVENT_DISCONNECTED) {
        struct cw_slot *slot = &slots->slots[event->client];
        slot->farewell_taken = true;
        release(slots, slot);
    }
    return true;
}
