/* Facts about datagrams that everything which carries a session shares. */
#ifndef CAUSEWAY_RELAY_DATAGRAM_H
#define CAUSEWAY_RELAY_DATAGRAM_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest datagram in either direction. */
#define SESSION_DATAGRAM_MAX 1400

/* The longest message: a longer one than UDP carries is no datagram at all. */
#define SESSION_MESSAGE_MAX 65535

/* One datagram. Its bytes belong to the caller that passes it on, and are valid during the call. */
struct datagram {
    const uint8_t *data;
    size_t size;
};

#endif
