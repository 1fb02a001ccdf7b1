/* This header hides libsodium, which gives authenticated encryption and random bytes. There are two
   ciphers, both with 32-byte keys and 16-byte MACs. Packets use ChaCha20-Poly1305-IETF (RFC 8439),
   and their nonces are counters. Tokens use XChaCha20-Poly1305-IETF, and their nonces are
   random. */
#ifndef CAUSEWAY_CRYPTO_H
#define CAUSEWAY_CRYPTO_H

#include "causeway/token.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CW_MAC_BYTES   16
#define CW_NONCE_BYTES 12

/* Lets libsodium choose the fastest code for this machine. It may be called any number of times,
   from any thread. The create and generate functions of netcode call it; without it the
   functions below work, but more slowly. Returns false when the machine has no source of random
   bytes. */
bool cw_crypto_init(void);

/* A seal has a key and a nonce, and other data that it covers. */
struct cw_seal {
    const uint8_t *key;   /* CW_KEY_BYTES */
    const uint8_t *nonce; /* CW_NONCE_BYTES, or CW_LONG_NONCE_BYTES for the functions that end in
                             _long; must never be used twice with one key */
    const uint8_t *associated; /* bytes that the MAC also covers and that are not sent; NULL:
                                  none */
    size_t associated_size;
};

/* Encrypts size bytes of plain and writes size + CW_MAC_BYTES bytes to out. plain may be out
   itself; otherwise the two must not overlap. plain may be NULL when size is 0. */
void cw_crypto_seal(const struct cw_seal *seal, const uint8_t *plain, size_t size, uint8_t *out);

/* Checks and decrypts size bytes, MAC included, and writes size - CW_MAC_BYTES bytes to out. sealed
   may be out itself; otherwise the two must not overlap. When out is NULL it only checks. Returns
   false when anything differs from what was sealed, or when size is less than CW_MAC_BYTES; do not
   use the content of out then. */
bool cw_crypto_open(const struct cw_seal *seal, const uint8_t *sealed, size_t size, uint8_t *out);

/* These two do the same with XChaCha20-Poly1305-IETF. */
void cw_crypto_seal_long(const struct cw_seal *seal, const uint8_t *plain, size_t size,
                         uint8_t *out);
bool cw_crypto_open_long(const struct cw_seal *seal, const uint8_t *sealed, size_t size,
                         uint8_t *out);

/* Fills memory with zeros in a way that the compiler cannot optimize away. */
void cw_crypto_wipe(void *memory, size_t size);

/* Returns whether all bytes are zero, as in a key that was never set. It takes constant time. */
bool cw_crypto_is_zero(const uint8_t *data, size_t size);

/* Fills out with size random bytes from the source. */
void cw_random_fill(const struct cw_random *random, uint8_t *out, size_t size);

#endif
