#include "causeway/crypto.h"

#include <sodium.h>

_Static_assert(CW_KEY_BYTES == crypto_aead_chacha20poly1305_IETF_KEYBYTES, "key size");
_Static_assert(CW_MAC_BYTES == crypto_aead_chacha20poly1305_IETF_ABYTES, "MAC size");
_Static_assert(CW_NONCE_BYTES == crypto_aead_chacha20poly1305_IETF_NPUBBYTES, "nonce size");
_Static_assert(CW_LONG_NONCE_BYTES == crypto_aead_xchacha20poly1305_IETF_NPUBBYTES, "nonce size");

bool cw_crypto_init(void)
{
    return sodium_init() >= 0;
}

void cw_crypto_seal(uint8_t *out, const void *plain, size_t size, const void *associated,
                    size_t associated_size, const uint8_t nonce[CW_NONCE_BYTES],
                    const uint8_t key[CW_KEY_BYTES])
{
    if (!out || (!plain && size > 0) || !nonce || !key)
        return;
    crypto_aead_chacha20poly1305_ietf_encrypt(out, NULL, plain, size, associated, associated_size,
                                              NULL, nonce, key);
}

bool cw_crypto_open(uint8_t *out, const void *sealed, size_t size, const void *associated,
                    size_t associated_size, const uint8_t nonce[CW_NONCE_BYTES],
                    const uint8_t key[CW_KEY_BYTES])
{
    return sealed && nonce && key &&
           crypto_aead_chacha20poly1305_ietf_decrypt(out, NULL, NULL, sealed, size, associated,
                                                     associated_size, nonce, key) == 0;
}

void cw_crypto_seal_long(uint8_t *out, const void *plain, size_t size, const void *associated,
                         size_t associated_size, const uint8_t nonce[CW_LONG_NONCE_BYTES],
                         const uint8_t key[CW_KEY_BYTES])
{
    if (!out || (!plain && size > 0) || !nonce || !key)
        return;
    crypto_aead_xchacha20poly1305_ietf_encrypt(out, NULL, plain, size, associated, associated_size,
                                               NULL, nonce, key);
}

bool cw_crypto_open_long(uint8_t *out, const void *sealed, size_t size, const void *associated,
                         size_t associated_size, const uint8_t nonce[CW_LONG_NONCE_BYTES],
                         const uint8_t key[CW_KEY_BYTES])
{
    return sealed && nonce && key &&
           crypto_aead_xchacha20poly1305_ietf_decrypt(out, NULL, NULL, sealed, size, associated,
                                                      associated_size, nonce, key) == 0;
}

void cw_crypto_wipe(void *memory, size_t size)
{
    if (memory)
        sodium_memzero(memory, size);
}

bool cw_crypto_equal(const void *a, const void *b, size_t size)
{
    return a && b && sodium_memcmp(a, b, size) == 0;
}

bool cw_crypto_is_zero(const void *memory, size_t size)
{
    return !memory || sodium_is_zero(memory, size) == 1;
}

void cw_random_fill(const struct cw_random *random, void *out, size_t size)
{
    if (!out)
        return;
    if (random && random->fill)
        random->fill(random->context, out, size);
    else
        randombytes_buf(out, size);
}
