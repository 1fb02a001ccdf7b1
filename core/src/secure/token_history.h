/* Used connect tokens, remembered until they expire. Each may be used from one address only, and
   for one connection only. */
#ifndef CAUSEWAY_TOKEN_HISTORY_H
#define CAUSEWAY_TOKEN_HISTORY_H

#include "base/hash_index.h"

#include "causeway/crypto.h"
#include "causeway/error.h"

#include <stdbool.h>

struct cw_token_history {
    struct cw_used_token *tokens;
    uint32_t capacity;
    uint32_t used;       /* how many tokens from the front were ever in use */
    uint32_t first_free; /* in a list; CW_HASH_INDEX_NONE: empty */
    uint32_t hand;       /* the token to check next for expiry */
    uint64_t swept;      /* when all were last checked */
    uint64_t forgotten;  /* the latest expire time of the tokens that were forgotten */
    struct cw_hash_index index;
};

void cw_token_history_layout(struct cw_token_history *history, struct cw_arena *arena,
                             uint32_t capacity);

/* Notes that the token with this MAC is used from an address. Errors: CW_ERROR_TOKEN_USED when it
   was used from another address, has been consumed, or may have been forgotten (only after a clock
   was set back); CW_ERROR_HISTORY_FULL. Times are Unix seconds. */
enum cw_error cw_token_history_use(struct cw_token_history *history,
                                   const uint8_t mac[CW_MAC_BYTES],
                                   const struct cw_address *address, uint64_t expire_time,
                                   uint64_t now);

/* Marks the token so that nobody may use it again. False when it is not there because it has
   expired meanwhile. */
bool cw_token_history_consume(struct cw_token_history *history, const uint8_t mac[CW_MAC_BYTES]);

#endif
