/* Private keys as text, as causeway-token prints them and configurations hold them. */
#ifndef CAUSEWAY_KEY_H
#define CAUSEWAY_KEY_H

#include "causeway/crypto.h"
#include "causeway/error.h"
#include "causeway/linkage.h"

CW_BEGIN_DECLARATIONS

/* Reads a key from its 2 * CW_KEY_BYTES hexadecimal digits and nothing else, as in
   cw_key_parse(getenv("CAUSEWAY_KEY"), config.private_key). Error: CW_ERROR_KEY for
   any other text and for NULL. */
enum cw_error cw_key_parse(const char *text, uint8_t key[CW_KEY_BYTES]);

CW_END_DECLARATIONS

#endif
