/* Connect tokens and challenge tokens: shared vectors, golden bytes, refusals. */
#include "golden.h"
#include "netcode.h"
#include "owned.h"

static const uint8_t private_key[CW_KEY_BYTES] = {9, 8, 7};

static struct cw_address address_of(const char *text)
{
    struct cw_address address;
    assert_ok(cw_address_parse(text, &address));
    return address;
}

/* Fills a result with a mark, which expect_untouched finds again. */
static void mark(void *result, size_t size)
{
    memset(result, 0x77, size);
}

static void expect_untouched(const void *result, size_t size)
{
    for (size_t i = 0; i < size; i++)
        assert_int_equal(((const uint8_t *)result)[i], 0x77);
}

/* Reads from a block of exactly the size. */
static enum cw_error read_exact(struct cw_token *token, const uint8_t *bytes, size_t size)
{
    uint8_t *copy = netcode_exact(bytes, size);
    const enum cw_error error = cw_token_read(copy, size, token);
    free(copy);
    return error;
}

static enum cw_error open_exact(struct cw_token_private *token, const struct cw_token *from,
                                const uint8_t *key)
{
    uint8_t *copy = netcode_exact(from->sealed, sizeof(from->sealed));
    const enum cw_error error =
        cw_token_open(copy, from->protocol_id, from->expire_time, from->nonce, key, token);
    free(copy);
    return error;
}

static uint32_t addresses_of(struct cw_address *addresses, const cJSON *list)
{
    uint32_t count = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, list) addresses[count++] = netcode_address(item);
    return count;
}

TEST(shared_connect_tokens)
{
    cJSON *json = vectors_load("netcode.json");
    if (!json)
        skip();
    const cJSON *item;
    int count = 0;
    cJSON_ArrayForEach(item, vectors_get(json, "connect_tokens"))
    {
        struct cw_token outer = {
            .protocol_id = netcode_u64(item, "protocol_id"),
            .create_time = netcode_u64(item, "create_timestamp"),
            .expire_time = netcode_u64(item, "expire_timestamp"),
            .timeout_seconds = (int32_t)vectors_int(item, "timeout_seconds"),
        };
        struct cw_token_private inner = {
            .client_id = netcode_u64(item, "client_id"),
            .timeout_seconds = outer.timeout_seconds,
        };
        uint8_t key[CW_KEY_BYTES];
        netcode_bytes(key, CW_KEY_BYTES, item, "private_key");
        netcode_bytes(outer.nonce, CW_LONG_NONCE_BYTES, item, "nonce");
        netcode_bytes(inner.user_data, CW_USER_DATA_SIZE, item, "user_data");
        netcode_bytes(inner.client_to_server_key, CW_KEY_BYTES, item, "client_to_server_key");
        netcode_bytes(inner.server_to_client_key, CW_KEY_BYTES, item, "server_to_client_key");
        memcpy(outer.client_to_server_key, inner.client_to_server_key, CW_KEY_BYTES);
        memcpy(outer.server_to_client_key, inner.server_to_client_key, CW_KEY_BYTES);
        outer.address_count =
            addresses_of(outer.addresses, vectors_get(item, "public_server_addresses"));
        inner.address_count =
            addresses_of(inner.addresses, vectors_get(item, "private_server_addresses"));

        uint8_t sealed[CW_TOKEN_PRIVATE_SIZE], expected[CW_TOKEN_SIZE], written[CW_TOKEN_SIZE];
        netcode_bytes(sealed, sizeof(sealed), item, "private_encrypted");
        assert_ok(cw_token_seal(&inner, outer.protocol_id, outer.expire_time, outer.nonce, key,
                                outer.sealed));
        assert_memory_equal(outer.sealed, sealed, sizeof(sealed));
        netcode_bytes(expected, sizeof(expected), item, "connect_token");
        assert_ok(cw_token_write(&outer, written));
        assert_memory_equal(written, expected, sizeof(expected));

        struct cw_token outer_read;
        assert_ok(read_exact(&outer_read, expected, sizeof(expected)));
        assert_ok(cw_token_write(&outer_read, written));
        assert_memory_equal(written, expected, sizeof(expected));
        struct cw_token_private inner_read;
        assert_ok(open_exact(&inner_read, &outer_read, key));
        assert_ok(cw_token_seal(&inner_read, outer.protocol_id, outer.expire_time, outer.nonce, key,
                                outer_read.sealed));
        assert_memory_equal(outer_read.sealed, sealed, sizeof(sealed));
        count++;
    }
    assert_int_equal(count, 11);
    cJSON_Delete(json);
}

