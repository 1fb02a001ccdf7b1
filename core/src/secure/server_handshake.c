#include "secure/server_internal.h"

#include <string.h>

/* Packets outside a slot count from a random number on: the servers that a token names, and one
   that started anew, encrypt with the same keys. */
#define RANDOM_BITS (((uint64_t)1 << 61) - 1)

/* A pending client is forgotten this long after its last request at the latest. */
#define PENDING_SECONDS 10.0

/* Seconds of requests that may come at once. */
#define REQUEST_BURST 0.1

void cw_handshake_layout(struct cw_server *server, struct cw_arena *arena)
{
    const uint32_t count = server->config.max_pending;
    server->pending = cw_arena_take(arena, count * sizeof(*server->pending));
    server->pending_active = cw_arena_take(arena, count * sizeof(*server->pending_active));
    server->challenge_queue = cw_arena_take(arena, count * sizeof(*server->challenge_queue));
    cw_hash_index_layout(&server->pending_by_address, arena, count);
    cw_token_history_layout(&server->history, arena, server->config.token_history);
}

void cw_handshake_start(struct cw_server *server)
{
    const uint32_t count = server->config.max_pending;
    for (uint32_t i = 0; i < count; i++)
        server->pending[i].place = i + 1 < count ? i + 1 : CW_HASH_INDEX_NONE;
    server->pending_free = 0;
    cw_random_fill(&server->config.random, &server->global_sequence,
                   sizeof(server->global_sequence));
    server->global_sequence = CW_SEQUENCE_OUTSIDE_SLOT | (server->global_sequence & RANDOM_BITS);
    server->allowance = server->config.requests_per_second * REQUEST_BURST;
    if (server->allowance < 1)
        server->allowance = 1;
}

static struct cw_pending *find_pending(struct cw_server *server, const struct cw_address *address)
{
    const uint64_t hash = cw_hash_index_hash_address(server->hash_seed, address);
    uint32_t number, probe = 0;
    while ((number = cw_hash_index_find(&server->pending_by_address, hash, &probe)) !=
           CW_HASH_INDEX_NONE)
        if (cw_address_equal(&server->pending[number].address, address))
            return &server->pending[number];
    return NULL;
}

static struct cw_pending *add_pending(struct cw_server *server, const struct cw_address *address)
{
    const uint32_t number = server->pending_free;
    if (number == CW_HASH_INDEX_NONE)
        return NULL;
    struct cw_pending *pending = &server->pending[number];
    server->pending_free = pending->place;
    pending->active = true;
    pending->address = *address;
    pending->place = server->pending_count;
    server->pending_active[server->pending_count++] = number;
    cw_hash_index_add(&server->pending_by_address,
                      cw_hash_index_hash_address(server->hash_seed, address), number);
    return pending;
}

static void remove_pending(struct cw_server *server, struct cw_pending *pending)
{
    const uint32_t number = (uint32_t)(pending - server->pending);
    cw_hash_index_remove(&server->pending_by_address,
                         cw_hash_index_hash_address(server->hash_seed, &pending->address), number);
    const uint32_t last = server->pending_active[--server->pending_count];
    server->pending_active[pending->place] = last;
    server->pending[last].place = pending->place;
    const bool queued = pending->queued;
    cw_crypto_wipe(pending, sizeof(*pending));
    pending->queued = queued;
    pending->place = server->pending_free;
    server->pending_free = number;
}

static void refill_allowance(struct cw_server *server, double now)
{
    const double rate = server->config.requests_per_second;
    const double most = rate * REQUEST_BURST < 1 ? 1 : rate * REQUEST_BURST;
    if (now > server->allowance_time)
        server->allowance += (now - server->allowance_time) * rate;
    if (server->allowance > most)
        server->allowance = most;
    server->allowance_time = now;
}

static void deny(struct cw_server *server, const struct cw_address *address,
                 const uint8_t key[CW_KEY_BYTES], bool schema)
{
    if (server->denial_count == CW_DENIALS)
        return;
    struct cw_denial *denial =
        &server->denials[(server->denial_first + server->denial_count++) % CW_DENIALS];
    denial->address = *address;
    memcpy(denial->key, key, CW_KEY_BYTES);
    denial->schema = schema;
}

