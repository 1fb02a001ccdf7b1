/* Which datagrams from a browser may go on: those that could be packets of a secure connection, as
   far as one can tell without its keys. */
#ifndef CAUSEWAY_RELAY_GATE_H
#define CAUSEWAY_RELAY_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GATE_PROTOCOLS_MAX 8

struct gate {
    bool raw; /* everything may go on but Emscripten's port messages: with them its sockets tell
                 one another their ports, and a game server would take them for players' */
    uint64_t protocols[GATE_PROTOCOLS_MAX];
    unsigned protocol_count; /* 0: all are allowed */
    double expired_seconds;  /* for so long after its end a token may still begin a session: that of
                                a player whom the server knows, and who comes from elsewhere */
};

enum gate_verdict { GATE_PASS, GATE_NO_REQUEST, GATE_PROTOCOL, GATE_EXPIRED };

/* Judges whether a datagram may begin a session: it must be a connection request for an allowed
   protocol, with a token that has not expired, or not for long, at unix_time (seconds). */
enum gate_verdict gate_opens(const struct gate *gate, const uint8_t *data, size_t size,
                             uint64_t unix_time);

/* True when a later datagram has the shape of a packet to a server. */
bool gate_passes(const struct gate *gate, const uint8_t *data, size_t size);

/* True when a datagram from the game server is an answer to this browser. A challenge is not:
   whoever repeats the request of a connected player gets one. */
bool gate_is_answer(const struct gate *gate, const uint8_t *data, size_t size);

#endif
