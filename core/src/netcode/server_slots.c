#include "netcode/server_slots.h"

#include "base/bit_set.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define ALLOWANCE_BURST 0.25 /* seconds of it that may come at once */

void cw_slots_layout(struct cw_slots *slots, struct cw_arena *arena)
{
    const uint32_t count = slots->config->max_clients;
    slots->slots = cw_arena_take(arena, count * sizeof(*slots->slots));
    cw_hash_index_layout(&slots->by_address, arena, count);
    cw_hash_index_layout(&slots->by_id, arena, count);
    cw_hash_index_layout(&slots->by_token, arena, count);
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
        if (cw_address_equal(&slots->slots[number].identity.address, address))
            return &slots->slots[number];
    return NULL;
}

struct cw_slot *cw_slots_by_id(const struct cw_slots *slots, uint64_t id)
{
    const uint64_t hash = cw_hash_index_hash(slots->hash_seed, id);
    uint32_t number, probe = 0;
    while ((number = cw_hash_index_find(&slots->by_id, hash, &probe)) != CW_HASH_INDEX_NONE)
        if (slots->slots[number].identity.id == id)
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
        if (memcmp(slots->slots[number].identity.mac, mac, CW_MAC_BYTES) == 0)
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

void cw_slots_set_user(struct cw_slots *slots, uint32_t client, void *user)
{
    const struct cw_slot *slot = cw_slots_get(slots, client);
    if (slot && !slot->farewell_taken)
        slots->slots[client].user = user;
}

/* The server above looks at the slots whose state has changed. */
static void mark_changed(struct cw_slots *slots, uint32_t number)
{
    cw_bit_set(slots->changed, number);
    slots->any_changed = true;
}

static void occupy(struct cw_slots *slots, uint32_t number,
                   const struct cw_client_identity *identity, double now)
{
    slots->slots[number] = (struct cw_slot){
        .state = CW_SLOT_CONNECTED,
        .identity = *identity,
        .allowance = INFINITY,
        .allowance_time = now,
        .last_received = now,
        .last_sent = now,
        .keep_alive_due = true,
    };
    cw_hash_index_add(&slots->by_address,
                      cw_hash_index_hash_address(slots->hash_seed, &identity->address), number);
    cw_hash_index_add(&slots->by_id, cw_hash_index_hash(slots->hash_seed, identity->id), number);
    cw_hash_index_add(&slots->by_token, hash_of_token(identity->mac), number);
    cw_bit_set(slots->used, number);
    cw_bit_set(slots->due, number);
    mark_changed(slots, number);
    slots->clients++;
    slots->connections_made++;
    cw_server_events_put(
        slots->events, &(struct cw_netcode_server_event){.type = CW_NETCODE_SERVER_EVENT_CONNECTED,
                                                         .client = number});
    cw_server_log_connected(&slots->config->log, number, identity->id, cw_token_id(identity->mac),
                            &identity->address);
}

void cw_slots_connect(struct cw_slots *slots, const struct cw_client_identity *identity, double now)
{
    const uint32_t number = find_vacant(slots);
    assert(number != CW_BIT_NONE);
    occupy(slots, number, identity, now);
}

bool cw_slots_connect_kept(struct cw_slots *slots, uint32_t client,
                           const struct cw_client_identity *identity, double now)
{
    if (slots->slots[client].state != CW_SLOT_KEPT)
        return false;
    occupy(slots, client, identity, now);
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
                         cw_hash_index_hash_address(slots->hash_seed, &slot->identity.address),
                         number);
    cw_hash_index_remove(&slots->by_id, cw_hash_index_hash(slots->hash_seed, slot->identity.id),
                         number);
    cw_hash_index_remove(&slots->by_token, hash_of_token(slot->identity.mac), number);
    slot->state = CW_SLOT_CLOSED;
    slot->farewell = *farewell;
    if (farewell->reason != CW_DISCONNECT_BY_CLIENT)
        slot->disconnects_left = 2 * slots->config->disconnect_packets;
    cw_bit_set(slots->due, number);
    if (slots->outgoing_size > 0 && slots->outgoing_client == number)
        slots->outgoing_size = 0;
    mark_changed(slots, number);
    slots->clients--;
    cw_server_events_put(slots->events, &(struct cw_netcode_server_event){
                                            .type = CW_NETCODE_SERVER_EVENT_DISCONNECTED,
                                            .client = number,
                                            .reason = farewell->reason});
    cw_server_log_disconnected(&slots->config->log, number, slot->identity.id, farewell);
}