static void challenge(struct cw_server *server, struct cw_pending *pending)
{
    if (pending->queued)
        return;
    pending->queued = true;
    const uint32_t place =
        (server->challenge_first + server->challenge_count++) % server->config.max_pending;
    server->challenge_queue[place] = (uint32_t)(pending - server->pending);
}

/* Tokens of a life that the rule about restarts does not cover, and those from before the start.
   When that was is seen by the clock as it is set now: at the start it may have been wrong. */
static bool wrong_life(const struct cw_server *server, uint64_t expire_time, uint64_t now)
{
    const uint64_t life = server->config.max_token_life;
    const uint64_t start = cw_server_unix(server, server->start_time);
    return life != 0 && (expire_time > now + life || expire_time <= start + life);
}

/* The token is authentic. */
static enum cw_error admit(struct cw_server *server, const struct cw_address *from,
                           const struct cw_request *request, const struct cw_token_private *token,
                           double now)
{
    if (!cw_token_names(token, server->addresses, server->config.address_count))
        return CW_ERROR_TOKEN_SERVER;
    if (cw_slots_by_address(server, from) || cw_slots_by_id(server, token->client_id))
        return CW_ERROR_CONNECTED;
    const enum cw_error error = cw_token_history_use(
        &server->history, request->mac, from, request->expire_time, cw_server_unix(server, now));
    if (error)
        return error;
    const uint64_t fingerprint = cw_user_data_fingerprint(token->user_data);
    if (server->config.fingerprint != 0 && fingerprint != 0 &&
        fingerprint != server->config.fingerprint) {
        deny(server, from, token->server_to_client_key, true);
        return CW_ERROR_SCHEMA;
    }
    if (!cw_slots_find_vacant(server)) {
        deny(server, from, token->server_to_client_key, false);
        return CW_ERROR_SERVER_FULL;
    }

    struct cw_pending *pending = find_pending(server, from);
    if (pending && memcmp(pending->mac, request->mac, CW_MAC_BYTES) != 0) {
        /* The same client with another token: what it asks for now counts. */
        remove_pending(server, pending);
        pending = NULL;
    }
    if (!pending) {
        pending = add_pending(server, from);
        if (!pending)
            return CW_ERROR_PENDING_FULL;
        pending->id = token->client_id;
        pending->timeout_seconds = token->timeout_seconds;
        pending->first_challenge = server->challenge_sequence;
        memcpy(pending->mac, request->mac, CW_MAC_BYTES);
        memcpy(pending->client_to_server_key, token->client_to_server_key, CW_KEY_BYTES);
        memcpy(pending->server_to_client_key, token->server_to_client_key, CW_KEY_BYTES);
        memcpy(pending->user_data, token->user_data, CW_USER_DATA_SIZE);
    }
    const int32_t timeout = token->timeout_seconds;
    pending->deadline =
        now + (timeout > 0 && timeout < PENDING_SECONDS ? timeout : PENDING_SECONDS);
    challenge(server, pending);
    return CW_OK;
}

enum cw_error cw_handshake_request(struct cw_server *server, const struct cw_address *from,
                                   const void *data, size_t size, double now)
{
    struct cw_request request;
    const uint64_t unix_time = cw_server_unix(server, now);
    enum cw_error error = cw_request_parse(&request, data, size);
    if (!error)
        error = cw_request_check(&request, server->config.protocol_id, unix_time);
    if (error)
        return error;
    if (wrong_life(server, request.expire_time, unix_time))
        return CW_ERROR_TOKEN_LIFE;

    refill_allowance(server, now);
    if (server->allowance < 1)
        return CW_ERROR_TOO_MANY_REQUESTS;
    server->allowance -= 1;
    struct cw_token_private token;
    error = cw_request_open(&token, &request, server->config.private_key);
    if (!error)
        error = admit(server, from, &request, &token, now);
    cw_crypto_wipe(&token, sizeof(token));
    return error;
}

