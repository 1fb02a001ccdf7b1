/* The header of the PROXY protocol, versions 1 and 2, with which a proxy begins a connection and
   says whose it is. The format is HAProxy's proxy-protocol.txt. */
#ifndef CAUSEWAY_RELAY_PROXY_PROTOCOL_H
#define CAUSEWAY_RELAY_PROXY_PROTOCOL_H

#include "os/socket_address.h"

#include <stddef.h>
#include <stdint.h>

/* Longer headers are refused: the addresses take 52 bytes, what a proxy adds is not read. */
#define PROXY_PROTOCOL_MAX 1024

enum proxy_protocol {
    PROXY_PROTOCOL_MORE,  /* it may become one: ask again with more bytes */
    PROXY_PROTOCOL_NONE,  /* the connection begins with something else */
    PROXY_PROTOCOL_BAD,   /* it is malformed or too long */
    PROXY_PROTOCOL_LOCAL, /* the connection is the proxy's own */
    PROXY_PROTOCOL_CLIENT /* it is that of *client */
};

/* Reads the first bytes of a connection. *header_size is the length of a whole header; *client is
   filled in with PROXY_PROTOCOL_CLIENT alone. */
enum proxy_protocol proxy_protocol_read(const uint8_t *data, size_t size,
                                        struct socket_address *client, size_t *header_size);

#endif