TEST(shared_invalid_tokens)
{
    cJSON *json = vectors_load("netcode.json");
    if (!json)
        skip();
    static const enum cw_error errors[] = {CW_OK,
                                           CW_ERROR_TOKEN_SIZE,
                                           CW_ERROR_VERSION,
                                           CW_ERROR_TOKEN_TIMES,
                                           CW_ERROR_TOKEN_ADDRESSES,
                                           CW_ERROR_TOKEN_ADDRESSES};
    const cJSON *item;
    int count = 0;
    cJSON_ArrayForEach(item, vectors_get(json, "invalid_tokens"))
    {
        size_t size;
        uint8_t *bytes = vectors_bytes(vectors_get(item, "token"), &size);
        struct cw_token token;
        mark(&token, sizeof(token));
        const int rule = cJSON_GetStringValue(vectors_get(item, "rule"))[1] - '0';
        assert_int_equal(cw_token_read(bytes, size, &token), errors[rule]);
        expect_untouched(&token, sizeof(token));
        free(bytes);
        count++;
    }
    assert_int_equal(count, 15);
    cJSON_Delete(json);
}

TEST(shared_challenge_tokens)
{
    cJSON *json = vectors_load("netcode.json");
    if (!json)
        skip();
    const cJSON *item;
    int count = 0;
    cJSON_ArrayForEach(item, vectors_get(json, "challenge_tokens"))
    {
        struct cw_challenge_token token = {.client_id = netcode_u64(item, "client_id")}, opened;
        uint8_t key[CW_KEY_BYTES], expected[CW_CHALLENGE_TOKEN_SIZE], out[CW_CHALLENGE_TOKEN_SIZE];
        netcode_bytes(key, CW_KEY_BYTES, item, "key");
        netcode_bytes(token.user_data, CW_USER_DATA_SIZE, item, "user_data");
        netcode_bytes(expected, sizeof(expected), item, "encrypted");
        const uint64_t sequence = netcode_u64(item, "sequence");
        cw_challenge_token_seal(&token, sequence, key, out);
        assert_memory_equal(out, expected, sizeof(out));
        assert_true(cw_challenge_token_open(expected, sequence, key, &opened));
        assert_true(opened.client_id == token.client_id);
        assert_memory_equal(opened.user_data, token.user_data, CW_USER_DATA_SIZE);
        mark(&opened, sizeof(opened));
        assert_false(cw_challenge_token_open(expected, sequence + 1, key, &opened));
        expect_untouched(&opened, sizeof(opened));
        count++;
    }
    assert_int_equal(count, 8);
    cJSON_Delete(json);
}

static struct cw_token_grant a_grant(const struct cw_address *addresses, uint32_t count,
                                     uint64_t *seed)
{
    struct cw_token_grant grant = cw_token_grant_default();
    grant.protocol_id = 0x1122334455667788;
    grant.client_id = 42;
    grant.timeout_seconds = 5;
    grant.create_time = 1900000000;
    grant.addresses = addresses;
    grant.address_count = count;
    grant.user_data[0] = 0xab;
    grant.random = (struct cw_random){netcode_fill, seed};
    return grant;
}

TEST(default_grant)
{
    const struct cw_token_grant grant = cw_token_grant_default();
    assert_int_equal(grant.life_seconds, 45);
    assert_int_equal(grant.timeout_seconds, 15);
}

