#include "netcode/netcode_client_internal.h"

#include <string.h>

/* Writes a packet under the next number. */
static size_t write_packet(struct cw_netcode_client *client, struct cw_secure_packet packet,
                           uint8_t *out, size_t capacity)
{
    const struct cw_secure_key key = {client->token.protocol_id, CW_TO_SERVER,
                                      client->token.client_to_server_key};
    packet.sequence = client->sequence++;
    return cw_secure_write(&packet, &key, out, capacity);
}

enum cw_outlet cw_netcode_client_outlet(const struct cw_netcode_client *client)
{
    if (client->state != CW_CLIENT_CONNECTED || cw_move_is_due(&client->move))
        return CW_OUTLET_CLOSED;
    return cw_move_holds(&client->move) ? CW_OUTLET_LOST : CW_OUTLET_OPEN;
}

uint8_t *cw_netcode_client_body(const struct cw_netcode_client *client, uint8_t *out)
{
    return out + cw_secure_body_offset(client->sequence);
}

static size_t write_payload(struct cw_netcode_client *client, const uint8_t *body, size_t size,
                            uint8_t *out, size_t capacity)
{
    client->send_due = false;
    return write_packet(
        client, (struct cw_secure_packet){.type = CW_SECURE_PAYLOAD, .body = body, .size = size},
        out, capacity);
}

static size_t write_next(struct cw_netcode_client *client, uint8_t *out, size_t capacity,
                         double now)
{
    if (client->disconnects_left > 0) {
        const size_t size = write_packet(
            client, (struct cw_secure_packet){.type = CW_SECURE_DISCONNECT}, out, capacity);
        if (--client->disconnects_left == 0)
            cw_netcode_client_forget_keys(client);
        return size;
    }
    if (client->state == CW_CLIENT_CONNECTED && cw_move_is_due(&client->move))
        return cw_move_write(&client->move, &client->token, client->index, out, capacity, now);
    const size_t payload = client->outgoing_size;
    client->outgoing_size = 0;
    if (cw_netcode_client_outlet(client) == CW_OUTLET_LOST)
        client->send_due = false;
    else if (payload > 0)
        return write_payload(client, client->outgoing, payload, out, capacity);
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

/* Notes that the datagram in out goes to the server. */
static size_t sent(struct cw_netcode_client *client, size_t size, double now, struct cw_address *to)
{
    if (size == 0)
        return 0;
    if (to)
        *to = *cw_netcode_client_server_address(client);
    client->last_sent = now;
    client->stats.datagrams_sent++;
    client->stats.bytes_sent += size;
    return size;
}

size_t cw_netcode_client_transmit(struct cw_netcode_client *client, uint8_t *out, size_t capacity,
                                  double now, struct cw_address *to)
{
    CW_ONE_THREAD(client);
    if (!cw_netcode_client_can_run(client, now) || !out || capacity < CW_SECURE_MAX)
        return 0;
    return sent(client, write_next(client, out, capacity, now), now, to);
}

size_t cw_netcode_client_seal(struct cw_netcode_client *client, uint8_t *out, size_t capacity,
                              size_t size, double now, struct cw_address *to)
{
    const uint8_t *body = cw_netcode_client_body(client, out);
    return sent(client, write_payload(client, body, size, out, capacity), now, to);
}

enum cw_error cw_netcode_client_send(struct cw_netcode_client *client, const uint8_t *payload,
                                     size_t size)
{
    CW_ONE_THREAD(client);
    if (!client || (!payload && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
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
