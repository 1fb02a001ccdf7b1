#include "netcode/token.h"
#include "netcode/crypto.h"

#include "base/little_endian.h"

#include <string.h>

#define PRIVATE_PLAIN_SIZE   (CW_TOKEN_PRIVATE_SIZE - CW_MAC_BYTES)
#define CHALLENGE_PLAIN_SIZE (CW_CHALLENGE_TOKEN_SIZE - CW_MAC_BYTES)
#define TOKEN_ASSOCIATED     (CW_NETCODE_VERSION_SIZE + 8 + 8)

/* This mark stands before a fingerprint, so that other backends' user data is not taken for one. */
static const uint8_t mark[8] = {'C', 'W', 'S', 'C', 'H', 'E', 'M', 'A'};
#define MARKED_SIZE 16

static void put_fingerprint(uint8_t out[MARKED_SIZE], uint64_t fingerprint)
{
    memset(out, 0, MARKED_SIZE);
    if (fingerprint == 0)
        return;
    cw_little_endian_put_bytes(&out, mark, sizeof(mark));
    cw_little_endian_put(&out, fingerprint, 8);
}

static uint64_t get_fingerprint(const uint8_t in[MARKED_SIZE])
{
    if (memcmp(in, mark, sizeof(mark)) != 0)
        return 0;
    in += sizeof(mark);
    return cw_little_endian_get(&in, 8);
}

/* This mark stands before the time at which a token was made. Both fill the end of the private
   part, behind the longest contents. The standard leaves it zero, and nobody reads it. */
static const uint8_t made_mark[8] = {'C', 'W', 'M', 'A', 'D', 'E', 'A', 'T'};
#define MADE_AT (PRIVATE_PLAIN_SIZE - 16)

static void put_made(uint8_t plain[PRIVATE_PLAIN_SIZE], uint64_t milliseconds)
{
    uint8_t *at = plain + MADE_AT;
    if (milliseconds == 0)
        return;
    cw_little_endian_put_bytes(&at, made_mark, sizeof(made_mark));
    cw_little_endian_put(&at, milliseconds, 8);
}

static uint64_t get_made(const uint8_t plain[PRIVATE_PLAIN_SIZE])
{
    const uint8_t *at = plain + MADE_AT + sizeof(made_mark);
    return memcmp(plain + MADE_AT, made_mark, sizeof(made_mark)) == 0 ? cw_little_endian_get(&at, 8)
                                                                      : 0;
}

static bool valid_addresses(const struct cw_address *addresses, uint32_t count)
{
    if (count < 1 || count > CW_TOKEN_MAX_ADDRESSES)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (addresses[i].type != CW_ADDRESS_IPV4 && addresses[i].type != CW_ADDRESS_IPV6)
            return false;
    return true;
}

/* Returns whether no key is all zero, because anyone could guess such a key. */
static bool valid_keys(const struct cw_token *token)
{
    return !cw_crypto_is_zero(token->client_to_server_key, CW_KEY_BYTES) &&
           !cw_crypto_is_zero(token->server_to_client_key, CW_KEY_BYTES);
}

static void put_addresses(uint8_t **at, const struct cw_address *addresses, uint32_t count)
{
    cw_little_endian_put(at, count, 4);
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_address *address = &addresses[i];
        cw_little_endian_put(at, address->type, 1);
        if (address->type == CW_ADDRESS_IPV4) {
            cw_little_endian_put_bytes(at, address->bytes, 4);
        } else {
            /* Tokens have eight little-endian words, where network byte order has them
               big-endian. */
            for (int word = 0; word < 16; word += 2) {
                cw_little_endian_put(at, address->bytes[word + 1], 1);
                cw_little_endian_put(at, address->bytes[word], 1);
            }
        }
        cw_little_endian_put(at, address->port, 2);
    }
}

/* Reads a list of addresses. Both parts of a token are longer than 32 of the longest addresses, so
   only the count and the types have to be checked. */
static bool get_addresses(const uint8_t **at, struct cw_address *addresses, uint32_t *count)
{
    const uint64_t number = cw_little_endian_get(at, 4);
    if (number < 1 || number > CW_TOKEN_MAX_ADDRESSES)
        return false;
    *count = (uint32_t)number;
    for (uint32_t i = 0; i < *count; i++) {
        struct cw_address *address = &addresses[i];
        const uint64_t type = cw_little_endian_get(at, 1);
        if (type == CW_ADDRESS_IPV4) {
            address->type = CW_ADDRESS_IPV4;
            cw_little_endian_get_bytes(at, address->bytes, 4);
        } else if (type == CW_ADDRESS_IPV6) {
            address->type = CW_ADDRESS_IPV6;
            for (int word = 0; word < 16; word += 2) {
                address->bytes[word + 1] = (uint8_t)cw_little_endian_get(at, 1);
                address->bytes[word] = (uint8_t)cw_little_endian_get(at, 1);
            }
        } else {
            return false;
        }
        address->port = (uint16_t)cw_little_endian_get(at, 2);
    }
    return true;
}