TEST(generated_tokens_open)
{
    const struct cw_address outside[2] = {address_of("203.0.113.7:40000"),
                                          address_of("[2001:db8::7]:40000")};
    const struct cw_address inside[1] = {address_of("10.0.0.5:40000")};
    uint64_t seed = 1;
    struct cw_token_grant grant = a_grant(outside, 2, &seed);
    grant.server_addresses = inside;
    grant.server_address_count = 1;
    grant.create_milliseconds = 1900000000123;
    uint8_t bytes[CW_TOKEN_SIZE], again[CW_TOKEN_SIZE];
    assert_ok(cw_token_generate(&grant, private_key, bytes));

    struct cw_token token;
    struct cw_token_private inner;
    assert_ok(read_exact(&token, bytes, sizeof(bytes)));
    assert_ok(open_exact(&inner, &token, private_key));
    assert_int_equal(token.protocol_id, grant.protocol_id);
    assert_int_equal(token.create_time, 1900000000);
    assert_int_equal(token.expire_time, 1900000045);
    assert_int_equal(token.timeout_seconds, 5);
    assert_int_equal(inner.timeout_seconds, 5);
    assert_int_equal(inner.client_id, 42);
    assert_true(inner.create_milliseconds == 1900000000123);
    assert_memory_equal(inner.user_data, grant.user_data, CW_USER_DATA_SIZE);
    assert_int_equal(token.address_count, 2);
    assert_true(cw_address_equal(&token.addresses[0], &outside[0]));
    assert_true(cw_address_equal(&token.addresses[1], &outside[1]));
    assert_int_equal(inner.address_count, 1);
    assert_true(cw_address_equal(&inner.addresses[0], &inside[0]));
    assert_memory_equal(token.client_to_server_key, inner.client_to_server_key, CW_KEY_BYTES);
    assert_memory_equal(token.server_to_client_key, inner.server_to_client_key, CW_KEY_BYTES);
    assert_memory_not_equal(token.client_to_server_key, token.server_to_client_key, CW_KEY_BYTES);
    assert_int_equal(token.fingerprint, 0);

    /* The next one differs in keys and nonce, and so everywhere in its sealed part. */
    assert_ok(cw_token_generate(&grant, private_key, again));
    struct cw_token other;
    assert_ok(read_exact(&other, again, sizeof(again)));
    assert_memory_not_equal(other.nonce, token.nonce, CW_LONG_NONCE_BYTES);
    assert_memory_not_equal(other.client_to_server_key, token.client_to_server_key, CW_KEY_BYTES);
    const uint8_t wrong_key[CW_KEY_BYTES] = {9, 8, 6};
    mark(&inner, sizeof(inner));
    assert_int_equal(open_exact(&inner, &token, wrong_key), CW_ERROR_NOT_AUTHENTIC);
    expect_untouched(&inner, sizeof(inner));
}

/* Addresses that the struct has no room for would be read from the keys behind them, which here
   look like one. */
TEST(too_many_addresses_refused)
{
    const struct cw_address address = address_of("127.0.0.1:1");
    struct cw_token token = {.address_count = CW_TOKEN_MAX_ADDRESSES + 1};
    struct cw_token_private inner = {.address_count = CW_TOKEN_MAX_ADDRESSES + 1};
    for (size_t i = 0; i < CW_TOKEN_MAX_ADDRESSES; i++)
        token.addresses[i] = inner.addresses[i] = address;
    memcpy(token.client_to_server_key, &address, sizeof(address));
    memcpy(inner.client_to_server_key, &address, sizeof(address));
    const uint8_t nonce[CW_LONG_NONCE_BYTES] = {1};
    uint8_t out[CW_TOKEN_SIZE];
    for (uint32_t count = 0; count <= CW_TOKEN_MAX_ADDRESSES + 1; count++) {
        const bool fits = count >= 1 && count <= CW_TOKEN_MAX_ADDRESSES;
        token.address_count = inner.address_count = count;
        assert_int_equal(cw_token_write(&token, out), fits ? CW_OK : CW_ERROR_TOKEN_ADDRESSES);
        assert_int_equal(cw_token_seal(&inner, 5, 6, nonce, private_key, out),
                         fits ? CW_OK : CW_ERROR_TOKEN_ADDRESSES);
    }
}

