#include "netcode/server_handshake.h"

#include <string.h>

/* The part of a second whose requests may come at once. */
#define REQUEST_BURST 0.1

/* Seconds by which the clock of a backend may be ahead without its tokens having to wait. */
#define CLOCK_MARGIN 0.25

void cw_handshake_layout(struct cw_handshake *handshake, struct cw_arena *arena)
{
    const uint32_t count = handshake->config->max_pending;
    handshake->pending = cw_arena_take(arena, count * sizeof(*handshake->pending));
    handshake->active = cw_arena_take(arena, count * sizeof(*handshake->active));
    handshake->challenge_queue = cw_arena_take(arena, count * sizeof(*handshake->challenge_queue));
    cw_hash_index_layout(&handshake->by_address, arena, count);
    cw_hash_index_layout(&handshake->by_id, arena, count);
    cw_token_history_layout(&handshake->history, arena, handshake->config->token_history);
    handshake->challenges.config = handshake->moves.config = handshake->config;
    handshake->moves.slots = handshake->slots;
    handshake->moves.challenges = &handshake->challenges;
    cw_moves_layout(&handshake->moves, arena);
}

void cw_handshake_start(struct cw_handshake *handshake)
{
    const uint32_t count = handshake->config->max_pending;
    for (uint32_t i = 0; i < count; i++)
        handshake->pending[i].place = i + 1 < count ? i + 1 : CW_HASH_INDEX_NONE;
    handshake->first_free = 0;
    cw_challenges_start(&handshake->challenges);
    cw_random_fill(&handshake->config->random, (uint8_t *)&handshake->hash_seed,
                   sizeof(handshake->hash_seed));
    handshake->history.hash_seed = handshake->hash_seed;
    handshake->allowance = handshake->config->requests_per_second * REQUEST_BURST;
    if (handshake->allowance < 1)
        handshake->allowance = 1;
}

void cw_handshake_set_time(struct cw_handshake *handshake, double now)
{
    if (handshake->started)
        return;
    handshake->started = true;
    handshake->start_time = now;
    handshake->allowance_time = now;
}

static uint64_t unix_seconds(const struct cw_handshake *handshake, double now)
{
    const double time = now + handshake->config->unix_offset_seconds;
    return time > 0 ? time < 0x1p63 ? (uint64_t)time : INT64_MAX : 0;
}

static struct cw_pending *find_pending(struct cw_handshake *handshake,
                                       const struct cw_address *address)
{
    const uint64_t hash = cw_hash_index_hash_address(handshake->hash_seed, address);
    uint32_t number, probe = 0;
    while ((number = cw_hash_index_find(&handshake->by_address, hash, &probe)) !=
           CW_HASH_INDEX_NONE)
        if (cw_address_equal(&handshake->pending[number].identity.address, address))
            return &handshake->pending[number];
    return NULL;
}

static struct cw_pending *find_pending_by_id(struct cw_handshake *handshake, uint64_t id)
{
    const uint64_t hash = cw_hash_index_hash(handshake->hash_seed, id);
    uint32_t number, probe = 0;
    while ((number = cw_hash_index_find(&handshake->by_id, hash, &probe)) != CW_HASH_INDEX_NONE)
        if (handshake->pending[number].identity.id == id)
            return &handshake->pending[number];
    return NULL;
}

static struct cw_pending *add_pending(struct cw_handshake *handshake,
                                      const struct cw_address *address, uint64_t id)
{
    const uint32_t number = handshake->first_free;
    if (number == CW_HASH_INDEX_NONE)
        return NULL;
    struct cw_pending *pending = &handshake->pending[number];
    handshake->first_free = pending->place;
    pending->active = true;
    pending->identity.address = *address;
    pending->identity.id = id;
    pending->place = handshake->active_count;
    handshake->active[handshake->active_count++] = number;
    cw_hash_index_add(&handshake->by_address,
                      cw_hash_index_hash_address(handshake->hash_seed, address), number);
    cw_hash_index_add(&handshake->by_id, cw_hash_index_hash(handshake->hash_seed, id), number);
    return pending;
}

static void remove_id(struct cw_handshake *handshake, const struct cw_pending *pending)
{
    cw_hash_index_remove(&handshake->by_id,
                         cw_hash_index_hash(handshake->hash_seed, pending->identity.id),
                         (uint32_t)(pending - handshake->pending));
}