static void put_associated(uint8_t out[TOKEN_ASSOCIATED], uint64_t protocol_id,
                           uint64_t expire_time)
{
    cw_little_endian_put_bytes(&out, CW_NETCODE_VERSION, CW_NETCODE_VERSION_SIZE);
    cw_little_endian_put(&out, protocol_id, 8);
    cw_little_endian_put(&out, expire_time, 8);
}

enum cw_error cw_token_seal(const struct cw_token_private *token, uint64_t protocol_id,
                            uint64_t expire_time, const uint8_t nonce[CW_LONG_NONCE_BYTES],
                            const uint8_t private_key[CW_KEY_BYTES],
                            uint8_t out[CW_TOKEN_PRIVATE_SIZE])
{
    if (!out || !token || !nonce || !private_key)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!valid_addresses(token->addresses, token->address_count))
        return CW_ERROR_TOKEN_ADDRESSES;
    uint8_t *at = out;
    memset(out, 0, CW_TOKEN_PRIVATE_SIZE);
    cw_little_endian_put(&at, token->client_id, 8);
    cw_little_endian_put(&at, (uint32_t)token->timeout_seconds, 4);
    put_addresses(&at, token->addresses, token->address_count);
    cw_little_endian_put_bytes(&at, token->client_to_server_key, CW_KEY_BYTES);
    cw_little_endian_put_bytes(&at, token->server_to_client_key, CW_KEY_BYTES);
    cw_little_endian_put_bytes(&at, token->user_data, CW_USER_DATA_SIZE);
    put_made(out, token->create_milliseconds);

    uint8_t associated[TOKEN_ASSOCIATED];
    put_associated(associated, protocol_id, expire_time);
    cw_crypto_seal_long(&(struct cw_seal){.key = private_key,
                                          .nonce = nonce,
                                          .associated = associated,
                                          .associated_size = sizeof(associated)},
                        out, PRIVATE_PLAIN_SIZE, out);
    return CW_OK;
}

enum cw_error cw_token_open(const uint8_t sealed[CW_TOKEN_PRIVATE_SIZE], uint64_t protocol_id,
                            uint64_t expire_time, const uint8_t nonce[CW_LONG_NONCE_BYTES],
                            const uint8_t private_key[CW_KEY_BYTES], struct cw_token_private *token)
{
    if (!sealed || !nonce || !private_key || !token)
        return CW_ERROR_INVALID_ARGUMENT;
    uint8_t associated[TOKEN_ASSOCIATED];
    put_associated(associated, protocol_id, expire_time);
    uint8_t plain[PRIVATE_PLAIN_SIZE];
    const struct cw_seal seal = {private_key, nonce, associated, sizeof(associated)};
    if (!cw_crypto_open_long(&seal, sealed, CW_TOKEN_PRIVATE_SIZE, plain))
        return CW_ERROR_NOT_AUTHENTIC;

    const uint8_t *at = plain;
    struct cw_token_private opened = {.client_id = cw_little_endian_get(&at, 8)};
    opened.timeout_seconds = (int32_t)cw_little_endian_get(&at, 4);
    const bool valid = get_addresses(&at, opened.addresses, &opened.address_count);
    if (valid) {
        cw_little_endian_get_bytes(&at, opened.client_to_server_key, CW_KEY_BYTES);
        cw_little_endian_get_bytes(&at, opened.server_to_client_key, CW_KEY_BYTES);
        cw_little_endian_get_bytes(&at, opened.user_data, CW_USER_DATA_SIZE);
        opened.create_milliseconds = get_made(plain);
        *token = opened;
    }
    cw_crypto_wipe(&opened, sizeof(opened));
    cw_crypto_wipe(plain, sizeof(plain));
    return valid ? CW_OK : CW_ERROR_TOKEN_ADDRESSES;
}

