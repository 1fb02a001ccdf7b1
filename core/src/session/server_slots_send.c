#include "session/server_slots.h"

#include "base/bit_set.h"

#include <string.h>

/* Returns whether the application can send to a client. */
static bool takes_messages(const struct cw_slots *slots, uint32_t client)
{
    const struct cw_slot *slot = cw_slots_connected(slots, client);
    return slot && !slot->flushing;
}

enum cw_error cw_slots_send(struct cw_slots *slots, uint32_t client, const uint8_t *payload,
                            size_t size)
{
    if (slots->connections)
        return CW_ERROR_CARRIES_MESSAGES;
    if (!takes_messages(slots, client))
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

enum cw_error cw_slots_create_message(struct cw_slots *slots, uint32_t type,
                                      struct cw_message **message)
{
    return slots->connections ? cw_message_create(slots->broadcasts.pool, type, message)
                              : CW_ERROR_CARRIES_PAYLOADS;
}

static enum cw_error begin_broadcast(struct cw_slots *slots, uint32_t channel,
                                     struct cw_message *message, struct cw_broadcast *broadcast)
{
    if (!message)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!slots->connections)
        return CW_ERROR_CARRIES_PAYLOADS;
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
