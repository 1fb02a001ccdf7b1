/* Poly1305 of libsodium without its table of implementations; see chacha20.c. */
#include "crypto_onetimeauth/poly1305/donna/poly1305_donna.c"

int crypto_onetimeauth_poly1305_init(crypto_onetimeauth_poly1305_state *state,
                                     const unsigned char *key)
{
    return crypto_onetimeauth_poly1305_donna_init(state, key);
}

int crypto_onetimeauth_poly1305_update(crypto_onetimeauth_poly1305_state *state,
                                       const unsigned char *in, unsigned long long size)
{
    return crypto_onetimeauth_poly1305_donna_update(state, in, size);
}

int crypto_onetimeauth_poly1305_final(crypto_onetimeauth_poly1305_state *state, unsigned char *out)
{
    return crypto_onetimeauth_poly1305_donna_final(state, out);
}
