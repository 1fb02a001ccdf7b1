#include "netcode/server_slots.h"

#include "base/bit_set.h"

#include <string.h>

/* Writes a packet to the slot's client under the next number. */
static size_t write_packet(struct cw_slots *slots, struct cw_slot *slot,
                           struct cw_secure_packet packet, uint8_t *out, size_t capacity)
{
    const struct cw_secure_key key = {slots->config->protocol_id, CW_TO_CLIENT,
                                      slot->identity.server_to_client_key};
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

/* Returns whether a keep-alive must come first: until a packet of the client has arrived, it may
   not know that it is connected. */
static bool must_announce(const struct cw_slot *slot)
{
    return slot->moved || (!slot->confirmed && !slot->introduced);
}

static size_t write_announcement(struct cw_slots *slots, struct cw_slot *slot, uint8_t *out,
                                 size_t capacity)
{
    slot->introduced = slot->introduced || !slot->moved;
    return write_keep_alive(slots, slot, out, capacity);
}

static size_t write_payload(struct cw_slots *slots, struct cw_slot *slot, const uint8_t *body,
                            size_t size, uint8_t *out, size_t capacity)
{
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

/* Writes the next packet of a slot and returns its size, or 0 when it has none. */
static size_t write_next(struct cw_slots *slots, struct cw_slot *slot, uint8_t *out,
                         size_t capacity)
{
    if (slot->state == CW_SLOT_CLOSED) {
        if (slot->disconnects_left == 0)
            return 0;
        /* A client that does not know of its connection yet takes no news of its end. */
        return slot->keep_alive_due && !slot->confirmed
                   ? write_keep_alive(slots, slot, out, capacity)
                   : write_disconnect(slots, slot, out, capacity);
    }
    const bool waits =
        slots->outgoing_size > 0 && slots->outgoing_client == cw_slots_number(slots, slot);
    if (slot->moved || (waits && must_announce(slot)))
        return write_announcement(slots, slot, out, capacity);
    if (waits) {
        const size_t size = slots->outgoing_size;
        slots->outgoing_size = 0;
        return write_payload(slots, slot, slots->outgoing, size, out, capacity);
    }
    return slot->keep_alive_due ? write_keep_alive(slots, slot, out, capacity) : 0;
}

/* Notes that the datagram in out, if there is one, goes to the slot's client. */
static size_t sent(struct cw_slot *slot, size_t size, double now, struct cw_address *to)
{
    if (size > 0) {
        *to = slot->identity.address;
        slot->last_sent = now;
    }
    return size;
}

size_t cw_slots_announce(struct cw_slots *slots, struct cw_slot *slot, uint8_t out[CW_SECURE_MAX],
                         double now, struct cw_address *to)
{
    return must_announce(slot)
               ? sent(slot, write_announcement(slots, slot, out, CW_SECURE_MAX), now, to)
               : 0;
}

size_t cw_slots_seal(struct cw_slots *slots, struct cw_slot *slot, uint8_t out[CW_SECURE_MAX],
                     size_t size, double now, struct cw_address *to)
{
    const uint8_t *body = out + cw_secure_body_offset(slot->sequence);
    return sent(slot, write_payload(slots, slot, body, size, out, CW_SECURE_MAX), now, to);
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
        const size_t size = sent(slot, write_next(slots, slot, out, capacity), now, to);
        if (size > 0)
            return size;
        cw_bit_clear(slots->due, number);
        cw_slots_release(slots, slot);
    }
}

enum cw_error cw_slots_send(struct cw_slots *slots, uint32_t client, const uint8_t *payload,
                            size_t size)
{
    if (!cw_slots_connected(slots, client))
        return CW_ERROR_NOT_CONNECTED;
    if (size > CW_PAYLOAD_MAX)
        return CW_ERROR_PACKET_TOO_LARGE;
    if (size == 0)
        return CW_ERROR_INVALID_ARGUMENT;
    if (slots->outgoing_size > 0)
        return CW_ERROR_TRANSMIT_PENDING;
    memcpy(slots->outgoing, payload, size);
    slots->outgoing_size = size;
    slots->outgoing_client = client;
    cw_bit_set(slots->due, client);
    return CW_OK;
}
