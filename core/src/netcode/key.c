#include "causeway/token.h"
#include "netcode/crypto.h"

#include <sodium.h>
#include <string.h>

enum cw_error cw_key_parse(const char *text, uint8_t key[CW_KEY_BYTES])
{
    if (!key)
        return CW_ERROR_INVALID_ARGUMENT;
    const size_t digits = (size_t)2 * CW_KEY_BYTES;
    uint8_t parsed[CW_KEY_BYTES];
    if (!text || strlen(text) != digits ||
        sodium_hex2bin(parsed, CW_KEY_BYTES, text, digits, NULL, NULL, NULL) != 0)
        return CW_ERROR_KEY;
    memcpy(key, parsed, CW_KEY_BYTES);
    cw_crypto_wipe(parsed, CW_KEY_BYTES);
    return CW_OK;
}
