#include "netcode/crypto.h"

#include <sodium.h>

_Static_assert(CW_KEY_BYTES == crypto_aead_chacha20poly1305_IETF_KEYBYTES, "key size");
_Static_assert(CW_MAC_BYTES == crypto_aead_chacha20poly1305_IETF_ABYTES, "MAC size");
_Static_assert(CW_NONCE_BYTES == crypto_aead_chacha20poly1305_IETF_NPUBBYTES, "nonce size");
_Static_assert(CW_LONG_NONCE_BYTES == crypto_aead_xchacha20poly1305_IETF_NPUBBYTES, "nonce size");

bool cw_crypto_init(void)
{
    return sodium_init() >= 0;
}

static bool complete(const struct cw_seal *seal)
{
    return seal && seal->key && seal->nonce && (seal->associated || seal->associated_size == 0);
}

void cw_crypto_seal(const struct cw_seal *seal, const uint8_t *plain, size_t size, uint8_t *out)
{
    if (!complete(seal) || !out || (!plain && size > 0))
        return;
    crypto_aead_chacha20poly1305_ietf_encrypt(out, NULL, plain, size, seal->associated,
                                              seal->associated_size, NULL, seal->nonce, seal->key);
}

bool cw_crypto_open(const struct cw_seal *seal, const uint8_t *sealed, size_t size, uint8_t *out)
{
    return complete(seal) && sealed &&
           crypto_aead_chacha20poly1305_ietf_decrypt(out, NULL, NULL, sealed, size,
                                                     seal->associated, seal->associated_size,
                                                     seal->nonce, seal->key) == 0;
}

void cw_crypto_seal_long(const struct cw_seal *seal, const uint8_t *plain, size_t size,
                         uint8_t *out)
{
    if (!complete(seal) || !out || (!plain && size > 0))
        return;
    crypto_aead_xchacha20poly1305_ietf_encrypt(out, NULL, plain, size, seal->associated,
                                               seal->associated_size, NULL, seal->nonce, seal->key);
}

bool cw_crypto_open_long(const struct cw_seal *seal, const uint8_t *sealed, size_t size,
                         uint8_t *out)
{
    return complete(seal) && sealed &&
           crypto_aead_xchacha20poly1305_ietf_decrypt(out, NULL, NULL, sealed, size,
                                                      seal->associated, seal->associated_size,
                                                      seal->nonce, seal->key) == 0;
}

void cw_crypto_wipe(void *memory, size_t size)
{
    if (memory)
        sodium_memzero(memory, size);
}

bool cw_crypto_is_zero(const uint8_t *data, size_t size)
{
    return !data || sodium_is_zero(data, size) == 1;
}

void cw_random_fill(const struct cw_random *random, uint8_t *out, size_t size)
{
    if (!out)
        return;
    if (random && random->fill)
        random->fill(random->context, out, size);
    else
        randombytes_buf(out, size);
}
