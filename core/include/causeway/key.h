/* Private keys as text, the form that causeway-token prints and configuration files hold. */
#ifndef CAUSEWAY_KEY_H
#define CAUSEWAY_KEY_H

#include "causeway/crypto.h"
#include "causeway/error.h"
#include "causeway/linkage.h"

CW_BEGIN_DECLARATIONS

/* Reads a key from exactly 2 * CW_KEY_BYTES hexadecimal digits, for example
   cw_key_parse(getenv("CAUSEWAY_KEY"), config.private_key). Returns CW_ERROR_KEY for any other text
   and for NULL. */
enum cw_error cw_key_parse(const char *text, uint8_t key[CW_KEY_BYTES]);

CW_END_DECLARATIONS

#endif