static void remove_pending(struct cw_handshake *handshake, struct cw_pending *pending)
{
    const uint32_t number = (uint32_t)(pending - handshake->pending);
    if (pending->heir) {
        handshake->heirs--;
        cw_slots_unkeep(handshake->slots, pending->slot);
    } else {
        remove_id(handshake, pending);
    }
    cw_hash_index_remove(
        &handshake->by_address,
        cw_hash_index_hash_address(handshake->hash_seed, &pending->identity.address), number);
    const uint32_t last = handshake->active[--handshake->active_count];
    handshake->active[pending->place] = last;
    handshake->pending[last].place = pending->place;
    const bool queued = pending->queued;
    cw_crypto_wipe(pending, sizeof(*pending));
    pending->queued = queued;
    pending->place = handshake->first_free;
    handshake->first_free = number;
}

/* Takes one decryption from the budget for those who are not connected. Returns false when the
   budget is used up. */
static bool take_allowance(struct cw_handshake *handshake, double now)
{
    const double rate = handshake->config->requests_per_second;
    const double most = rate * REQUEST_BURST < 1 ? 1 : rate * REQUEST_BURST;
    if (now > handshake->allowance_time)
        handshake->allowance += (now - handshake->allowance_time) * rate;
    if (handshake->allowance > most)
        handshake->allowance = most;
    handshake->allowance_time = now;
    if (handshake->allowance < 1)
        return false;
    handshake->allowance -= 1;
    return true;
}

static void deny(struct cw_handshake *handshake, const struct cw_address *address,
                 const uint8_t key[CW_KEY_BYTES], uint64_t reason)
{
    if (handshake->denial_count == CW_DENIALS)
        return;
    struct cw_denial *denial =
        &handshake->denials[(handshake->denial_first + handshake->denial_count++) % CW_DENIALS];
    denial->address = *address;
    memcpy(denial->key, key, CW_KEY_BYTES);
    denial->reason = reason;
    denial->outlined = false;
}

static void challenge(struct cw_handshake *handshake, struct cw_pending *pending)
{
    if (pending->queued)
        return;
    pending->queued = true;
    const uint32_t place = (handshake->challenge_first + handshake->challenge_count++) %
                           handshake->config->max_pending;
    handshake->challenge_queue[place] = (uint32_t)(pending - handshake->pending);
}

/* Returns whether a token lives too long for the rule about restarts. */
static bool wrong_life(const struct cw_handshake *handshake, uint64_t expire_time, uint64_t now)
{
    const uint64_t life = handshake->config->max_token_life_seconds;
    return life != 0 && expire_time > now + life;
}

/* Returns whether a token was made after this time by the backend's clock, which may be a little
   off. */
static bool made_after(const struct cw_handshake *handshake, const struct cw_token_private *token,
                       double time)
{
    const double unix_time = time + handshake->config->unix_offset_seconds;
    return token->create_milliseconds > 0 &&
           (double)token->create_milliseconds > 1000 * (unix_time + CLOCK_MARGIN);
}

/* Returns whether a token may have been used before the server was started. No server takes a token
   that lives too long or, if it says when it was made, is not made yet. So what an earlier server
   has taken expires and was made by then. The time of the start is reckoned by the clock as it is
   set now, because it may have been wrong then. */
static bool may_be_older(const struct cw_handshake *handshake, const struct cw_request *request,
                         const struct cw_token_private *token)
{
    const uint64_t life = handshake->config->max_token_life_seconds;
    const uint64_t start = unix_seconds(handshake, handshake->start_time);
    return life != 0 && request->expire_time <= start + life &&
           !made_after(handshake, token, handshake->start_time);
}

/* Returns whether a client is ignored: another one is at its address, or it is connected with a
   newer token. Among tokens from the same second the last to come wins. Each wins once at most, as
   no token connects twice. */
static bool is_ignored(const struct cw_handshake *handshake, const struct cw_address *address,
                       uint64_t id, uint64_t expire_time)
{
    const struct cw_slot *there = cw_slots_by_address(handshake->slots, address);
    const struct cw_slot *old = cw_slots_by_id(handshake->slots, id);
    return (there && there != old) ||
           (old && handshake->config->takeover && expire_time < old->identity.expire_time);
}

