#include "message/message_pool.h"
#include "session/server_internal.h"

#include <math.h>
#include <string.h>

enum cw_error cw_server_create_message(struct cw_server *server, uint32_t type,
                                       struct cw_message **message)
{
    CW_ONE_THREAD(server);
    return server ? cw_message_create(server->broadcasts.pool, type, message)
                  : CW_ERROR_INVALID_ARGUMENT;
}

static enum cw_error begin(struct cw_server *server, uint32_t channel, struct cw_message *message,
                           double now, struct cw_broadcast *broadcast)
{
    if (!server || !message || !isfinite(now))
        return CW_ERROR_INVALID_ARGUMENT;
    const enum cw_error error = cw_broadcast_begin(
        &server->broadcasts, server->sessions[0].connection, channel, message, broadcast);
    if (error == CW_OK)
        memset(server->refused, 0, sizeof server->refused);
    return error;
}

static void send_to_one(struct cw_server *server, const struct cw_broadcast *broadcast,
                        uint32_t client, double now)
{
    if (client >= server->max_clients || !cw_bit_get(server->connected, client))
        return;
    const struct cw_session *session = &server->sessions[client];
    if (session->flushing || cw_broadcast_send(broadcast, session->connection, now) == CW_OK)
        return;
    cw_bit_set(server->refused, client);
    server->broadcasts_refused++;
}

enum cw_error cw_server_broadcast(struct cw_server *server, uint32_t channel,
                                  struct cw_message *message, uint32_t except, double now)
{
    CW_ONE_THREAD(server);
    struct cw_broadcast broadcast;
    const enum cw_error error = begin(server, channel, message, now, &broadcast);
    if (error != CW_OK)
        return error;
    const uint32_t count = server->max_clients;
    for (uint32_t client = cw_bit_next(server->connected, 0, count); client != CW_BIT_NONE;
         client = cw_bit_next(server->connected, client + 1, count))
        if (client != except)
            send_to_one(server, &broadcast, client, now);
    return cw_message_release(message);
}

enum cw_error cw_server_broadcast_to(struct cw_server *server, uint32_t channel,
                                     struct cw_message *message, const uint32_t *clients,
                                     uint32_t count, double now)
{
    CW_ONE_THREAD(server);
    if (!clients && count > 0)
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_broadcast broadcast;
    const enum cw_error error = begin(server, channel, message, now, &broadcast);
    if (error != CW_OK)
        return error;
    for (uint32_t i = 0; i < count; i++)
        send_to_one(server, &broadcast, clients[i], now);
    return cw_message_release(message);
}

bool cw_server_broadcast_refused(const struct cw_server *server, uint32_t client)
{
    return server && client < server->max_clients && cw_bit_get(server->refused, client);
}

uint64_t cw_server_broadcasts_refused(const struct cw_server *server)
{
    return server ? server->broadcasts_refused : 0;
}
