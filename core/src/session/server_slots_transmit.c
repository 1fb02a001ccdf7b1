#include "session/server_slots.h"

#include "base/bit_set.h"

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
    if (slot->state == CW_SLOT_CLOSED) {
        if (slot->disconnects_left == 0)
            return 0;
        /* A client that does not know of its connection yet takes no news of its end. */
        return slot->keep_alive_due && !slot->confirmed
                   ? write_keep_alive(slots, slot, out, capacity)
                   : write_disconnect(slots, slot, out, capacity);
    }
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
        cw_slots_release(slots, slot);
    }
}
