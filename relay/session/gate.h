/* The check of datagrams from a browser: only those may go on that could be packets of a secure
   connection, as far as one can tell without its keys. */
#ifndef CAUSEWAY_RELAY_GATE_H
#define CAUSEWAY_RELAY_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GATE_PROTOCOLS_MAX 8

struct gate {
    /* everything may go on but Emscripten's port messages, by which its sockets tell one another
       their ports: a game server would take them for its players' */
    bool raw;
    uint64_t protocols[GATE_PROTOCOLS_MAX];
    unsigned protocol_count; /* 0 = all are allowed */
};

enum gate_verdict { GATE_PASS, GATE_NO_REQUEST, GATE_PROTOCOL };

/* Returns whether a datagram may begin a session: it must be a connection request for an allowed
   protocol. Only the game server judges when its token expires: it is the one who can tell whether
   that time is forged, and a relay whose clock is wrong would refuse all players. */
enum gate_verdict gate_opens(const struct gate *gate, const uint8_t *data, size_t size);

/* Returns the id of the token in a connection request, see cw_token_id; 0 when it is none. */
uint64_t gate_token_id(const uint8_t *data, size_t size);

/* Returns true when a later datagram has the shape of a packet to a server. */
bool gate_passes(const struct gate *gate, const uint8_t *data, size_t size);

/* Returns true when a datagram from the game server is an answer to this browser. A challenge is no
   answer: a stranger who repeats the request of a connected player gets one. */
bool gate_is_answer(const struct gate *gate, const uint8_t *data, size_t size);

#endif
