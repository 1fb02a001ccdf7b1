#include "netcode/token_history.h"

#include <string.h>

struct cw_used_token {
    uint64_t expire_time; /* 0: free */
    uint64_t client_id;
    uint64_t forgotten; /* the expire time of the client id's token whose place this one took */
    uint8_t mac[CW_MAC_BYTES];
    struct cw_address address;
    uint32_t next_free;
    bool consumed;
};

void cw_token_history_layout(struct cw_token_history *history, struct cw_arena *arena,
                             uint32_t capacity)
{
    history->capacity = capacity;
    history->first_free = CW_HASH_INDEX_NONE;
    history->tokens = cw_arena_take(arena, capacity * sizeof(*history->tokens));
    cw_hash_index_layout(&history->by_mac, arena, capacity);
    cw_hash_index_layout(&history->by_id, arena, capacity);
}

/* MACs are as good as random. */
static uint64_t hash_of(const uint8_t mac[CW_MAC_BYTES])
{
    uint64_t hash;
    memcpy(&hash, mac, sizeof(hash));
    return hash;
}

static struct cw_used_token *find(const struct cw_token_history *history,
                                  const uint8_t mac[CW_MAC_BYTES])
{
    uint32_t number, probe = 0;
    while ((number = cw_hash_index_find(&history->by_mac, hash_of(mac), &probe)) !=
           CW_HASH_INDEX_NONE)
        if (memcmp(history->tokens[number].mac, mac, CW_MAC_BYTES) == 0)
            return &history->tokens[number];
    return NULL;
}

/* The share of a client id is its number of tokens, the one among them that expires first, and the
   latest expire time of those that had to make room for later ones. */
struct share {
    uint32_t count;
    struct cw_used_token *first;
    uint64_t forgotten;
};

static struct share share_of(const struct cw_token_history *history, uint64_t client_id)
{
    const uint64_t hash = cw_hash_index_hash(history->hash_seed, client_id);
    struct share share = {0};
    uint32_t number, probe = 0;
    while ((number = cw_hash_index_find(&history->by_id, hash, &probe)) != CW_HASH_INDEX_NONE) {
        struct cw_used_token *token = &history->tokens[number];
        if (token->client_id != client_id)
            continue;
        share.count++;
        if (!share.first || token->expire_time < share.first->expire_time)
            share.first = token;
        if (token->forgotten > share.forgotten)
            share.forgotten = token->forgotten;
    }
    return share;
}

static void unlink_token(struct cw_token_history *history, uint32_t number)
{
    const struct cw_used_token *token = &history->tokens[number];
    cw_hash_index_remove(&history->by_mac, hash_of(token->mac), number);
    cw_hash_index_remove(&history->by_id, cw_hash_index_hash(history->hash_seed, token->client_id),
                         number);
}

static void forget_if_expired(struct cw_token_history *history, uint32_t number, uint64_t now)
{
    struct cw_used_token *token = &history->tokens[number];
    if (token->expire_time == 0 || token->expire_time > now)
        return;
    unlink_token(history, number);
    if (token->expire_time > history->forgotten)
        history->forgotten = token->expire_time;
    token->expire_time = 0;
    token->next_free = history->first_free;
    history->first_free = number;
}

static struct cw_used_token *add(struct cw_token_history *history, uint64_t now)
{
    for (int i = 0; i < 2 && history->used > 0; i++) {
        history->hand = (history->hand + 1) % history->used;
        forget_if_expired(history, history->hand, now);
    }
    if (history->first_free == CW_HASH_INDEX_NONE && history->used < history->capacity)
        return &history->tokens[history->used++];
    if (history->first_free == CW_HASH_INDEX_NONE && history->swept != now) {
        history->swept = now;
        for (uint32_t number = 0; number < history->used; number++)
            forget_if_expired(history, number, now);
    }
    if (history->first_free == CW_HASH_INDEX_NONE)
        return NULL;
    struct cw_used_token *token = &history->tokens[history->first_free];
    history->first_free = token->next_free;
    return token;
}

bool cw_token_history_has(const struct cw_token_history *history, const uint8_t mac[CW_MAC_BYTES])
{
    return find(history, mac) != NULL;
}

enum cw_error cw_token_history_use(struct cw_token_history *history,
                                   const uint8_t mac[CW_MAC_BYTES], uint64_t client_id,
                                   const struct cw_address *address, uint64_t expire_time,
                                   uint64_t now)
{
    struct cw_used_token *token = find(history, mac);
    if (token)
        return token->consumed || !cw_address_equal(&token->address, address) ? CW_ERROR_TOKEN_USED
                                                                              : CW_OK;
    const struct share share = share_of(history, client_id);
    const bool is_full = share.count >= CW_TOKEN_HISTORY_SHARE;
    if (expire_time <= history->forgotten || expire_time <= share.forgotten ||
        (is_full && expire_time < share.first->expire_time))
        return CW_ERROR_TOKEN_USED;
    uint64_t forgotten = share.forgotten;
    if (is_full) {
        token = share.first;
        forgotten = token->expire_time;
        unlink_token(history, (uint32_t)(token - history->tokens));
    } else {
        token = add(history, now);
    }
    if (!token)
        return CW_ERROR_HISTORY_FULL;
    *token = (struct cw_used_token){.expire_time = expire_time,
                                    .client_id = client_id,
                                    .forgotten = forgotten,
                                    .address = *address};
    memcpy(token->mac, mac, CW_MAC_BYTES);
    const uint32_t number = (uint32_t)(token - history->tokens);
    cw_hash_index_add(&history->by_mac, hash_of(mac), number);
    cw_hash_index_add(&history->by_id, cw_hash_index_hash(history->hash_seed, client_id), number);
    return CW_OK;
}

bool cw_token_history_consume(struct cw_token_history *history, const uint8_t mac[CW_MAC_BYTES])
{
    struct cw_used_token *token = find(history, mac);
    if (!token)
        return false;
    token->consumed = true;
    return true;
}
