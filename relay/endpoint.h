/* Socket addresses: from text, through the resolver, and back to text. */
#ifndef CAUSEWAY_RELAY_ENDPOINT_H
#define CAUSEWAY_RELAY_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Longest text of endpoint_format with its end: "[v6%scope]:port". */
#define ENDPOINT_TEXT 80

struct endpoint {
    struct sockaddr_storage address;
    socklen_t size;
};

/* True when text has the form of "host:port", "[v6]:port" or ":port", the port a number from
   lowest_port to 65535. Does not resolve. */
bool endpoint_valid(const char *text, unsigned lowest_port);

/* Reads an address without a name: "1.2.3.4", "1.2.3.4:5", "[::1]:5" or "::1". *has_port tells
   whether a port was given; without one it is 0. False when text has another form. */
bool endpoint_parse(const char *text, struct endpoint *out, bool *has_port);

/* Resolves a text of the form that endpoint_valid tells; the first IPv4 address of a name with both
   kinds, because many game servers listen on IPv4 alone. ":port" is the IPv6 wildcard. False with
   the resolver's reason in *error (constant text) when there is no address. */
bool endpoint_resolve(const char *text, struct endpoint *out, const char **error);

/* Its port, and another one put in its place. */
unsigned endpoint_port(const struct endpoint *endpoint);
void endpoint_set_port(struct endpoint *endpoint, unsigned port);

/* Writes "1.2.3.4:5" or "[::1]:5"; an IPv4 address inside IPv6 is written as IPv4. */
void endpoint_format(const struct endpoint *endpoint, char text[ENDPOINT_TEXT]);

/* The 16 bytes that stand for the owner of an address: an IPv4 address (mapped), or an IPv6 /64. */
void endpoint_owner(const struct endpoint *endpoint, unsigned char owner[16]);

/* A hash of those; with a random seed nobody can choose addresses that share a place in a table. */
uint64_t endpoint_owner_hash(const unsigned char owner[16], uint64_t seed);

#endif
