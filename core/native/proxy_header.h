/* The headers with which a proxy names the sender of a datagram: the Simple Proxy Protocol of
   Cloudflare Spectrum, and version 2 of the PROXY protocol, after HAProxy's proxy-protocol.txt.
   This header is not installed. */
#ifndef CAUSEWAY_NATIVE_PROXY_HEADER_H
#define CAUSEWAY_NATIVE_PROXY_HEADER_H

#include "causeway/base.h"

#include <stddef.h>
#include <stdint.h>

#define CW_SIMPLE_HEADER_SIZE 38

/* The longest header in bytes: longer ones are malformed. The addresses take 52 bytes; anything
   that a proxy adds to them is not read. */
#define CW_PROXY_HEADER_MAX 256

enum cw_proxy_header {
    CW_PROXY_HEADER_NONE,   /* the datagram begins with something else */
    CW_PROXY_HEADER_BAD,    /* the header is malformed */
    CW_PROXY_HEADER_LOCAL,  /* the datagram is the proxy's own */
    CW_PROXY_HEADER_SIMPLE, /* the datagram is the client's; this header is before every one, both
                               ways */
    CW_PROXY_HEADER_V2 /* the datagram is the client's; this header is before the first ones only */
};

/* Reads the beginning of a datagram. *client and *header_size are filled in for a client's
   datagram, only *header_size for the proxy's own. */
enum cw_proxy_header cw_proxy_header_read(const uint8_t *data, size_t size,
                                          struct cw_address *client, size_t *header_size);

#endif
