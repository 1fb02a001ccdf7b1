/* The ciphers against the published vectors of RFC 8439 and of the XChaCha draft, and their
   refusals. */
#include "fixture.h"
#include "netcode.h"

static const char plain[] =
    "Ladies and Gentlemen of the class of '99: If I could offer you only one "
    "tip for the future, sunscreen would be it.";
#define PLAIN_SIZE (sizeof(plain) - 1)

static const uint8_t associated[12] = {0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1,
                                       0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7};

static const char sealed_rfc[] =
    "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da9272"
    "8b"
    "1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7"
    "bc"
    "3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691";
static const char sealed_draft[] =
    "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e"
    "39"
    "ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3ff"
    "f9"
    "21f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49";

static void counting(uint8_t *out, size_t size, unsigned first)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(first + i);
}

static uint8_t *from_hex(const char *text, size_t *size)
{
    cJSON *item = cJSON_CreateString(text);
    uint8_t *bytes = vectors_bytes(item, size);
    cJSON_Delete(item);
    return bytes;
}

typedef void seal_function(const struct cw_seal *, const uint8_t *, size_t, uint8_t *);
typedef bool open_function(const struct cw_seal *, const uint8_t *, size_t, uint8_t *);

static void check_vector(const char *sealed, uint8_t *nonce, seal_function *seal,
                         open_function *open)
{
    uint8_t key[CW_KEY_BYTES], opened[PLAIN_SIZE];
    counting(key, sizeof(key), 0x80);
    const struct cw_seal with = {.key = key,
                                 .nonce = nonce,
                                 .associated = associated,
                                 .associated_size = sizeof(associated)};
    size_t size;
    uint8_t *expected = from_hex(sealed, &size);
    assert_int_equal(size, PLAIN_SIZE + CW_MAC_BYTES);
    uint8_t *out = malloc(size);
    seal(&with, (const uint8_t *)plain, PLAIN_SIZE, out);
    assert_memory_equal(out, expected, size);
    assert_true(open(&with, expected, size, opened));
    assert_memory_equal(opened, plain, PLAIN_SIZE);
    free(out);
    free(expected);
}

TEST(chacha_vector)
{
    uint8_t nonce[CW_NONCE_BYTES] = {7};
    counting(nonce + 4, 8, 0x40);
    check_vector(sealed_rfc, nonce, cw_crypto_seal, cw_crypto_open);
}

TEST(xchacha_vector)
{
    uint8_t nonce[CW_LONG_NONCE_BYTES];
    counting(nonce, sizeof(nonce), 0x40);
    check_vector(sealed_draft, nonce, cw_crypto_seal_long, cw_crypto_open_long);
}

TEST(in_place)
{
    const uint8_t key[CW_KEY_BYTES] = {1}, nonce[CW_LONG_NONCE_BYTES] = {2};
    uint8_t *block = malloc(PLAIN_SIZE + CW_MAC_BYTES);
    uint8_t apart[PLAIN_SIZE + CW_MAC_BYTES];
    memcpy(block, plain, PLAIN_SIZE);
    cw_crypto_seal(&(struct cw_seal){.key = key, .nonce = nonce}, block, PLAIN_SIZE, block);
    cw_crypto_seal(&(struct cw_seal){.key = key, .nonce = nonce}, (const uint8_t *)plain,
                   PLAIN_SIZE, apart);
    assert_memory_equal(block, apart, sizeof(apart));
    assert_true(
        cw_crypto_open(&(struct cw_seal){.key = key, .nonce = nonce}, block, sizeof(apart), block));
    assert_memory_equal(block, plain, PLAIN_SIZE);
    cw_crypto_seal_long(&(struct cw_seal){.key = key, .nonce = nonce}, block, PLAIN_SIZE, block);
    assert_true(cw_crypto_open_long(&(struct cw_seal){.key = key, .nonce = nonce}, block,
                                    sizeof(apart), block));
    assert_memory_equal(block, plain, PLAIN_SIZE);
    free(block);
}