enum cw_error cw_token_write(const struct cw_token *token, uint8_t out[CW_TOKEN_SIZE])
{
    if (!out || !token)
        return CW_ERROR_INVALID_ARGUMENT;
    if (token->create_time > token->expire_time)
        return CW_ERROR_TOKEN_TIMES;
    if (!valid_addresses(token->addresses, token->address_count))
        return CW_ERROR_TOKEN_ADDRESSES;
    uint8_t *at = out;
    memset(out, 0, CW_TOKEN_SIZE);
    cw_little_endian_put_bytes(&at, CW_NETCODE_VERSION, CW_NETCODE_VERSION_SIZE);
    cw_little_endian_put(&at, token->protocol_id, 8);
    cw_little_endian_put(&at, token->create_time, 8);
    cw_little_endian_put(&at, token->expire_time, 8);
    cw_little_endian_put_bytes(&at, token->nonce, CW_LONG_NONCE_BYTES);
    cw_little_endian_put_bytes(&at, token->sealed, CW_TOKEN_PRIVATE_SIZE);
    cw_little_endian_put(&at, (uint32_t)token->timeout_seconds, 4);
    put_addresses(&at, token->addresses, token->address_count);
    cw_little_endian_put_bytes(&at, token->client_to_server_key, CW_KEY_BYTES);
    cw_little_endian_put_bytes(&at, token->server_to_client_key, CW_KEY_BYTES);
    put_fingerprint(out + CW_TOKEN_SIZE - MARKED_SIZE, token->fingerprint);
    return CW_OK;
}

/* Reads the parts of a token of CW_TOKEN_SIZE bytes. */
static enum cw_error get_parts(const uint8_t *data, struct cw_token *token)
{
    const uint8_t *at = data;
    if (memcmp(at, CW_NETCODE_VERSION, CW_NETCODE_VERSION_SIZE) != 0)
        return CW_ERROR_VERSION;
    at += CW_NETCODE_VERSION_SIZE;
    token->protocol_id = cw_little_endian_get(&at, 8);
    token->create_time = cw_little_endian_get(&at, 8);
    token->expire_time = cw_little_endian_get(&at, 8);
    if (token->create_time > token->expire_time)
        return CW_ERROR_TOKEN_TIMES;
    cw_little_endian_get_bytes(&at, token->nonce, CW_LONG_NONCE_BYTES);
    cw_little_endian_get_bytes(&at, token->sealed, CW_TOKEN_PRIVATE_SIZE);
    token->timeout_seconds = (int32_t)cw_little_endian_get(&at, 4);
    if (!get_addresses(&at, token->addresses, &token->address_count))
        return CW_ERROR_TOKEN_ADDRESSES;
    cw_little_endian_get_bytes(&at, token->client_to_server_key, CW_KEY_BYTES);
    cw_little_endian_get_bytes(&at, token->server_to_client_key, CW_KEY_BYTES);
    token->fingerprint = get_fingerprint(data + CW_TOKEN_SIZE - MARKED_SIZE);
    return valid_keys(token) ? CW_OK : CW_ERROR_KEY;
}

uint64_t cw_token_id(const uint8_t mac[CW_MAC_BYTES])
{
    uint64_t id = 0;
    for (unsigned i = 0; mac && i < sizeof id; i++)
        id = id << 8 | mac[i];
    return id;
}

