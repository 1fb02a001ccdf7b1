/* Everything that carries a session shares these facts about datagrams. */
#ifndef CAUSEWAY_RELAY_DATAGRAM_H
#define CAUSEWAY_RELAY_DATAGRAM_H

#include <stddef.h>
#include <stdint.h>

/* The longest datagram in either direction. */
#define SESSION_DATAGRAM_MAX 1400

/* What is longer than UDP carries is no datagram at all. */
#define SESSION_MESSAGE_MAX 65535

/* One datagram. Its bytes belong to whoever passes it on, and are valid during the call. */
struct datagram {
    const uint8_t *data;
    size_t size;
};

#endif