TEST(grants_refused)
{
    struct cw_address addresses[CW_TOKEN_MAX_ADDRESSES + 1];
    for (size_t i = 0; i < CW_TOKEN_MAX_ADDRESSES + 1; i++)
        addresses[i] = address_of("127.0.0.1:1");
    const struct cw_address none = {0};
    uint64_t seed = 1;
    uint8_t out[CW_TOKEN_SIZE];
    const struct cw_token_grant good = a_grant(addresses, CW_TOKEN_MAX_ADDRESSES, &seed);
    assert_ok(cw_token_generate(&good, private_key, out));
    static const uint8_t no_key[CW_KEY_BYTES];
    assert_int_equal(cw_token_generate(&good, no_key, out), CW_ERROR_KEY);

    struct cw_token_grant bad = good;
    bad.address_count = CW_TOKEN_MAX_ADDRESSES + 1;
    assert_int_equal(cw_token_generate(&bad, private_key, out), CW_ERROR_TOKEN_ADDRESSES);
    bad.address_count = UINT32_MAX;
    assert_int_equal(cw_token_generate(&bad, private_key, out), CW_ERROR_TOKEN_ADDRESSES);
    bad.address_count = 0;
    assert_int_equal(cw_token_generate(&bad, private_key, out), CW_ERROR_TOKEN_ADDRESSES);
    bad = good;
    bad.addresses = NULL;
    assert_int_equal(cw_token_generate(&bad, private_key, out), CW_ERROR_TOKEN_ADDRESSES);
    bad = a_grant(&none, 1, &seed);
    assert_int_equal(cw_token_generate(&bad, private_key, out), CW_ERROR_TOKEN_ADDRESSES);
    const struct cw_address second_none[2] = {addresses[0], none};
    bad = a_grant(second_none, 2, &seed);
    assert_int_equal(cw_token_generate(&bad, private_key, out), CW_ERROR_TOKEN_ADDRESSES);
    bad = good;
    bad.server_addresses = &none;
    bad.server_address_count = 1;
    assert_int_equal(cw_token_generate(&bad, private_key, out), CW_ERROR_TOKEN_ADDRESSES);
    bad.server_addresses = addresses;
    bad.server_address_count = UINT32_MAX;
    assert_int_equal(cw_token_generate(&bad, private_key, out), CW_ERROR_TOKEN_ADDRESSES);
    bad = good;
    bad.life_seconds = 0;
    assert_int_equal(cw_token_generate(&bad, private_key, out), CW_ERROR_TOKEN_TIMES);
    bad = good;
    bad.create_time = UINT64_MAX - 44;
    assert_int_equal(cw_token_generate(&bad, private_key, out), CW_ERROR_TOKEN_TIMES);
    bad = good;
    bad.fingerprint = 5;
    bad.user_data[CW_USER_DATA_SIZE - 1] = 1;
    assert_int_equal(cw_token_generate(&bad, private_key, out), CW_ERROR_USER_DATA);
    bad.fingerprint = 0;
    assert_ok(cw_token_generate(&bad, private_key, out));

    struct cw_token token;
    assert_ok(cw_token_read(out, sizeof(out), &token));
    token.create_time = token.expire_time + 1;
    assert_int_equal(cw_token_write(&token, out), CW_ERROR_TOKEN_TIMES);
    token.create_time = token.expire_time;
    token.address_count = 33;
    assert_int_equal(cw_token_write(&token, out), CW_ERROR_TOKEN_ADDRESSES);
}

static void zeros(void *context, uint8_t *memory, size_t size)
{
    (void)context;
    memset(memory, 0, size);
}

