/* The header of the PROXY protocol, versions 1 and 2, with which a proxy begins a connection and
   names its client. The format is described in HAProxy's proxy-protocol.txt. */
#ifndef CAUSEWAY_RELAY_PROXY_PROTOCOL_H
#define CAUSEWAY_RELAY_PROXY_PROTOCOL_H

#include "os/socket_address.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest header; longer ones are refused. The addresses take 52 bytes; what a proxy
   adds behind them is not read. */
#define PROXY_PROTOCOL_MAX 1024

enum proxy_protocol {
    PROXY_PROTOCOL_MORE,  /* the bytes may become a header: ask again with more of them */
    PROXY_PROTOCOL_NONE,  /* the connection begins with something else */
    PROXY_PROTOCOL_BAD,   /* the header is malformed or too long */
    PROXY_PROTOCOL_LOCAL, /* the connection is the proxy's own */
    PROXY_PROTOCOL_CLIENT /* the connection is that of *client */
};

/* Reads the first bytes of a connection. *header_size is the length of a whole header; *client is
   filled in with PROXY_PROTOCOL_CLIENT alone. */
enum proxy_protocol proxy_protocol_read(const uint8_t *data, size_t size,
                                        struct socket_address *client, size_t *header_size);

#endif
