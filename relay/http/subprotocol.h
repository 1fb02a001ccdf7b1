/* A client names its session and its game server in the list of subprotocols of its WebSocket. This
   module reads that list. */
#ifndef CAUSEWAY_RELAY_SUBPROTOCOL_H
#define CAUSEWAY_RELAY_SUBPROTOCOL_H

#include "session/server.h"
#include "session/session_key.h"

/* The subprotocol that the relay speaks, and for which a client must ask. */
#define WEBSOCKET_SUBPROTOCOL "causeway.v1"
/* The prefix of a subprotocol that gives the key of the client's session. Subprotocols are headers,
   which are not logged on the way, as URLs are. */
#define SUBPROTOCOL_SESSION "causeway.session."
/* The prefix of a subprotocol that gives the game server which the client wants; see
   session/server.h. */
#define SUBPROTOCOL_SERVER "causeway.server."
/* The prefix of the subprotocols that WebSockets speak which are subflows, see session/subflows.h;
   the number follows. A client asks for one of them in the place of the above, so that a server
   that knows no subflows refuses it. */
#define SUBPROTOCOL_SUBFLOW "causeway.subflow."

enum subprotocol {
    SUBPROTOCOL_OK,
    SUBPROTOCOL_MISSING, /* WEBSOCKET_SUBPROTOCOL is missing, and it is to be no subflow */
    SUBPROTOCOL_BAD_KEY, /* the key has another form, or there are two */
    SUBPROTOCOL_BAD_SERVER,
    SUBPROTOCOL_BAD_SUBFLOW, /* no number from 1 to SUBFLOWS_MAX, or not the only one of these */
};

struct subprotocol_wishes {
    char key[SESSION_KEY_SIZE + 1]; /* "" = none */
    struct socket_address server;   /* all zero = none */
    unsigned subflow;               /* 0 = none */
};

/* Reads the value of the header. */
enum subprotocol subprotocol_read(const char *list, struct subprotocol_wishes *out);

#endif
