#include "causeway/token.h"
#include "exports/exports.h"

#include <stdlib.h>
#include <string.h>

enum cw_error cw_read_addresses(struct cw_address *addresses, const char *text, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        cw_scratch.number = i;
        if (cw_address_parse(text, &addresses[i]) != CW_OK || addresses[i].port == 0)
            return CW_ERROR_ADDRESS;
        text += strlen(text) + 1;
    }
    return CW_OK;
}

/* servers has count addresses, then internal_count addresses under which the same servers know
   themselves; when there are none, these are the same. With CW_ERROR_ADDRESS, the scratch area says
   which text is no address. */
CW_EXPORT(token_generate)
enum cw_error token_generate(uint8_t *out, const struct cw_token_options *options,
                             const char *servers, uint32_t count, uint32_t internal_count)
{
    struct cw_address addresses[2 * CW_TOKEN_MAX_ADDRESSES];
    if (count > CW_TOKEN_MAX_ADDRESSES || internal_count > CW_TOKEN_MAX_ADDRESSES)
        return CW_ERROR_TOKEN_ADDRESSES;
    enum cw_error error = cw_read_addresses(addresses, servers, count + internal_count);
    if (error)
        return error;
    struct cw_token_grant grant = cw_token_grant_default();
    grant.protocol_id = options->protocol_id;
    grant.client_id = options->client_id;
    grant.create_time = options->create_time;
    grant.fingerprint = options->fingerprint;
    grant.life_seconds = options->life_seconds;
    grant.timeout_seconds = options->timeout_seconds;
    grant.address_count = count;
    grant.addresses = addresses;
    if (internal_count > 0) {
        grant.server_address_count = internal_count;
        grant.server_addresses = addresses + count;
    }
    memcpy(grant.user_data, options->user_data, CW_USER_DATA_SIZE);
    return cw_token_generate(&grant, options->private_key, out);
}

/* Wipes and releases memory that held keys. */
CW_EXPORT(release_secret) void release_secret(void *memory, size_t size)
{
    cw_crypto_wipe(memory, size);
    free(memory);
}

/* The time when the token expires (Unix seconds) and the fingerprint of its schema go to the
   scratch area. */
CW_EXPORT(token_read) enum cw_error token_read(const uint8_t *data, size_t size)
{
    struct cw_token token = {0};
    const enum cw_error error = cw_token_read(data, size, &token);
    cw_scratch.token_facts = (struct cw_token_facts){
        .expire_time = token.expire_time,
        .fingerprint = token.fingerprint,
    };
    cw_crypto_wipe(&token, sizeof token);
    return error;
}
