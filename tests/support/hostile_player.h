/* A player who has a valid token and makes every packet by hand: secure packets, headers of packets
   and payloads. */
#ifndef CAUSEWAY_TESTS_HOSTILE_PLAYER_H
#define CAUSEWAY_TESTS_HOSTILE_PLAYER_H

#include "secure_message_rig.h"

#include "netcode/secure_packet.h"
#include "packet/packet_header.h"

struct player {
    struct rig *rig;
    struct cw_address at;
    struct cw_token token;
    uint64_t sequence; /* the number of the next secure packet */
    uint16_t packet;   /* the number of the next packet within one */
    uint16_t ack;      /* the ack that it sends; at first it acks nothing */
    uint32_t ack_bits;
    uint32_t slot;
};

static inline size_t player_seal(struct player *player, enum cw_secure_type type, const void *body,
                                 size_t size, uint8_t out[CW_SECURE_MAX])
{
    const size_t length = cw_secure_write(
        &(struct cw_secure_packet){
            .type = type, .sequence = player->sequence++, .body = body, .size = size},
        &(struct cw_secure_key){.protocol_id = RIG_PROTOCOL,
                                .direction = CW_TO_SERVER,
                                .bytes = player->token.client_to_server_key},
        out, CW_SECURE_MAX);
    assert_true(length > 0);
    return length;
}

/* Sends a secure packet, on a block of exactly its size. */
static inline enum cw_error player_send(struct player *player, enum cw_secure_type type,
                                        const void *body, size_t size)
{
    uint8_t out[CW_SECURE_MAX];
    const size_t length = player_seal(player, type, body, size, out);
    return rig_give(player->rig, &player->at, out, length);
}

/* Opens a packet of the server to this player. */
static inline bool player_open(const struct player *player, const uint8_t *data, size_t size,
                               uint8_t body[CW_PAYLOAD_MAX], struct cw_secure_packet *packet)
{
    return cw_secure_read(data, size,
                          &(struct cw_secure_key){.protocol_id = RIG_PROTOCOL,
                                                  .direction = CW_TO_CLIENT,
                                                  .bytes = player->token.server_to_client_key},
                          NULL, body, packet) == CW_OK;
}

/* Connects the n-th player, who is the only one to connect now; the event is taken. */
static inline void player_connect(struct player *player, struct rig *rig, uint32_t n,
                                  uint64_t fingerprint)
{
    uint8_t token[CW_TOKEN_SIZE], request[CW_REQUEST_SIZE], out[CW_SECURE_MAX];
    uint8_t body[CW_PAYLOAD_MAX] = {0};
    struct cw_secure_packet packet = {.type = CW_SECURE_DENIED};
    struct cw_server_event event;
    struct cw_address to;
    size_t size;
    struct cw_token_grant grant = rig_grant(rig, n + 1);
    grant.fingerprint = fingerprint;
    assert_int_equal(cw_token_generate(&grant, rig_key, token), CW_OK);
    *player = (struct player){.rig = rig, .at = rig_client_address(n), .ack = UINT16_MAX};
    assert_int_equal(cw_token_read(token, sizeof token, &player->token), CW_OK);
    cw_request_write(&player->token, request);
    assert_int_equal(rig_give(rig, &player->at, request, sizeof request), CW_OK);
    while ((size = cw_server_transmit(rig->server, out, sizeof out, rig->now, &to)) > 0)
        if (cw_address_equal(&to, &player->at))
            assert_true(player_open(player, out, size, body, &packet));
    assert_int_equal(packet.type, CW_SECURE_CHALLENGE);
    assert_int_equal(player_send(player, CW_SECURE_RESPONSE, body, CW_CHALLENGE_BODY_SIZE), CW_OK);
    assert_true(cw_server_next(rig->server, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_CONNECTED);
    player->slot = event.client;
}

/* Writes a whole packet with the player's acks in front of a payload. Returns its size. */
static inline size_t player_packet(struct player *player, const uint8_t *payload, size_t size,
                                   uint8_t out[CW_PAYLOAD_MAX])
{
    const struct cw_packet_header header = {
        .sequence = player->packet++, .ack = player->ack, .ack_bits = player->ack_bits};
    const size_t written = cw_packet_header_write(out, &header);
    assert_true(written + size <= CW_PAYLOAD_MAX);
    memcpy(out + written, payload, size);
    return written + size;
}

static inline enum cw_error player_payload(struct player *player, const uint8_t *payload,
                                           size_t size)
{
    uint8_t out[CW_PAYLOAD_MAX];
    const size_t length = player_packet(player, payload, size, out);
    return player_send(player, CW_SECURE_PAYLOAD, out, length);
}

/* Takes all events of the server and releases the messages. */
static inline void player_drain(struct rig *rig)
{
    struct cw_server_event event;
    while (cw_server_next(rig->server, &event))
        if (event.type == CW_SERVER_EVENT_MESSAGE)
            cw_message_release(event.message);
}

#endif
