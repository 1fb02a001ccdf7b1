/* The history remembers used connect tokens until they expire. Each token may be used from one
   address only, and for one connection only. A client id has a share of the places, so that no
   account fills them. */
#ifndef CAUSEWAY_TOKEN_HISTORY_H
#define CAUSEWAY_TOKEN_HISTORY_H

#include "base/hash_index.h"

#include "causeway/base.h"
#include "netcode/crypto.h"

#include <stdbool.h>

/* The number of places of one client id, a 64th of the default of all. It needs more than one for
   tabs that are opened in the same second, as each has a token of its own and nothing tells which
   is the newest. */
#define CW_TOKEN_HISTORY_SHARE 16

struct cw_token_history {
    struct cw_used_token *tokens;
    uint32_t capacity;
    uint32_t used;       /* tokens from the front that were ever in use */
    uint32_t first_free; /* in a list; CW_HASH_INDEX_NONE: empty */
    uint32_t hand;       /* the token to check next for expiry */
    uint64_t swept;      /* when all were last checked */
    uint64_t forgotten;  /* the latest expire time of the tokens that were forgotten */
    uint64_t hash_seed;  /* by_id's */
    struct cw_hash_index by_mac, by_id;
};

void cw_token_history_layout(struct cw_token_history *history, struct cw_arena *arena,
                             uint32_t capacity);

/* Returns whether the token with this MAC is remembered. */
bool cw_token_history_has(const struct cw_token_history *history, const uint8_t mac[CW_MAC_BYTES]);

/* Notes that the token with this MAC and client id is used from an address. Errors:
   CW_ERROR_TOKEN_USED when it was used from another address, has been consumed, or may have been
   forgotten: after a clock was set back, or because later tokens have filled the share of its
   client id; CW_ERROR_HISTORY_FULL. Times are Unix seconds. */
enum cw_error cw_token_history_use(struct cw_token_history *history,
                                   const uint8_t mac[CW_MAC_BYTES], uint64_t client_id,
                                   const struct cw_address *address, uint64_t expire_time,
                                   uint64_t now);

/* Marks the token so that nobody may use it again. Returns false when it is not there, because it
   has expired or later tokens have taken its place. */
bool cw_token_history_consume(struct cw_token_history *history, const uint8_t mac[CW_MAC_BYTES]);

#endif
