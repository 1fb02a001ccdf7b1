/* The readers of tokens and packets get any bytes. They neither crash nor read too far, and what
   they take is what was written. The first byte chooses the reader; the keys are known, and inputs
   are sealed where only sealed ones would be looked at. */
#include "netcode/crypto.h"
#include "netcode/secure_packet.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t key[CW_KEY_BYTES] = {1, 2, 3};
static const uint8_t nonce[CW_LONG_NONCE_BYTES] = {4, 5, 6};

static void fuzz_token(const uint8_t *data, size_t size)
{
    struct cw_token token;
    uint8_t written[CW_TOKEN_SIZE];
    if (cw_token_read(data, size, &token) != CW_OK)
        return;
    struct cw_token again;
    if (cw_token_write(&token, written) != CW_OK ||
        cw_token_read(written, sizeof(written), &again) != CW_OK ||
        again.address_count != token.address_count || again.fingerprint != token.fingerprint)
        abort();
    uint8_t request[CW_REQUEST_SIZE];
    struct cw_request parsed;
    cw_request_write(&token, request);
    if (cw_request_parse(request, sizeof(request), &parsed) != CW_OK ||
        parsed.protocol_id != token.protocol_id || parsed.expire_time != token.expire_time)
        abort();
}

static void fuzz_private(const uint8_t *data, size_t size)
{
    uint8_t sealed[CW_TOKEN_PRIVATE_SIZE] = {0}, associated[29] = CW_NETCODE_VERSION;
    if (size > sizeof(sealed) - CW_MAC_BYTES)
        size = sizeof(sealed) - CW_MAC_BYTES;
    memcpy(sealed, data, size);
    cw_crypto_seal_long(&(struct cw_seal){.key = key,
                                          .nonce = nonce,
                                          .associated = associated,
                                          .associated_size = sizeof(associated)},
                        sealed, sizeof(sealed) - CW_MAC_BYTES, sealed);
    struct cw_token_private token;
    const enum cw_error error = cw_token_open(sealed, 0, 0, nonce, key, &token);
    if (error == CW_ERROR_NOT_AUTHENTIC)
        abort();
    if (!error && (token.address_count < 1 || token.address_count > CW_TOKEN_MAX_ADDRESSES ||
                   cw_token_seal(&token, 0, 0, nonce, key, sealed) != CW_OK))
        abort();
}

static void fuzz_packet(const uint8_t *data, size_t size, enum cw_direction direction)
{
    struct cw_secure_packet packet;
    struct cw_replay replay = {0};
    uint8_t *body = malloc(CW_PAYLOAD_MAX);
    const enum cw_error shape = cw_secure_shape(data, size, direction, NULL);
    const enum cw_error read = cw_secure_read(
        data, size, &(struct cw_secure_key){.protocol_id = 7, .direction = direction, .bytes = key},
        &replay, body, &packet);
    if (read == CW_OK && shape != CW_OK)
        abort();
    free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const uint8_t choice = data[0] % 4;
    uint8_t *exact = malloc(size - 1);
    if (size > 1)
        memcpy(exact, data + 1, size - 1);
    if (choice == 0)
        fuzz_token(exact, size - 1);
    else if (choice == 1)
        fuzz_private(exact, size - 1);
    else
        fuzz_packet(exact, size - 1, choice == 2 ? CW_TO_SERVER : CW_TO_CLIENT);
    free(exact);
    return 0;
}
