/* The header before a datagram that tells the game server which client sent it: Cloudflare
   Spectrum's Simple Proxy Protocol, or the PROXY protocol, version 2, for datagrams. */
#ifndef CAUSEWAY_RELAY_CLIENT_HEADER_H
#define CAUSEWAY_RELAY_CLIENT_HEADER_H

#include "os/socket_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLIENT_HEADER_MAX 52

enum client_header_format {
    CLIENT_HEADER_NONE,
    CLIENT_HEADER_SPP,  /* stands before every datagram, and before the game server's answers */
    CLIENT_HEADER_PPV2, /* stands before the first datagrams, which make the game server speak */
};

/* Reads "none", "spp" or "ppv2". */
bool client_header_parse(const char *text, enum client_header_format *out);

/* The header of all datagrams of a session. It also travels between processes. */
struct client_header {
    uint8_t format; /* an enum client_header_format; the size is 0 when it is NONE */
    uint8_t size;
    uint8_t bytes[CLIENT_HEADER_MAX];
};

/* Writes the header for a client, whose datagrams the relay sends on from the address `proxy`. */
void client_header_write(enum client_header_format format, const struct socket_address *client,
                         const struct socket_address *proxy, struct client_header *out);

/* Returns whether the header belongs before a datagram. `answered` tells that the game server has
   spoken. The header always belongs before a datagram that the game server could take for a header
   itself, and before one that asks for a connection, because the game server at that address may be
   another by now. */
bool client_header_belongs(const struct client_header *header, const uint8_t *data, size_t size,
                           bool answered);

/* Returns the size of the header before an answer of the game server: 0 when there is none. */
size_t client_header_of_answer(const struct client_header *header, const uint8_t *data,
                               size_t size);

#endif
