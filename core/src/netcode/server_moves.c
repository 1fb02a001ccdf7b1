#include "netcode/server_moves.h"

#include <string.h>

/* The number of requests that may wait beside one of each client. At the default rate, a server
   takes about as many in two ticks of 13 ms. */
#define SPARE_REQUESTS 128

#define RESPONSE_SIZE (1 + 8 + CW_CHALLENGE_BODY_SIZE + CW_MAC_BYTES)

struct cw_move_request {
    struct cw_address from;
    uint32_t client;
};

/* The user data of a challenge token for a move holds this. Only this server ever reads it. */
struct proof {
    struct cw_address address; /* where the challenge went */
    double deadline;
};
_Static_assert(sizeof(struct proof) <= CW_USER_DATA_SIZE, "the proof must fit");

void cw_moves_layout(struct cw_moves *moves, struct cw_arena *arena)
{
    moves->capacity = moves->config->max_clients + SPARE_REQUESTS;
    moves->requests = cw_arena_take(arena, moves->capacity * sizeof(*moves->requests));
}

enum cw_error cw_moves_request(struct cw_moves *moves, const struct cw_slot *slot,
                               const struct cw_address *from)
{
    if (cw_slots_by_address(moves->slots, from))
        return CW_ERROR_CONNECTED;
    if (moves->count == moves->capacity)
        return CW_ERROR_TOO_MANY_REQUESTS;
    moves->requests[(moves->first + moves->count++) % moves->capacity] =
        (struct cw_move_request){*from, cw_slots_number(moves->slots, slot)};
    return CW_OK;
}

size_t cw_moves_transmit(struct cw_moves *moves, uint8_t *out, size_t capacity, double now,
                         struct cw_address *to)
{
    while (moves->count > 0) {
        const struct cw_move_request *request = &moves->requests[moves->first];
        moves->first = (moves->first + 1) % moves->capacity;
        moves->count--;
        const struct cw_slot *slot = cw_slots_connected(moves->slots, request->client);
        if (!slot)
            continue;
        struct proof proof;
        memset(&proof, 0, sizeof proof); /* its padding too */
        proof.address = request->from;
        proof.deadline = now + cw_challenge_seconds(slot->identity.timeout_seconds);
        struct cw_challenge_token token = {.client_id = slot->identity.id};
        memcpy(token.user_data, &proof, sizeof proof);
        *to = request->from;
        return cw_challenges_write(moves->challenges, &token, CW_CHALLENGE_MOVE,
                                   slot->identity.server_to_client_key, out, capacity);
    }
    return 0;
}

bool cw_moves_is_response(const uint8_t *data, size_t size)
{
    return size == RESPONSE_SIZE && data[0] == (8 << 4 | CW_SECURE_RESPONSE) && data[8] >> 7 != 0;
}

struct cw_slot *cw_moves_slot(const struct cw_moves *moves, const uint8_t *response)
{
    const uint32_t client =
        (response[1] | (uint32_t)response[2] << 8) & (((uint32_t)1 << CW_MOVE_SLOT_BITS) - 1);
    return cw_slots_connected(moves->slots, client);
}

enum cw_error cw_moves_response(struct cw_moves *moves, struct cw_slot *slot,
                                const struct cw_address *from, const uint8_t *data, size_t size,
                                double now)
{
    struct cw_secure_packet packet;
    uint8_t body[CW_PAYLOAD_MAX];
    const enum cw_error error =
        cw_secure_read(data, size,
                       &(struct cw_secure_key){.protocol_id = moves->config->protocol_id,
                                               .direction = CW_TO_SERVER,
                                               .bytes = slot->identity.client_to_server_key},
                       NULL, body, &packet);
    if (error)
        return error;
    uint64_t number;
    struct cw_challenge_token token;
    struct proof proof;
    if (!cw_challenges_open(moves->challenges, body, &number, &token) ||
        !(number & CW_CHALLENGE_MOVE) || token.client_id != slot->identity.id)
        return CW_ERROR_NOT_AUTHENTIC;
    memcpy(&proof, token.user_data, sizeof proof);
    if (!cw_address_equal(&proof.address, from))
        return CW_ERROR_NOT_AUTHENTIC;
    if (number < slot->challenge || now >= proof.deadline)
        return CW_ERROR_STALE;
    const struct cw_slot *there = cw_slots_by_address(moves->slots, from);
    if (there && there != slot)
        return CW_ERROR_CONNECTED;
    cw_slots_move(moves->slots, slot, from, number, now);
    return CW_OK;
}
