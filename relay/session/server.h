/* The game server that a page names whenever it opens a link: "10.0.0.5_7000", or
   "2001-db8--5_7000" for IPv6, since neither a subprotocol may contain a colon nor a line of SDP
   end in one. */
#ifndef CAUSEWAY_RELAY_SERVER_H
#define CAUSEWAY_RELAY_SERVER_H

#include "os/socket_address.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the longest text, without a terminator. */
#define SESSION_SERVER_TEXT 51

/* Reads such a text; an IPv4 address inside IPv6 is that IPv4 address. Returns false when the text
   has another form, or port 0; then *out is all zero. */
bool session_server_read(const char *text, size_t size, struct socket_address *out);

#endif
