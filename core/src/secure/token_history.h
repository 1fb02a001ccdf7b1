/* Connect tokens that were used, remembered until they expire: each from one address, and each for
   one connection. */
#ifndef CAUSEWAY_TOKEN_HISTORY_H
#define CAUSEWAY_TOKEN_HISTORY_H

#include "base/hash_index.h"

#include "causeway/crypto.h"
#include "causeway/error.h"

#include <stdbool.h>

struct cw_token_history {
    struct cw_used_token *tokens;
    uint32_t capacity;
    uint32_t used;       /* tokens from the front that were ever in use */
    uint32_t first_free; /* in a list; CW_HASH_INDEX_NONE: empty */
    uint32_t hand;       /* the token to look at next for whether it has expired */
    uint64_t swept;      /* when all were looked at last */
    uint64_t forgotten;  /* the latest end of those that were in use and are no more */
    struct cw_hash_index index;
};

void cw_token_history_layout(struct cw_token_history *history, struct cw_arena *arena,
                             uint32_t capacity);

/* Notes that the token with this MAC is used from an address. Errors: CW_ERROR_TOKEN_USED from
   another address, when it has been consumed, or when it may have been forgotten, which only a
   clock that was set back can make happen; CW_ERROR_HISTORY_FULL. Times are Unix seconds. */
enum cw_error cw_token_history_use(struct cw_token_history *history,
                                   const uint8_t mac[CW_MAC_BYTES],
                                   const struct cw_address *address, uint64_t expire_time,
                                   uint64_t now);

/* From now on nobody may use the token. False when it is not there: it has expired meanwhile. */
bool cw_token_history_consume(struct cw_token_history *history, const uint8_t mac[CW_MAC_BYTES]);

#endif
