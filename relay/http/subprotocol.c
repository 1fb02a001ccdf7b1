#include "http/subprotocol.h"

#include <stdbool.h>
#include <string.h>

enum subprotocol subprotocol_read(const char *list, char key[SESSION_KEY_SIZE + 1])
{
    static const char separators[] = ", \t";
    const size_t before = strlen(SUBPROTOCOL_SESSION);
    bool spoken = false;
    key[0] = '\0';
    while (*(list += strspn(list, separators))) {
        const size_t size = strcspn(list, separators);
        if (size == strlen(WEBSOCKET_SUBPROTOCOL) && memcmp(list, WEBSOCKET_SUBPROTOCOL, size) == 0)
            spoken = true;
        if (size >= before && memcmp(list, SUBPROTOCOL_SESSION, before) == 0) {
            if (key[0] || !session_key_valid(list + before, size - before))
                return SUBPROTOCOL_BAD_KEY;
            memcpy(key, list + before, SESSION_KEY_SIZE);
            key[SESSION_KEY_SIZE] = '\0';
        }
        list += size;
    }
    return spoken ? SUBPROTOCOL_OK : SUBPROTOCOL_MISSING;
}
