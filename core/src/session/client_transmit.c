#include "session/client_internal.h"

#include <string.h>

/* Writes a packet under the next number. */
static size_t write_packet(struct cw_client *client, struct cw_secure_packet packet, uint8_t *out,
                           size_t capacity)
{
    const struct cw_secure_key key = {client->token.protocol_id, CW_TO_SERVER,
                                      client->token.client_to_server_key};
    packet.sequence = client->sequence++;
    return cw_secure_write(&packet, &key, out, capacity);
}

/* The connection's next datagram, written where its packet has its body. */
static size_t write_datagram(struct cw_client *client, uint8_t *out, size_t capacity, double now)
{
    uint8_t *body = out + cw_secure_body_offset(client->sequence);
    const size_t size = cw_connection_transmit(client->connection, body, CW_PAYLOAD_MAX, now);
    if (size == 0)
        return 0;
    client->send_due = false;
    return write_packet(
        client, (struct cw_secure_packet){.type = CW_SECURE_PAYLOAD, .body = body, .size = size},
        out, capacity);
}

/* A payload that the server would not take from the new address anyway is lost, as in any gap: a
   relay carries little until the server has answered, and should carry the request. */
static void lose_outgoing(struct cw_client *client, uint8_t *out, double now)
{
    client->outgoing_size = 0;
    client->send_due = false;
    while (client->connection &&
           cw_connection_transmit(client->connection, out, CW_PAYLOAD_MAX, now) > 0)
        ;
}

static size_t write_next(struct cw_client *client, uint8_t *out, size_t capacity, double now)
{
    if (client->disconnects_left > 0) {
        const size_t size = write_packet(
            client, (struct cw_secure_packet){.type = CW_SECURE_DISCONNECT}, out, capacity);
        if (--client->disconnects_left == 0)
            cw_client_forget_keys(client);
        return size;
    }
    if (client->state == CW_CLIENT_CONNECTED) {
        const size_t size =
            cw_client_move_write(&client->move, &client->token, client->index, out, capacity, now);
        if (size > 0)
            return size;
        if (cw_client_move_holds(&client->move))
            lose_outgoing(client, out, now);
    }
    if (client->outgoing_size > 0) {
        const size_t size = client->outgoing_size;
        client->outgoing_size = 0;
        client->send_due = false;
        return write_packet(client,
                            (struct cw_secure_packet){
                                .type = CW_SECURE_PAYLOAD, .body = client->outgoing, .size = size},
                            out, capacity);
    }
    if (client->state == CW_CLIENT_CONNECTED && client->connection) {
        const size_t size = write_datagram(client, out, capacity, now);
        if (size > 0)
            return size;
    }
    if (!client->send_due)
        return 0;
    client->send_due = false;
    uint8_t body[CW_CHALLENGE_BODY_SIZE];
    switch (client->state) {
    case CW_CLIENT_SENDING_REQUEST:
        cw_request_write(&client->token, out);
        return CW_REQUEST_SIZE;
    case CW_CLIENT_SENDING_RESPONSE:
        cw_challenge_put(client->challenge_sequence, client->challenge_token, body);
        return write_packet(client,
                            (struct cw_secure_packet){
                                .type = CW_SECURE_RESPONSE, .body = body, .size = sizeof(body)},
                            out, capacity);
    case CW_CLIENT_CONNECTED:
        cw_keep_alive_put(client->index, client->max_clients, body);
        return write_packet(client,
                            (struct cw_secure_packet){.type = CW_SECURE_KEEP_ALIVE,
                                                      .body = body,
                                                      .size = CW_KEEP_ALIVE_SIZE},
                            out, capacity);
    default:
        return 0;
    }
}

size_t cw_client_transmit(struct cw_client *client, uint8_t *out, size_t capacity, double now,
                          struct cw_address *to)
{
    CW_ONE_THREAD(client);
    if (!cw_client_can_run(client, now) || !out || capacity < CW_SECURE_MAX)
        return 0;
    const size_t size = write_next(client, out, capacity, now);
    if (size == 0)
        return 0;
    if (to)
        *to = *cw_client_server_address(client);
    client->last_sent = now;
    client->stats.datagrams_sent++;
    client->stats.bytes_sent += size;
    return size;
}

enum cw_error cw_client_send(struct cw_client *client, const uint8_t *payload, size_t size)
{
    CW_ONE_THREAD(client);
    if (!client || (!payload && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    if (client->connection)
        return CW_ERROR_CARRIES_MESSAGES;
    if (client->state != CW_CLIENT_CONNECTED)
        return CW_ERROR_NOT_CONNECTED;
    if (size > CW_PAYLOAD_MAX)
        return CW_ERROR_PACKET_TOO_LARGE;
    if (size == 0)
        return CW_ERROR_INVALID_ARGUMENT;
    if (client->outgoing_size > 0)
        return CW_ERROR_TRANSMIT_PENDING;
    memcpy(client->outgoing, payload, size);
    client->outgoing_size = size;
    return CW_OK;
}
