/* ChaCha20 of libsodium without its table of implementations, from which it chooses at run time:
   here is only one, and a table would keep functions in the module that nobody calls. The sizes are
   those of packets and tokens, far below its limits. */
#include "crypto_stream/chacha20/ref/chacha20_ref.c"

#include "crypto_stream_chacha20.h"
#include "private/chacha20_ietf_ext.h"

int crypto_stream_chacha20(unsigned char *out, unsigned long long size, const unsigned char *nonce,
                           const unsigned char *key)
{
    return stream_ref(out, size, nonce, key);
}

int crypto_stream_chacha20_xor_ic(unsigned char *out, const unsigned char *in,
                                  unsigned long long size, const unsigned char *nonce,
                                  uint64_t counter, const unsigned char *key)
{
    return stream_ref_xor_ic(out, in, size, nonce, counter, key);
}

int crypto_stream_chacha20_ietf_ext(unsigned char *out, unsigned long long size,
                                    const unsigned char *nonce, const unsigned char *key)
{
    return stream_ietf_ext_ref(out, size, nonce, key);
}

int crypto_stream_chacha20_ietf_ext_xor_ic(unsigned char *out, const unsigned char *in,
                                           unsigned long long size, const unsigned char *nonce,
                                           uint32_t counter, const unsigned char *key)
{
    return stream_ietf_ext_ref_xor_ic(out, in, size, nonce, counter, key);
}

int crypto_stream_chacha20_ietf(unsigned char *out, unsigned long long size,
                                const unsigned char *nonce, const unsigned char *key)
{
    return stream_ietf_ext_ref(out, size, nonce, key);
}

int crypto_stream_chacha20_ietf_xor_ic(unsigned char *out, const unsigned char *in,
                                       unsigned long long size, const unsigned char *nonce,
                                       uint32_t counter, const unsigned char *key)
{
    return stream_ietf_ext_ref_xor_ic(out, in, size, nonce, counter, key);
}