/* Zeros are no key, neither for who makes a token nor for who reads it. */
TEST(keys_of_zeros_refused)
{
    const struct cw_address address = address_of("127.0.0.1:1");
    uint64_t seed = 1;
    uint8_t bytes[CW_TOKEN_SIZE];
    struct cw_token_grant grant = a_grant(&address, 1, &seed);
    assert_ok(cw_token_generate(&grant, private_key, bytes));
    struct cw_token good;
    assert_ok(read_exact(&good, bytes, sizeof(bytes)));
    for (int which = 0; which < 2; which++) {
        struct cw_token token = good;
        uint8_t *key = which ? token.server_to_client_key : token.client_to_server_key;
        memset(key, 0, CW_KEY_BYTES);
        uint8_t spoilt[CW_TOKEN_SIZE];
        assert_ok(cw_token_write(&token, spoilt));
        mark(&token, sizeof(token));
        assert_int_equal(read_exact(&token, spoilt, sizeof(spoilt)), CW_ERROR_KEY);
        expect_untouched(&token, sizeof(token));
        const struct cw_netcode_client_config config = cw_netcode_client_config_default();
        struct cw_netcode_client *client = netcode_client_with(&config);
        assert_int_equal(cw_netcode_client_connect(client, spoilt, sizeof(spoilt), 0),
                         CW_ERROR_KEY);
        assert_int_equal(cw_netcode_client_state(client), CW_CLIENT_INVALID_TOKEN);
    }
    grant.random = (struct cw_random){zeros, NULL};
    assert_int_equal(cw_token_generate(&grant, private_key, bytes), CW_ERROR_KEY);
}

TEST(fingerprint_rides_along)
{
    const struct cw_address address = address_of("127.0.0.1:1");
    uint64_t seed = 1;
    struct cw_token_grant grant = a_grant(&address, 1, &seed);
    grant.fingerprint = 0xfedcba9876543210;
    memset(grant.user_data, 0xcd, CW_USER_DATA_FREE_SIZE);
    uint8_t bytes[CW_TOKEN_SIZE];
    assert_ok(cw_token_generate(&grant, private_key, bytes));
    struct cw_token token;
    struct cw_token_private inner;
    assert_ok(read_exact(&token, bytes, sizeof(bytes)));
    assert_ok(open_exact(&inner, &token, private_key));
    assert_true(token.fingerprint == grant.fingerprint);
    assert_true(cw_user_data_fingerprint(inner.user_data) == grant.fingerprint);
    assert_memory_equal(inner.user_data, grant.user_data, CW_USER_DATA_FREE_SIZE);

    /* Data of backends that do not know about it is no fingerprint. */
    memset(inner.user_data, 0xff, CW_USER_DATA_SIZE);
    assert_true(cw_user_data_fingerprint(inner.user_data) == 0);
    cw_user_data_set_fingerprint(inner.user_data, 0);
    for (size_t i = CW_USER_DATA_FREE_SIZE; i < CW_USER_DATA_SIZE; i++)
        assert_int_equal(inner.user_data[i], 0);
    assert_true(cw_user_data_fingerprint(inner.user_data) == 0);
}

TEST(cut_tokens_refused)
{
    struct cw_address addresses[CW_TOKEN_MAX_ADDRESSES];
    for (size_t i = 0; i < CW_TOKEN_MAX_ADDRESSES; i++)
        addresses[i] = address_of("[2001:db8::7]:40000");
    uint64_t seed = 1;
    const struct cw_token_grant grant = a_grant(addresses, CW_TOKEN_MAX_ADDRESSES, &seed);
    uint8_t bytes[CW_TOKEN_SIZE + 1] = {0};
    assert_ok(cw_token_generate(&grant, private_key, bytes));
    struct cw_token token;
    for (size_t size = 0; size <= sizeof(bytes); size++)
        assert_int_equal(read_exact(&token, bytes, size),
                         size == CW_TOKEN_SIZE ? CW_OK : CW_ERROR_TOKEN_SIZE);
}

