#include "secure/token_history.h"

#include <string.h>

struct cw_used_token {
    uint64_t expire_time; /* 0: free */
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
    cw_hash_index_layout(&history->index, arena, capacity);
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
    while ((number = cw_hash_index_find(&history->index, hash_of(mac), &probe)) !=
           CW_HASH_INDEX_NONE)
        if (memcmp(history->tokens[number].mac, mac, CW_MAC_BYTES) == 0)
            return &history->tokens[number];
    return NULL;
}

static void forget_if_expired(struct cw_token_history *history, uint32_t number, uint64_t now)
{
    struct cw_used_token *token = &history->tokens[number];
    if (token->expire_time == 0 || token->expire_time > now)
        return;
    cw_hash_index_remove(&history->index, hash_of(token->mac), number);
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

enum cw_error cw_token_history_use(struct cw_token_history *history,
                                   const uint8_t mac[CW_MAC_BYTES],
                                   const struct cw_address *address, uint64_t expire_time,
                                   uint64_t now)
{
    struct cw_used_token *token = find(history, mac);
    if (token)
        return token->consumed || !cw_address_equal(&token->address, address) ? CW_ERROR_TOKEN_USED
                                                                              : CW_OK;
    if (expire_time <= history->forgotten)
        return CW_ERROR_TOKEN_USED;
    token = add(history, now);
    if (!token)
        return CW_ERROR_HISTORY_FULL;
    token->expire_time = expire_time;
    memcpy(token->mac, mac, CW_MAC_BYTES);
    token->address = *address;
    token->consumed = false;
    cw_hash_index_add(&history->index, hash_of(mac), (uint32_t)(token - history->tokens));
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