TEST(empty)
{
    const uint8_t key[CW_KEY_BYTES] = {1}, nonce[CW_NONCE_BYTES] = {2};
    uint8_t mac[CW_MAC_BYTES], nothing;
    cw_crypto_seal(&(struct cw_seal){.key = key, .nonce = nonce}, NULL, 0, mac);
    assert_true(
        cw_crypto_open(&(struct cw_seal){.key = key, .nonce = nonce}, mac, sizeof(mac), &nothing));
    assert_false(cw_crypto_open(&(struct cw_seal){.key = key, .nonce = nonce}, mac, sizeof(mac) - 1,
                                &nothing));
    assert_false(cw_crypto_open(&(struct cw_seal){.key = key, .nonce = nonce}, mac, 0, &nothing));
}

/* Each bit of what was sealed, of the associated bytes, of the nonce and of the key. */
TEST(every_bit_counts)
{
    struct {
        uint8_t sealed[40 + CW_MAC_BYTES], associated[12], nonce[CW_LONG_NONCE_BYTES],
            key[CW_KEY_BYTES];
    } it = {.nonce = {5}, .key = {6}}, changed;
    const size_t nonce_at = sizeof(it.sealed) + sizeof(it.associated);
    uint8_t out[40];
    for (int longer = 0; longer < 2; longer++) {
        const size_t nonce_size = longer ? CW_LONG_NONCE_BYTES : CW_NONCE_BYTES;
        if (longer)
            cw_crypto_seal_long(&(struct cw_seal){.key = it.key,
                                                  .nonce = it.nonce,
                                                  .associated = it.associated,
                                                  .associated_size = 12},
                                (const uint8_t *)plain, 40, it.sealed);
        else
            cw_crypto_seal(&(struct cw_seal){.key = it.key,
                                             .nonce = it.nonce,
                                             .associated = it.associated,
                                             .associated_size = 12},
                           (const uint8_t *)plain, 40, it.sealed);
        for (size_t bit = 0; bit < 8 * sizeof(it); bit++) {
            changed = it;
            ((uint8_t *)&changed)[bit / 8] ^= (uint8_t)(1u << bit % 8);
            const bool beyond_nonce =
                bit / 8 >= nonce_at + nonce_size && bit / 8 < sizeof(it) - CW_KEY_BYTES;
            const bool opened =
                longer ? cw_crypto_open_long(&(struct cw_seal){.key = changed.key,
                                                               .nonce = changed.nonce,
                                                               .associated = changed.associated,
                                                               .associated_size = 12},
                                             changed.sealed, 56, out)
                       : cw_crypto_open(&(struct cw_seal){.key = changed.key,
                                                          .nonce = changed.nonce,
                                                          .associated = changed.associated,
                                                          .associated_size = 12},
                                        changed.sealed, 56, out);
            assert_int_equal(opened, beyond_nonce);
        }
    }
}

TEST(check_only)
{
    const uint8_t key[CW_KEY_BYTES] = {1}, nonce[CW_NONCE_BYTES] = {2};
    uint8_t block[PLAIN_SIZE + CW_MAC_BYTES];
    cw_crypto_seal(&(struct cw_seal){.key = key, .nonce = nonce}, (const uint8_t *)plain,
                   PLAIN_SIZE, block);
    assert_true(
        cw_crypto_open(&(struct cw_seal){.key = key, .nonce = nonce}, block, sizeof(block), NULL));
    block[3] ^= 1;
    assert_false(
        cw_crypto_open(&(struct cw_seal){.key = key, .nonce = nonce}, block, sizeof(block), NULL));
}

TEST(wiped_memory_is_zero)
{
    uint8_t a[9] = "12345678";
    cw_crypto_wipe(a, 8);
    const uint8_t zero[9] = {0};
    assert_memory_equal(a, zero, 9);
    assert_true(cw_crypto_is_zero(zero, 9));
    assert_true(cw_crypto_is_zero(a + 9, 0));
    assert_true(cw_crypto_is_zero(a, 8));
    a[8] = 1;
    assert_false(cw_crypto_is_zero(a, 9));
}

TEST(random_bytes)
{
    assert_true(cw_crypto_init());
    uint8_t a[32] = {0}, b[32] = {0};
    const struct cw_random os = {0};
    cw_random_fill(&os, a, sizeof(a));
    cw_random_fill(&os, b, sizeof(b));
    assert_memory_not_equal(a, b, sizeof(a));
    uint64_t one = 7, two = 7;
    cw_random_fill(&(struct cw_random){netcode_fill, &one}, a, sizeof(a));
    cw_random_fill(&(struct cw_random){netcode_fill, &two}, b, sizeof(b));
    assert_memory_equal(a, b, sizeof(a));
}