/* Denies a client for which there is no place. */
static enum cw_error find_place(struct cw_handshake *handshake, const struct cw_address *address,
                                uint64_t id, const uint8_t key[CW_KEY_BYTES])
{
    const bool connected = cw_slots_by_id(handshake->slots, id) != NULL;
    if (connected && !handshake->config->takeover) {
        deny(handshake, address, key, CW_SEQUENCE_ID_CONNECTED);
        return CW_ERROR_CONNECTED;
    }
    if (!connected && cw_slots_full(handshake->slots)) {
        deny(handshake, address, key, 0);
        return CW_ERROR_SERVER_FULL;
    }
    return CW_OK;
}

/* A pending client is forgotten this long after its last request, an heir after its response. */
static void set_deadline(struct cw_pending *pending, double now)
{
    pending->deadline = now + cw_challenge_seconds(pending->identity.timeout_seconds);
}

/* Returns whether a client may have the place of its id. A client with a token that expires
   earlier, or that expires in the same second and came earlier, makes room and is told. is_new: the
   token has not come before. */
static bool claim_id(struct cw_handshake *handshake, uint64_t id, uint64_t expire_time, bool is_new)
{
    struct cw_pending *other = find_pending_by_id(handshake, id);
    if (!other)
        return true;
    if (expire_time < other->identity.expire_time ||
        (expire_time == other->identity.expire_time && !is_new))
        return false;
    deny(handshake, &other->identity.address, other->identity.server_to_client_key,
         CW_SEQUENCE_ID_CONNECTED);
    remove_pending(handshake, other);
    return true;
}

/* Returns a new pending client, or NULL when there is no place. */
static struct cw_pending *enter(struct cw_handshake *handshake, const struct cw_address *from,
                                const struct cw_request *request,
                                const struct cw_token_private *token)
{
    struct cw_pending *pending = add_pending(handshake, from, token->client_id);
    if (!pending)
        return NULL;
    pending->identity.timeout_seconds = token->timeout_seconds;
    pending->identity.expire_time = request->expire_time;
    pending->first_challenge = handshake->challenges.number;
    memcpy(pending->identity.mac, request->mac, CW_MAC_BYTES);
    memcpy(pending->identity.client_to_server_key, token->client_to_server_key, CW_KEY_BYTES);
    memcpy(pending->identity.server_to_client_key, token->server_to_client_key, CW_KEY_BYTES);
    memcpy(pending->identity.user_data, token->user_data, CW_USER_DATA_SIZE);
    return pending;
}

/* Admits or refuses a client whose token is authentic. */
static enum cw_error admit(struct cw_handshake *handshake, const struct cw_address *from,
                           const struct cw_request *request, const struct cw_token_private *token,
                           double now)
{
    if (!cw_token_names(token, handshake->config->addresses, handshake->config->address_count))
        return CW_ERROR_TOKEN_SERVER;
    if (is_ignored(handshake, from, token->client_id, request->expire_time))
        return CW_ERROR_CONNECTED;
    if (may_be_older(handshake, request, token)) {
        deny(handshake, from, token->server_to_client_key, CW_SEQUENCE_NOT_YET);
        return CW_ERROR_TOKEN_LIFE;
    }
    /* The client repeats its request until the token has been made. */
    if (handshake->config->max_token_life_seconds != 0 && made_after(handshake, token, now))
        return CW_ERROR_TOKEN_LIFE;
    const bool is_new = !cw_token_history_has(&handshake->history, request->mac);
    enum cw_error error =
        cw_token_history_use(&handshake->history, request->mac, token->client_id, from,
                             request->expire_time, unix_seconds(handshake, now));
    if (error)
        return error;
    const uint64_t fingerprint = cw_user_data_fingerprint(token->user_data);
    if (handshake->config->fingerprint != 0 && fingerprint != 0 &&
        fingerprint != handshake->config->fingerprint) {
        deny(handshake, from, token->server_to_client_key, CW_SEQUENCE_OTHER_SCHEMA);
        return CW_ERROR_SCHEMA;
    }
    error = find_place(handshake, from, token->client_id, token->server_to_client_key);
    if (error)
        return error;

    struct cw_pending *pending = find_pending(handshake, from);
    if (pending && memcmp(pending->identity.mac, request->mac, CW_MAC_BYTES) != 0) {
        /* The same client has come with another token. Only its new request counts. */
        remove_pending(handshake, pending);
        pending = NULL;
    }
    if (!pending && !claim_id(handshake, token->client_id, request->expire_time, is_new))
        return CW_ERROR_CONNECTED;
    if (!pending)
        pending = enter(handshake, from, request, token);
    if (!pending)
        return CW_ERROR_PENDING_FULL;
    set_deadline(pending, now);
    challenge(handshake, pending);
    return CW_OK;
}

