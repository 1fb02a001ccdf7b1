/* The wishes of a client, in the list of subprotocols of its WebSocket. */
#ifndef CAUSEWAY_RELAY_SUBPROTOCOL_H
#define CAUSEWAY_RELAY_SUBPROTOCOL_H

#include "session/server.h"
#include "session/session_key.h"

/* The one that the relay speaks, and for which a client must ask. */
#define WEBSOCKET_SUBPROTOCOL "causeway.v1"
/* Before the key of its session, which a client may name as another one. Headers are not logged on
   the way, as addresses are. */
#define SUBPROTOCOL_SESSION "causeway.session."
/* Before the game server that it wants; see session/server.h. */
#define SUBPROTOCOL_SERVER "causeway.server."

enum subprotocol {
    SUBPROTOCOL_OK,
    SUBPROTOCOL_MISSING, /* WEBSOCKET_SUBPROTOCOL */
    SUBPROTOCOL_BAD_KEY, /* it has another form, or there are two */
    SUBPROTOCOL_BAD_SERVER,
};

struct subprotocol_wishes {
    char key[SESSION_KEY_SIZE + 1]; /* "" = none */
    struct socket_address server;   /* all zero = none */
};

/* Reads the value of the header. */
enum subprotocol subprotocol_read(const char *list, struct subprotocol_wishes *out);

#endif
