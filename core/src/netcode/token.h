/* This header has the parts of connect tokens that only backends and servers see, and challenge
   tokens. */
#ifndef CAUSEWAY_NETCODE_TOKEN_H
#define CAUSEWAY_NETCODE_TOKEN_H

#include "causeway/token.h"

#include <stdbool.h>

#define CW_CHALLENGE_TOKEN_SIZE 300

/* All tokens and requests name this version: 12 characters and a zero. */
#define CW_NETCODE_VERSION      "NETCODE 1.02"
#define CW_NETCODE_VERSION_SIZE 13

/* Only the backend and the server can read this part of a token. */
struct cw_token_private {
    uint64_t client_id;      /* the player's number, which the backend chooses */
    int32_t timeout_seconds; /* the connection ends after this long without a packet; 0 and below:
                                never, for debugging only */
    uint32_t address_count;  /* 1 to CW_TOKEN_MAX_ADDRESSES */
    struct cw_address addresses[CW_TOKEN_MAX_ADDRESSES]; /* the addresses in the servers' configs */
    uint8_t client_to_server_key[CW_KEY_BYTES];
    uint8_t server_to_client_key[CW_KEY_BYTES];
    uint8_t user_data[CW_USER_DATA_SIZE]; /* bytes from the backend to the server's application */
    uint64_t create_milliseconds; /* Unix milliseconds when it was made; 0: it does not say */
};

/* Does the opposite of read. Errors: CW_ERROR_TOKEN_TIMES, CW_ERROR_TOKEN_ADDRESSES. */
enum cw_error cw_token_write(const struct cw_token *token, uint8_t out[CW_TOKEN_SIZE]);

/* Encrypts the private part. Errors: CW_ERROR_TOKEN_ADDRESSES. */
enum cw_error cw_token_seal(const struct cw_token_private *token, uint64_t protocol_id,
                            uint64_t expire_time, const uint8_t nonce[CW_LONG_NONCE_BYTES],
                            const uint8_t private_key[CW_KEY_BYTES],
                            uint8_t out[CW_TOKEN_PRIVATE_SIZE]);

/* Decrypts and parses the private part. Errors: CW_ERROR_NOT_AUTHENTIC when anything differs from
   what was sealed with this key; CW_ERROR_TOKEN_ADDRESSES. The token holds keys: wipe it after
   use. */
enum cw_error cw_token_open(const uint8_t sealed[CW_TOKEN_PRIVATE_SIZE], uint64_t protocol_id,
                            uint64_t expire_time, const uint8_t nonce[CW_LONG_NONCE_BYTES],
                            const uint8_t private_key[CW_KEY_BYTES],
                            struct cw_token_private *token);

/* A server gives a challenge token to a client, which hands it back to prove that it can be reached
   at its address. */
struct cw_challenge_token {
    uint64_t client_id;
    uint8_t user_data[CW_USER_DATA_SIZE];
};

/* Encrypts a challenge token. sequence must never be used twice with one key. */
void cw_challenge_token_seal(const struct cw_challenge_token *token, uint64_t sequence,
                             const uint8_t key[CW_KEY_BYTES], uint8_t out[CW_CHALLENGE_TOKEN_SIZE]);

/* Decrypts a challenge token. Returns false when anything differs from what was sealed. */
bool cw_challenge_token_open(const uint8_t sealed[CW_CHALLENGE_TOKEN_SIZE], uint64_t sequence,
                             const uint8_t key[CW_KEY_BYTES], struct cw_challenge_token *token);

/* Puts a schema's fingerprint at the end of the user data; 0 clears those bytes. */
void cw_user_data_set_fingerprint(uint8_t user_data[CW_USER_DATA_SIZE], uint64_t fingerprint);

/* Returns the fingerprint in the user data, or 0 when there is none, as in tokens of other
   backends. */
uint64_t cw_user_data_fingerprint(const uint8_t user_data[CW_USER_DATA_SIZE]);

#endif