/* Any bit of the sealed part, and of what is sealed with it. */
TEST(every_bit_counts)
{
    const struct cw_address address = address_of("127.0.0.1:1");
    uint64_t seed = 1;
    const struct cw_token_grant grant = a_grant(&address, 1, &seed);
    uint8_t bytes[CW_TOKEN_SIZE];
    assert_ok(cw_token_generate(&grant, private_key, bytes));
    struct cw_token token;
    struct cw_token_private inner;
    assert_ok(cw_token_read(bytes, sizeof(bytes), &token));
    for (size_t bit = 0; bit < 8 * sizeof(token.sealed); bit++) {
        token.sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(open_exact(&inner, &token, private_key), CW_ERROR_NOT_AUTHENTIC);
        token.sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t bit = 0; bit < 8 * sizeof(token.nonce); bit++) {
        token.nonce[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(open_exact(&inner, &token, private_key), CW_ERROR_NOT_AUTHENTIC);
        token.nonce[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (int bit = 0; bit < 64; bit++) {
        token.expire_time ^= (uint64_t)1 << bit;
        assert_int_equal(open_exact(&inner, &token, private_key), CW_ERROR_NOT_AUTHENTIC);
        token.expire_time ^= (uint64_t)1 << bit;
        token.protocol_id ^= (uint64_t)1 << bit;
        assert_int_equal(open_exact(&inner, &token, private_key), CW_ERROR_NOT_AUTHENTIC);
        token.protocol_id ^= (uint64_t)1 << bit;
    }
    assert_ok(open_exact(&inner, &token, private_key));

    const struct cw_challenge_token challenge = {.client_id = 1, .user_data = {2}};
    struct cw_challenge_token opened;
    uint8_t sealed[CW_CHALLENGE_TOKEN_SIZE];
    cw_challenge_token_seal(&challenge, 3, private_key, sealed);
    for (size_t bit = 0; bit < 8 * sizeof(sealed); bit++) {
        sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(cw_challenge_token_open(sealed, 3, private_key, &opened));
        sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_true(cw_challenge_token_open(sealed, 3, private_key, &opened));
}

/* An authentic private part whose addresses make no sense. */
TEST(sealed_nonsense_refused)
{
    const uint8_t nonce[CW_LONG_NONCE_BYTES] = {1};
    static const uint32_t counts[] = {0, 33, 0x80000001, 0xffffffff, 1, 2, 34};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        uint8_t plain[CW_TOKEN_PRIVATE_SIZE] = {0};
        for (int byte = 0; byte < 4; byte++)
            plain[12 + byte] = (uint8_t)(counts[i] >> 8 * byte);
        plain[16] = counts[i] == 2 ? CW_ADDRESS_IPV4 : CW_ADDRESS_NONE;
        plain[16 + 7] = 3;
        /* There are as many well-formed addresses. */
        for (uint32_t n = 0; counts[i] == 34 && n < counts[i]; n++)
            plain[16 + 7 * n] = CW_ADDRESS_IPV4;
        netcode_seal(plain, 5, 6, nonce, private_key);
        struct cw_token_private token;
        mark(&token, sizeof(token));
        assert_int_equal(cw_token_open(plain, 5, 6, nonce, private_key, &token),
                         CW_ERROR_TOKEN_ADDRESSES);
        expect_untouched(&token, sizeof(token));
    }
}

TEST(golden_tokens)
{
    const struct cw_address outside[3] = {address_of("203.0.113.7:40000"),
                                          address_of("[2001:db8::1:7]:65535"),
                                          address_of("[::ffff:1.2.3.4]:1")};
    const struct cw_address inside[1] = {address_of("[fd00::1]:40000")};
    uint64_t seed = 0x9e3779b97f4a7c15;
    struct cw_token_grant grant = a_grant(outside, 3, &seed);
    struct golden golden = golden_open(CAUSEWAY_GOLDEN "/token.txt", 1);
    uint8_t token[CW_TOKEN_SIZE];
    assert_ok(cw_token_generate(&grant, private_key, token));
    assert_true(golden_bytes(&golden, "token", token, sizeof(token)));
    grant.server_addresses = inside;
    grant.server_address_count = 1;
    grant.timeout_seconds = -1;
    grant.fingerprint = 0x0123456789abcdef;
    assert_ok(cw_token_generate(&grant, private_key, token));
    assert_true(golden_bytes(&golden, "token_with_fingerprint", token, sizeof(token)));
    const struct cw_challenge_token challenge = {.client_id = UINT64_MAX - 1, .user_data = {1, 2}};
    uint8_t sealed[CW_CHALLENGE_TOKEN_SIZE];
    cw_challenge_token_seal(&challenge, 0x0102030405060708, private_key, sealed);
    assert_true(golden_bytes(&golden, "challenge_token", sealed, sizeof(sealed)));
    assert_true(golden_close(&golden));
}
