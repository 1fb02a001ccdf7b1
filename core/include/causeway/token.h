/* This header has the connect tokens of netcode 1.02, and the keys that they are made with. A web
   backend makes a connect token for a player it knows, and the player's client connects with it.
   The game server needs only the private key that it shares with the backend. */
#ifndef CAUSEWAY_TOKEN_H
#define CAUSEWAY_TOKEN_H

#include "causeway/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

#define CW_KEY_BYTES           32
#define CW_TOKEN_SIZE          2048 /* a whole connect token */
#define CW_TOKEN_PRIVATE_SIZE  1024 /* its encrypted part, MAC included */
#define CW_LONG_NONCE_BYTES    24   /* its nonce */
#define CW_TOKEN_MAX_ADDRESSES 32
#define CW_USER_DATA_SIZE      256

/* This is a connect token as its client sees it. */
struct cw_token {
    uint64_t protocol_id; /* the application's; servers accept only their own */
    uint64_t create_time; /* Unix seconds */
    uint64_t expire_time; /* Unix seconds; no server accepts the token from then on */
    uint8_t nonce[CW_LONG_NONCE_BYTES];
    uint8_t sealed[CW_TOKEN_PRIVATE_SIZE]; /* the private part, encrypted */
    int32_t timeout_seconds;
    uint32_t address_count;
    struct cw_address addresses[CW_TOKEN_MAX_ADDRESSES]; /* the servers to try, in this order */
    uint8_t client_to_server_key[CW_KEY_BYTES];
    uint8_t server_to_client_key[CW_KEY_BYTES];
    uint64_t fingerprint; /* the fingerprint of the token's schema; 0: none */
};

/* Reads a private key from its text, the form that causeway-token prints and configuration files
   hold: exactly 2 * CW_KEY_BYTES hexadecimal digits, for example
   cw_key_parse(getenv("CAUSEWAY_KEY"), config.private_key). Returns CW_ERROR_KEY for any other text
   and for NULL. */
enum cw_error cw_key_parse(const char *text, uint8_t key[CW_KEY_BYTES]);

/* These are the backend's decisions about a token. */
struct cw_token_grant {
    uint64_t protocol_id; /* the servers' protocol id, any number; default 0 */
    uint64_t client_id;   /* any number; default 0 */
    uint64_t create_time; /* Unix seconds: now; no default */
    /* Unix milliseconds: now. With it, a server that has just been started takes the token at once.
       It stands in the private part, where other servers do not look. Default 0: not told. */
    uint64_t create_milliseconds;
    uint32_t life_seconds;              /* 1 or more; default 45 */
    int32_t timeout_seconds;            /* 0 and below: never; default 15 */
    uint32_t address_count;             /* 1 to CW_TOKEN_MAX_ADDRESSES; no default */
    const struct cw_address *addresses; /* the servers' addresses for the client */
    /* The same servers, in any order, by the addresses in their own configs; NULL when those are
       the same. */
    uint32_t server_address_count;
    const struct cw_address *server_addresses;
    uint8_t user_data[CW_USER_DATA_SIZE];
    /* The fingerprint of the schema that the client must have; default 0: none. A fingerprint uses
       the last 16 bytes of user_data. A client or server with another schema then refuses the
       connection. */
    uint64_t fingerprint;
    struct cw_random random; /* zero: the operating system's */
};

struct cw_token_grant cw_token_grant_default(void);

/* Makes a token with new random keys: CW_TOKEN_SIZE bytes, for the client and no one else.
   private_key is the key shared with the servers. Errors: CW_ERROR_TOKEN_ADDRESSES (none, too many,
   or an invalid one), CW_ERROR_TOKEN_TIMES (a life of 0, or an end beyond 64 bits),
   CW_ERROR_USER_DATA (its last 16 bytes are in use although there is a fingerprint), CW_ERROR_KEY
   (the private key, or one made by the grant's random, is all zero), CW_ERROR_NO_RANDOM. */
enum cw_error cw_token_generate(const struct cw_token_grant *grant,
                                const uint8_t private_key[CW_KEY_BYTES],
                                uint8_t out[CW_TOKEN_SIZE]);

/* For development, INSECURE: makes a token without a backend and without a secret. Everybody can
   make one, in the name of any player, because its private key is the text below. Only a server
   whose config says `insecure` takes it. Parameters and errors are those of cw_token_generate. */
#define CW_TOKEN_INSECURE_KEY "insecure, for development only!!"
enum cw_error cw_token_insecure(const struct cw_token_grant *grant, uint8_t out[CW_TOKEN_SIZE]);

/* Parses a token and checks everything that a client can check without a clock. Errors:
   CW_ERROR_TOKEN_SIZE, CW_ERROR_VERSION, CW_ERROR_TOKEN_TIMES (it expires before it is made),
   CW_ERROR_TOKEN_ADDRESSES, CW_ERROR_KEY (a key is all zero). The token holds keys: wipe it after
   use. */
enum cw_error cw_token_read(const uint8_t *data, size_t size, struct cw_token *token);

/* Returns the id of the token with this MAC, which is the last 16 bytes of `sealed`, in cw_token
   and in cw_request: its first 8 bytes, as a big-endian number. Logs write it as 16 hexadecimal
   digits (PRIx64): those of page, relay, game server and backend, where a player is found by it. It
   is random, says nothing of the player, and lets nobody connect. Returns 0 for NULL. */
uint64_t cw_token_id(const uint8_t mac[16]);

/* The bytes of user data that the application can use when there is a fingerprint. The other 16
   hold a mark and the fingerprint. */
#define CW_USER_DATA_FREE_SIZE 240

CW_END_DECLARATIONS

#endif
