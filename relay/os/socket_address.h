/* Socket addresses: from text, through the resolver, and back to text. */
#ifndef CAUSEWAY_RELAY_SOCKET_ADDRESS_H
#define CAUSEWAY_RELAY_SOCKET_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Bytes of the longest text that socket_address_format writes, with its terminator:
   "[v6%scope]:port". */
#define SOCKET_ADDRESS_TEXT 80

/* An address of IPv4 or IPv6. Every session keeps several, so it is smaller than a struct
   sockaddr_storage. */
struct socket_address {
    union {
        struct sockaddr_in6 v6; /* first, so that {0} clears all */
        struct sockaddr_in v4;
        struct sockaddr any;
    } address;
    socklen_t size;
};

/* Returns true when text has the form "host:port", "[v6]:port" or ":port", where port is a number
   from lowest_port to 65535. Resolves nothing. */
bool socket_address_valid(const char *text, unsigned lowest_port);

/* Reads an address that is not a name: "1.2.3.4", "1.2.3.4:5", "[::1]:5" or "::1". *has_port tells
   whether there was a port; without one, the port is 0. Returns false when text has another form.
 */
bool socket_address_parse(const char *text, struct socket_address *out, bool *has_port);

/* Resolves a text that socket_address_valid accepts, a name as cw_resolve does. ":port" is the IPv6
   wildcard. Returns false, with the reason in *error (constant text), when there is no address. */
bool socket_address_resolve(const char *text, struct socket_address *out, const char **error);

/* Read and change the port of an address. */
unsigned socket_address_port(const struct socket_address *socket_address);
void socket_address_set_port(struct socket_address *socket_address, unsigned port);

/* Writes the 16 bytes of an address, an IPv4 address as ::ffff:a.b.c.d, which is the same address.
   Returns false when it is of neither family. */
bool socket_address_bytes(const struct socket_address *socket_address, unsigned char out[16]);

/* Tells whether these bytes are an IPv4 address, and makes an address of them, with port 0. */
bool socket_address_bytes_are_v4(const unsigned char bytes[16]);
void socket_address_of_bytes(const unsigned char bytes[16], struct socket_address *out);

/* Returns whether two addresses and their ports are the same, an IPv4 address inside IPv6 or not.
 */
bool socket_address_same(const struct socket_address *a, const struct socket_address *b);

/* Writes "1.2.3.4:5" or "[::1]:5". An IPv4 address inside IPv6 is written as IPv4. */
void socket_address_format(const struct socket_address *socket_address,
                           char text[SOCKET_ADDRESS_TEXT]);

/* Writes the 16 bytes that stand for the owner of an address: an IPv4 address (mapped) or an IPv6
   /64. */
void socket_address_owner(const struct socket_address *socket_address, unsigned char owner[16]);

/* Returns a hash of these bytes. With a random seed nobody can choose addresses that collide in a
   table. */
uint64_t socket_address_owner_hash(const unsigned char owner[16], uint64_t seed);

#endif
