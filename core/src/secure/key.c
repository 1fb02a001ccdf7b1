#include "causeway/key.h"

#include <sodium.h>
#include <string.h>

enum cw_error cw_key_parse(uint8_t key[CW_KEY_BYTES], const char *text)
{
    if (!key)
        return CW_ERROR_INVALID_ARGUMENT;
    const size_t digits = (size_t)2 * CW_KEY_BYTES;
    if (text && strlen(text) == digits &&
        sodium_hex2bin(key, CW_KEY_BYTES, text, digits, NULL, NULL, NULL) == 0)
        return CW_OK;
    cw_crypto_wipe(key, CW_KEY_BYTES);
    return CW_ERROR_KEY;
}