enum cw_error cw_token_read(const uint8_t *data, size_t size, struct cw_token *token)
{
    if (!token || (!data && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    if (size != CW_TOKEN_SIZE)
        return CW_ERROR_TOKEN_SIZE;
    struct cw_token parts = {0};
    const enum cw_error error = get_parts(data, &parts);
    if (error == CW_OK)
        *token = parts;
    cw_crypto_wipe(&parts, sizeof(parts));
    return error;
}

struct cw_token_grant cw_token_grant_default(void)
{
    return (struct cw_token_grant){.life_seconds = 45, .timeout_seconds = 15};
}

static enum cw_error fill_tokens(struct cw_token *public_part,
                                 struct cw_token_private *private_part,
                                 const struct cw_token_grant *grant)
{
    const struct cw_address *inner =
        grant->server_addresses ? grant->server_addresses : grant->addresses;
    const uint32_t inner_count =
        grant->server_addresses ? grant->server_address_count : grant->address_count;
    if (!grant->addresses || !valid_addresses(grant->addresses, grant->address_count) ||
        !valid_addresses(inner, inner_count))
        return CW_ERROR_TOKEN_ADDRESSES;
    if (grant->life_seconds == 0)
        return CW_ERROR_TOKEN_TIMES;

    memcpy(private_part->user_data, grant->user_data, CW_USER_DATA_SIZE);
    if (grant->fingerprint != 0) {
        static const uint8_t unused[MARKED_SIZE];
        if (memcmp(grant->user_data + CW_USER_DATA_FREE_SIZE, unused, MARKED_SIZE) != 0)
            return CW_ERROR_USER_DATA;
        cw_user_data_set_fingerprint(private_part->user_data, grant->fingerprint);
    }
    private_part->create_milliseconds = grant->create_milliseconds;
    private_part->client_id = grant->client_id;
    private_part->timeout_seconds = public_part->timeout_seconds = grant->timeout_seconds;
    private_part->address_count = inner_count;
    memcpy(private_part->addresses, inner, inner_count * sizeof(*inner));
    cw_random_fill(&grant->random, private_part->client_to_server_key, CW_KEY_BYTES);
    cw_random_fill(&grant->random, private_part->server_to_client_key, CW_KEY_BYTES);

    public_part->protocol_id = grant->protocol_id;
    public_part->create_time = grant->create_time;
    public_part->expire_time = grant->create_time + grant->life_seconds;
    cw_random_fill(&grant->random, public_part->nonce, CW_LONG_NONCE_BYTES);
    public_part->address_count = grant->address_count;
    memcpy(public_part->addresses, grant->addresses,
           grant->address_count * sizeof(*grant->addresses));
    memcpy(public_part->client_to_server_key, private_part->client_to_server_key, CW_KEY_BYTES);
    memcpy(public_part->server_to_client_key, private_part->server_to_client_key, CW_KEY_BYTES);
    public_part->fingerprint = grant->fingerprint;
    return valid_keys(public_part) ? CW_OK : CW_ERROR_KEY;
}

enum cw_error cw_token_generate(const struct cw_token_grant *grant,
                                const uint8_t private_key[CW_KEY_BYTES], uint8_t out[CW_TOKEN_SIZE])
{
    if (!out || !grant || !private_key)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!cw_crypto_init())
        return CW_ERROR_NO_RANDOM;
    if (cw_crypto_is_zero(private_key, CW_KEY_BYTES))
        return CW_ERROR_KEY;
    struct cw_token public_part = {0};
    struct cw_token_private private_part = {0};
    enum cw_error error = fill_tokens(&public_part, &private_part, grant);
    if (!error)
        error = cw_token_seal(&private_part, public_part.protocol_id, public_part.expire_time,
                              public_part.nonce, private_key, public_part.sealed);
    if (!error)
        error = cw_token_write(&public_part, out);
    cw_crypto_wipe(&public_part, sizeof(public_part));
    cw_crypto_wipe(&private_part, sizeof(private_part));
    return error;
}

_Static_assert(sizeof(CW_TOKEN_INSECURE_KEY) == CW_KEY_BYTES + 1, "it must be a key");

enum cw_error cw_token_insecure(const struct cw_token_grant *grant, uint8_t out[CW_TOKEN_SIZE])
{
    return cw_token_generate(grant, (const uint8_t *)CW_TOKEN_INSECURE_KEY, out);
}

static void challenge_nonce(uint8_t nonce[CW_NONCE_BYTES], uint64_t sequence)
{
    cw_little_endian_put(&nonce, 0, 4);
    cw_little_endian_put(&nonce, sequence, 8);
}

void cw_challenge_token_seal(const struct cw_challenge_token *token, uint64_t sequence,
                             const uint8_t key[CW_KEY_BYTES], uint8_t out[CW_CHALLENGE_TOKEN_SIZE])
{
    if (!out || !token || !key)
        return;
    uint8_t *at = out;
    memset(out, 0, CW_CHALLENGE_TOKEN_SIZE);
    cw_little_endian_put(&at, token->client_id, 8);
    cw_little_endian_put_bytes(&at, token->user_data, CW_USER_DATA_SIZE);
    uint8_t nonce[CW_NONCE_BYTES];
    challenge_nonce(nonce, sequence);
    cw_crypto_seal(&(struct cw_seal){.key = key, .nonce = nonce}, out, CHALLENGE_PLAIN_SIZE, out);
}

bool cw_challenge_token_open(const uint8_t sealed[CW_CHALLENGE_TOKEN_SIZE], uint64_t sequence,
                             const uint8_t key[CW_KEY_BYTES], struct cw_challenge_token *token)
{
    if (!sealed || !key || !token)
        return false;
    uint8_t nonce[CW_NONCE_BYTES];
    challenge_nonce(nonce, sequence);
    uint8_t plain[CHALLENGE_PLAIN_SIZE];
    if (!cw_crypto_open(&(struct cw_seal){.key = key, .nonce = nonce}, sealed,
                        CW_CHALLENGE_TOKEN_SIZE, plain))
        return false;
    const uint8_t *at = plain;
    token->client_id = cw_little_endian_get(&at, 8);
    cw_little_endian_get_bytes(&at, token->user_data, CW_USER_DATA_SIZE);
    cw_crypto_wipe(plain, sizeof(plain));
    return true;
}

void cw_user_data_set_fingerprint(uint8_t user_data[CW_USER_DATA_SIZE], uint64_t fingerprint)
{
    if (user_data)
        put_fingerprint(user_data + CW_USER_DATA_FREE_SIZE, fingerprint);
}

uint64_t cw_user_data_fingerprint(const uint8_t user_data[CW_USER_DATA_SIZE])
{
    return user_data ? get_fingerprint(user_data + CW_USER_DATA_FREE_SIZE) : 0;
}
