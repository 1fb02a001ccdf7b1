/* The key by which a page names its session whenever it opens a link: 16 random bytes in base64url.
   Anybody who knows it can take the session over, so it is never logged. */
#ifndef CAUSEWAY_RELAY_SESSION_KEY_H
#define CAUSEWAY_RELAY_SESSION_KEY_H

#include <stdbool.h>
#include <stddef.h>

#define SESSION_KEY_SIZE 22

/* Returns true when a text has the form of a key. */
static inline bool session_key_valid(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '_'))
            return false;
    }
    return size == SESSION_KEY_SIZE;
}

#endif
