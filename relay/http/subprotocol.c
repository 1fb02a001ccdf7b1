#include "http/subprotocol.h"

#include "session/subflows.h"

#include <stdbool.h>
#include <string.h>

/* Returns the part of a name of this size that follows a prefix; NULL when the name begins
   otherwise. */
static const char *after(const char *name, size_t size, const char *prefix, size_t *rest)
{
    const size_t before = strlen(prefix);
    if (size < before || memcmp(name, prefix, before) != 0)
        return NULL;
    *rest = size - before;
    return name + before;
}

enum subprotocol subprotocol_read(const char *list, struct subprotocol_wishes *out)
{
    static const char separators[] = ", \t";
    bool spoken = false;
    *out = (struct subprotocol_wishes){.key = ""};
    while (*(list += strspn(list, separators))) {
        const size_t size = strcspn(list, separators);
        const char *value;
        size_t rest;
        if ((value = after(list, size, WEBSOCKET_SUBPROTOCOL, &rest)) && rest == 0)
            spoken = true;
        if ((value = after(list, size, SUBPROTOCOL_SESSION, &rest))) {
            if (out->key[0] || !session_key_valid(value, rest))
                return SUBPROTOCOL_BAD_KEY;
            memcpy(out->key, value, SESSION_KEY_SIZE);
            out->key[SESSION_KEY_SIZE] = '\0';
        }
        if ((value = after(list, size, SUBPROTOCOL_SERVER, &rest)) &&
            (out->server.size > 0 || !session_server_read(value, rest, &out->server)))
            return SUBPROTOCOL_BAD_SERVER;
        if ((value = after(list, size, SUBPROTOCOL_SUBFLOW, &rest))) {
            if (out->subflow > 0 || rest != 1 || *value < '1' || *value > '0' + SUBFLOWS_MAX)
                return SUBPROTOCOL_BAD_SUBFLOW;
            out->subflow = (unsigned)(*value - '0');
        }
        list += size;
    }
    if (spoken && out->subflow > 0)
        return SUBPROTOCOL_BAD_SUBFLOW;
    return spoken || out->subflow > 0 ? SUBPROTOCOL_OK : SUBPROTOCOL_MISSING;
}