enum cw_error cw_handshake_response(struct cw_server *server, const struct cw_address *from,
                                    const void *data, size_t size, double now)
{
    struct cw_pending *pending = find_pending(server, from);
    if (!pending || now >= pending->deadline)
        return CW_ERROR_NOT_CONNECTED;
    struct cw_secure_packet packet;
    const enum cw_error error =
        cw_secure_read(&packet, server->body, data, size, CW_TO_SERVER, server->config.protocol_id,
                       pending->client_to_server_key, NULL);
    if (error)
        return error;
    if (packet.type != CW_SECURE_RESPONSE)
        return CW_ERROR_UNEXPECTED;

    uint64_t sequence;
    struct cw_challenge_token token;
    const uint8_t *sealed = cw_challenge_get(server->body, &sequence);
    if (!cw_challenge_token_open(&token, sealed, sequence, server->challenge_key) ||
        token.client_id != pending->id || sequence < pending->first_challenge)
        return CW_ERROR_NOT_AUTHENTIC;
    if (cw_slots_by_id(server, pending->id))
        return CW_ERROR_CONNECTED;
    struct cw_slot *slot = cw_slots_find_vacant(server);
    if (!slot) {
        deny(server, from, pending->server_to_client_key, false);
        return CW_ERROR_SERVER_FULL;
    }
    if (!cw_token_history_consume(&server->history, pending->mac))
        return CW_ERROR_TOKEN_USED;
    cw_slots_connect(server, slot, pending, token.user_data, now);
    remove_pending(server, pending);
    return CW_OK;
}

static size_t write_denial(struct cw_server *server, struct cw_address *to, void *out,
                           size_t capacity)
{
    struct cw_denial *denial = &server->denials[server->denial_first];
    server->denial_first = (server->denial_first + 1) % CW_DENIALS;
    server->denial_count--;
    const uint64_t sequence =
        server->global_sequence++ | (denial->schema ? CW_SEQUENCE_OTHER_SCHEMA : 0);
    const size_t size = cw_secure_write(out, capacity, CW_SECURE_DENIED, sequence, NULL, 0,
                                        server->config.protocol_id, denial->key);
    *to = denial->address;
    server->stats.denied_sent++;
    cw_crypto_wipe(denial, sizeof(*denial));
    return size;
}

static size_t write_challenge(struct cw_server *server, const struct cw_pending *pending,
                              struct cw_address *to, void *out, size_t capacity)
{
    struct cw_challenge_token token = {.client_id = pending->id};
    memcpy(token.user_data, pending->user_data, CW_USER_DATA_SIZE);
    uint8_t sealed[CW_CHALLENGE_TOKEN_SIZE], body[CW_CHALLENGE_BODY_SIZE];
    cw_challenge_token_seal(sealed, &token, server->challenge_sequence, server->challenge_key);
    cw_challenge_put(body, server->challenge_sequence++, sealed);
    *to = pending->address;
    server->stats.challenges_sent++;
    return cw_secure_write(out, capacity, CW_SECURE_CHALLENGE, server->global_sequence++, body,
                           sizeof(body), server->config.protocol_id, pending->server_to_client_key);
}

size_t cw_handshake_transmit(struct cw_server *server, struct cw_address *to, void *out,
                             size_t capacity)
{
    if (server->denial_count > 0)
        return write_denial(server, to, out, capacity);
    while (server->challenge_count > 0) {
        struct cw_pending *pending =
            &server->pending[server->challenge_queue[server->challenge_first]];
        server->challenge_first = (server->challenge_first + 1) % server->config.max_pending;
        server->challenge_count--;
        pending->queued = false;
        if (pending->active)
            return write_challenge(server, pending, to, out, capacity);
    }
    return 0;
}

void cw_handshake_update(struct cw_server *server, double now)
{
    for (uint32_t i = server->pending_count; i-- > 0;) {
        struct cw_pending *pending = &server->pending[server->pending_active[i]];
        if (now >= pending->deadline)
            remove_pending(server, pending);
    }
}