void cw_slots_release(struct cw_slots *slots, struct cw_slot *slot)
{
    if (slot->state != CW_SLOT_CLOSED || !slot->farewell_taken || slot->disconnects_left > 0)
        return;
    const uint32_t number = cw_slots_number(slots, slot);
    const bool kept = slot->kept;
    if (!kept)
        cw_bit_clear(slots->used, number);
    cw_bit_clear(slots->due, number);
    cw_crypto_wipe(slot, sizeof(*slot));
    slot->state = kept ? CW_SLOT_KEPT : CW_SLOT_FREE;
    mark_changed(slots, number);
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
    if (cw_address_equal(address, &slot->identity.address))
        return;
    cw_hash_index_remove(&slots->by_address,
                         cw_hash_index_hash_address(slots->hash_seed, &slot->identity.address),
                         number);
    slot->identity.address = *address;
    cw_hash_index_add(&slots->by_address, cw_hash_index_hash_address(slots->hash_seed, address),
                      number);
    slots->moves++;
    cw_server_log_moved(&slots->config->log, &slot->moves_logged, number, slot->identity.id,
                        address, now);
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

/* Returns whether another datagram of the client may be read. Only datagrams that are certainly its
   own are charged, so that nobody else can use up its allowance. */
static bool has_allowance(const struct cw_slots *slots, struct cw_slot *slot, double now)
{
    const double rate = slots->config->client_datagrams_per_second;
    const double most = rate * ALLOWANCE_BURST < 1 ? 1 : rate * ALLOWANCE_BURST;
    if (now > slot->allowance_time)
        slot->allowance += (now - slot->allowance_time) * rate;
    if (slot->allowance > most)
        slot->allowance = most;
    slot->allowance_time = now;
    return slot->allowance >= 1;
}

static void take_payload(struct cw_slots *slots, const struct cw_slot *slot, size_t size)
{
    cw_server_events_put(slots->events, &(struct cw_netcode_server_event){
                                            .type = CW_NETCODE_SERVER_EVENT_PAYLOAD,
                                            .client = cw_slots_number(slots, slot),
                                            .payload = slots->body,
                                            .size = size,
                                        });
}

enum cw_error cw_slots_receive(struct cw_slots *slots, struct cw_slot *slot, const uint8_t *data,
                               size_t size, double now)
{
    struct cw_secure_packet packet;
    if (!has_allowance(slots, slot, now)) {
        slot->datagrams_refused++;
        return CW_ERROR_TOO_MANY_DATAGRAMS;
    }
    const enum cw_error error =
        cw_secure_read(data, size,
                       &(struct cw_secure_key){.protocol_id = slots->config->protocol_id,
                                               .direction = CW_TO_SERVER,
                                               .bytes = slot->identity.client_to_server_key},
                       &slot->replay, slots->body, &packet);
    slot->allowance -= error == CW_OK || error == CW_ERROR_BODY_SIZE;
    if (error)
        return error;
    switch (packet.type) {
    case CW_SECURE_KEEP_ALIVE:
    case CW_SECURE_PAYLOAD:
        slot->confirmed = true;
        slot->last_received = now;
        if (packet.type == CW_SECURE_PAYLOAD)
            take_payload(slots, slot, packet.size);
        return CW_OK;
    case CW_SECURE_DISCONNECT:
        close_slot(slots, slot, &(struct cw_farewell){.reason = CW_DISCONNECT_BY_CLIENT});
        return CW_OK;
    default:
        return CW_ERROR_UNEXPECTED;
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
        if (slot->identity.timeout_seconds > 0 &&
            now - slot->last_received >= slot->identity.timeout_seconds) {
            close_slot(slots, slot, &(struct cw_farewell){.reason = CW_DISCONNECT_TIMED_OUT});
            continue;
        }
        if (now - slot->last_sent >= slots->config->keep_alive_seconds) {
            slot->keep_alive_due = true;
            cw_bit_set(slots->due, number);
        }
    }
}

bool cw_slots_next(struct cw_slots *slots, struct cw_netcode_server_event *event)
{
    const struct cw_netcode_server_event *first = cw_server_events_first(slots->events);
    if (!first)
        return false;
    *event = *first;
    cw_server_events_drop(slots->events);
    struct cw_slot *slot = &slots->slots[event->client];
    event->user = slot->user;
    if (event->type == CW_NETCODE_SERVER_EVENT_DISCONNECTED) {
        slot->farewell_taken = true;
        slot->user = NULL;
        cw_slots_release(slots, slot);
    }
    return true;
}