enum cw_error cw_handshake_request(struct cw_handshake *handshake, const struct cw_address *from,
                                   const uint8_t *data, size_t size, double now)
{
    struct cw_request request;
    const uint64_t unix_time = unix_seconds(handshake, now);
    enum cw_error error = cw_request_parse(data, size, &request);
    if (!error)
        error = cw_request_check(&request, handshake->config->protocol_id, unix_time);
    if (error && error != CW_ERROR_TOKEN_EXPIRED)
        return error;
    /* The MAC identifies the token of a connected client, which was opened when it connected. It
       need not be fresh any more, as it connects nobody: the response is what counts. */
    const struct cw_slot *moving = cw_slots_by_token(handshake->slots, request.mac);
    if (moving)
        return take_allowance(handshake, now) ? cw_moves_request(&handshake->moves, moving, from)
                                              : CW_ERROR_TOO_MANY_REQUESTS;
    if (error)
        return error;
    if (wrong_life(handshake, request.expire_time, unix_time))
        return CW_ERROR_TOKEN_LIFE;
    if (!take_allowance(handshake, now))
        return CW_ERROR_TOO_MANY_REQUESTS;
    struct cw_token_private token;
    error = cw_request_open(&request, handshake->config->private_key, &token);
    if (!error)
        error = admit(handshake, from, &request, &token, now);
    cw_crypto_wipe(&token, sizeof(token));
    return error;
}

/* Takes a response that is from a connected client by its sequence. It never begins a connection:
   the client would believe that its connection with an earlier server goes on. */
static enum cw_error take_move(struct cw_handshake *handshake, const struct cw_address *from,
                               const uint8_t *data, size_t size, double now)
{
    struct cw_slot *slot = cw_moves_slot(&handshake->moves, data);
    if (!slot)
        return CW_ERROR_NOT_CONNECTED;
    return take_allowance(handshake, now)
               ? cw_moves_response(&handshake->moves, slot, from, data, size, now)
               : CW_ERROR_TOO_MANY_REQUESTS;
}

/* Takes any other datagram: no response is due from its address, and no move ends there. */
static enum cw_error take_other(struct cw_handshake *handshake, const struct cw_address *from,
                                const uint8_t *data, size_t size, double now)
{
    struct cw_slot *slot = cw_slots_by_address(handshake->slots, from);
    return slot ? cw_slots_receive(handshake->slots, slot, data, size, now)
                : CW_ERROR_NOT_CONNECTED;
}

/* Ends the client's old session. The new one begins when the old one's client and the application
   have been told. */
static void inherit(struct cw_handshake *handshake, struct cw_pending *pending, struct cw_slot *old,
                    double now)
{
    set_deadline(pending, now);
    remove_id(handshake, pending);
    pending->heir = true;
    pending->slot = cw_slots_number(handshake->slots, old);
    handshake->heirs++;
    handshake->takeovers++;
    cw_slots_replace(handshake->slots, old);
}

bool cw_handshake_settle(struct cw_handshake *handshake, double now)
{
    bool any = false;
    for (uint32_t i = handshake->active_count; handshake->heirs > 0 && i-- > 0;) {
        struct cw_pending *pending = &handshake->pending[handshake->active[i]];
        const struct cw_client_identity *identity = &pending->identity;
        if (!pending->heir)
            continue;
        /* Meanwhile a third session of the same client may have begun, or another client may be at
           its address. */
        const bool late = cw_slots_by_id(handshake->slots, identity->id) ||
                          cw_slots_by_address(handshake->slots, &identity->address);
        if (!late && !cw_slots_connect_kept(handshake->slots, pending->slot, identity, now))
            continue;
        any = any || !late;
        remove_pending(handshake, pending);
    }
    return any;
}

