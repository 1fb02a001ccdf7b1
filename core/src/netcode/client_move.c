#include "netcode/client_move.h"

#include <string.h>

/* Seconds after which a response that the server has not confirmed is given up, and the request is
   sent again. On any path that is several round trips. */
#define ANSWER_SECONDS 1.0

/* Seconds after which a move ends while packets of the server arrive, but no challenge: the server
   does not know moves, or the address is still the same. */
#define RECEIVED_SECONDS 2.0

/* Seconds after which a move ends when the token has no timeout. */
#define MOVE_SECONDS 10.0

void cw_move_start(struct cw_move *move, double now)
{
    move->step = CW_MOVE_REQUEST;
    move->due = true;
    move->received = false;
    move->first_challenge = 0;
    move->started = now;
}

bool cw_move_challenge(struct cw_move *move, const struct cw_secure_packet *challenge, double now)
{
    if (move->step == CW_MOVE_NONE || challenge->sequence <= move->newest_challenge)
        return false;
    uint64_t number;
    const uint8_t *token = cw_challenge_get(challenge->body, &number);
    /* A server that does not know the connection, because it was started anew, would begin another
       one with the answer. The client does not end by such a challenge either: anybody who has seen
       the request gets one from another server of the token. */
    if (!(number & CW_CHALLENGE_MOVE))
        return false;
    move->newest_challenge = challenge->sequence;
    move->challenge_sequence = number;
    memcpy(move->challenge_token, token, CW_CHALLENGE_TOKEN_SIZE);
    if (move->first_challenge == 0)
        move->first_challenge = move->challenge_sequence;
    move->step = CW_MOVE_RESPONSE;
    move->due = true;
    move->challenged = now;
    return true;
}

void cw_move_received(struct cw_move *move, const struct cw_secure_packet *packet)
{
    move->received = true;
    if (packet->type != CW_SECURE_KEEP_ALIVE || move->first_challenge == 0)
        return;
    uint32_t index, number;
    cw_keep_alive_get(packet->body, &index, &number);
    /* Where a round trip takes long, newer challenges have come since the one that was answered
       first. */
    const uint32_t first = (uint32_t)move->first_challenge;
    if (index == CW_KEEP_ALIVE_MOVED &&
        number - first <= (uint32_t)move->challenge_sequence - first)
        move->step = CW_MOVE_NONE;
}

bool cw_move_holds(const struct cw_move *move)
{
    return move->step == CW_MOVE_REQUEST && !move->received;
}

void cw_move_update(struct cw_move *move, double resend_seconds, int32_t timeout_seconds,
                    double now)
{
    if (move->step == CW_MOVE_NONE)
        return;
    const double longest = timeout_seconds > 0 ? timeout_seconds : MOVE_SECONDS;
    const bool in_vain =
        move->step == CW_MOVE_REQUEST && move->received && now - move->started >= RECEIVED_SECONDS;
    if (in_vain || now - move->started >= longest) {
        move->step = CW_MOVE_NONE;
        return;
    }
    if (move->step == CW_MOVE_RESPONSE && now - move->challenged >= ANSWER_SECONDS)
        move->step = CW_MOVE_REQUEST;
    if (now - move->last_sent >= resend_seconds)
        move->due = true;
}

bool cw_move_is_due(const struct cw_move *move)
{
    return move->step != CW_MOVE_NONE && move->due;
}

size_t cw_move_write(struct cw_move *move, const struct cw_token *token, uint32_t index,
                     uint8_t *out, size_t capacity, double now)
{
    move->due = false;
    move->last_sent = now;
    if (move->step == CW_MOVE_REQUEST) {
        cw_request_write(token, out);
        return CW_REQUEST_SIZE;
    }
    uint8_t body[CW_CHALLENGE_BODY_SIZE];
    cw_challenge_put(move->challenge_sequence, move->challenge_token, body);
    const uint64_t slot = index & (((uint32_t)1 << CW_MOVE_SLOT_BITS) - 1);
    return cw_secure_write(
        &(struct cw_secure_packet){.type = CW_SECURE_RESPONSE,
                                   .sequence = CW_SEQUENCE_OUTSIDE_SLOT |
                                               move->responses++ << CW_MOVE_SLOT_BITS | slot,
                                   .body = body,
                                   .size = sizeof body},
        &(struct cw_secure_key){token->protocol_id, CW_TO_SERVER, token->client_to_server_key}, out,
        capacity);
}
