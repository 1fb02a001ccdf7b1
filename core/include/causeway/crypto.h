/* Authenticated encryption and random bytes: libsodium behind one small header. Two ciphers, both
   of 32-byte keys and 16-byte MACs: ChaCha20-Poly1305-IETF (RFC 8439) for packets, whose nonces are
   counters, and XChaCha20-Poly1305-IETF for tokens, whose nonces are random. */
#ifndef CAUSEWAY_CRYPTO_H
#define CAUSEWAY_CRYPTO_H

#include "causeway/linkage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

#define CW_KEY_BYTES        32
#define CW_MAC_BYTES        16
#define CW_NONCE_BYTES      12
#define CW_LONG_NONCE_BYTES 24

/* Lets libsodium choose the fastest code for this machine. May be called any number of times, from
   any thread. Every create and generate function of the secure rooms calls it, so only a program
   that uses the functions below directly has to. Without it they work, but more slowly. False when
   the machine has no source of random bytes. */
bool cw_crypto_init(void);

/* What seals bytes, and what the seal covers besides them. */
struct cw_seal {
    const uint8_t *key;   /* CW_KEY_BYTES */
    const uint8_t *nonce; /* CW_NONCE_BYTES, or CW_LONG_NONCE_BYTES for the functions that end in
                             _long; never used twice with one key */
    const uint8_t *associated; /* bytes that the MAC covers too, and that are not sent; NULL:
                                  none */
    size_t associated_size;
};

/* Encrypts size bytes of plain and puts size + CW_MAC_BYTES bytes into out. plain may be out
   itself; otherwise the two must not overlap. plain may be NULL when size is 0. */
void cw_crypto_seal(const struct cw_seal *seal, const uint8_t *plain, size_t size, uint8_t *out);

/* Checks and decrypts size bytes (MAC included) into out, which takes size - CW_MAC_BYTES bytes.
   sealed may be out itself; otherwise the two must not overlap. With out NULL it checks only. False
   when anything differs from what was sealed, or size is less than CW_MAC_BYTES: the content of out
   is then of no use. */
bool cw_crypto_open(const struct cw_seal *seal, const uint8_t *sealed, size_t size, uint8_t *out);

/* The same with XChaCha20-Poly1305-IETF. */
void cw_crypto_seal_long(const struct cw_seal *seal, const uint8_t *plain, size_t size,
                         uint8_t *out);
bool cw_crypto_open_long(const struct cw_seal *seal, const uint8_t *sealed, size_t size,
                         uint8_t *out);

/* Fills memory with zeros in a way that the compiler does not leave out. */
void cw_crypto_wipe(void *memory, size_t size);

/* Compares in a time that does not depend on where the two differ. */
bool cw_crypto_equal(const void *a, const void *b, size_t size);

/* Whether all bytes are zero, as those of a key that was never set are; the time does not depend on
   them. */
bool cw_crypto_is_zero(const void *memory, size_t size);

/* A source of random bytes. All zero means the operating system's. Another one makes a run that can
   be repeated; it must not be used where an attacker could guess it. */
struct cw_random {
    void (*fill)(void *context, uint8_t *out, size_t size);
    void *context;
};

/* size random bytes from the source. */
void cw_random_fill(const struct cw_random *random, uint8_t *out, size_t size);

CW_END_DECLARATIONS

#endif