/* Takes the response of a pending client. */
static enum cw_error take_response(struct cw_handshake *handshake, struct cw_pending *pending,
                                   const uint8_t *data, size_t size, double now)
{
    if (pending->heir)
        return CW_ERROR_DUPLICATE;
    struct cw_secure_packet packet;
    uint8_t body[CW_PAYLOAD_MAX];
    enum cw_error error =
        cw_secure_read(data, size,
                       &(struct cw_secure_key){.protocol_id = handshake->config->protocol_id,
                                               .direction = CW_TO_SERVER,
                                               .bytes = pending->identity.client_to_server_key},
                       NULL, body, &packet);
    if (error)
        return error;
    if (packet.type != CW_SECURE_RESPONSE)
        return CW_ERROR_UNEXPECTED;

    uint64_t number;
    struct cw_challenge_token token;
    if (!cw_challenges_open(&handshake->challenges, body, &number, &token) ||
        token.client_id != pending->identity.id || number < pending->first_challenge ||
        number & CW_CHALLENGE_MOVE)
        return CW_ERROR_NOT_AUTHENTIC;
    const struct cw_client_identity *identity = &pending->identity;
    if (is_ignored(handshake, &identity->address, identity->id, identity->expire_time))
        return CW_ERROR_CONNECTED;
    error = find_place(handshake, &identity->address, identity->id, identity->server_to_client_key);
    if (error)
        return error;
    if (!cw_token_history_consume(&handshake->history, identity->mac))
        return CW_ERROR_TOKEN_USED;
    memcpy(pending->identity.user_data, token.user_data, CW_USER_DATA_SIZE);
    struct cw_slot *old = cw_slots_by_id(handshake->slots, identity->id);
    if (old) {
        inherit(handshake, pending, old, now);
    } else {
        cw_slots_connect(handshake->slots, identity, now);
        remove_pending(handshake, pending);
    }
    return CW_OK;
}

enum cw_error cw_handshake_response(struct cw_handshake *handshake, const struct cw_address *from,
                                    const uint8_t *data, size_t size, double now)
{
    if (cw_moves_is_response(data, size))
        return take_move(handshake, from, data, size, now);
    struct cw_pending *pending = find_pending(handshake, from);
    return pending && now < pending->deadline ? take_response(handshake, pending, data, size, now)
                                              : take_other(handshake, from, data, size, now);
}

static size_t write_denial(struct cw_handshake *handshake, struct cw_address *to, uint8_t *out,
                           size_t capacity)
{
    struct cw_denial *denial = &handshake->denials[handshake->denial_first];
    /* Other clients ignore a denial with a body, so the plain one follows it. */
    const bool outlines = denial->reason == CW_SEQUENCE_OTHER_SCHEMA && !denial->outlined &&
                          handshake->outline_size > 0;
    const uint64_t sequence = handshake->challenges.sequence++ | denial->reason;
    const size_t size =
        cw_secure_write(&(struct cw_secure_packet){.type = CW_SECURE_DENIED,
                                                   .sequence = sequence,
                                                   .body = handshake->outline,
                                                   .size = outlines ? handshake->outline_size : 0},
                        &(struct cw_secure_key){.protocol_id = handshake->config->protocol_id,
                                                .bytes = denial->key},
                        out, capacity);
    *to = denial->address;
    if (outlines) {
        denial->outlined = true;
        return size;
    }
    handshake->denial_first = (handshake->denial_first + 1) % CW_DENIALS;
    handshake->denial_count--;
    handshake->denied_sent++;
    cw_crypto_wipe(denial, sizeof(*denial));
    return size;
}

static size_t write_challenge(struct cw_handshake *handshake, const struct cw_pending *pending,
                              struct cw_address *to, uint8_t *out, size_t capacity)
{
    struct cw_challenge_token token = {.client_id = pending->identity.id};
    memcpy(token.user_data, pending->identity.user_data, CW_USER_DATA_SIZE);
    *to = pending->identity.address;
    return cw_challenges_write(&handshake->challenges, &token, 0,
                               pending->identity.server_to_client_key, out, capacity);
}

size_t cw_handshake_transmit(struct cw_handshake *handshake, uint8_t *out, size_t capacity,
                             double now, struct cw_address *to)
{
    if (handshake->denial_count > 0)
        return write_denial(handshake, to, out, capacity);
    while (handshake->challenge_count > 0) {
        struct cw_pending *pending =
            &handshake->pending[handshake->challenge_queue[handshake->challenge_first]];
        handshake->challenge_first =
            (handshake->challenge_first + 1) % handshake->config->max_pending;
        handshake->challenge_count--;
        pending->queued = false;
        if (pending->active)
            return write_challenge(handshake, pending, to, out, capacity);
    }
    return cw_moves_transmit(&handshake->moves, out, capacity, now, to);
}

void cw_handshake_update(struct cw_handshake *handshake, double now)
{
    for (uint32_t i = handshake->active_count; i-- > 0;) {
        struct cw_pending *pending = &handshake->pending[handshake->active[i]];
        if (now >= pending->deadline)
            remove_pending(handshake, pending);
    }
}
