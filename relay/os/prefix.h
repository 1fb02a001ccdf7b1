/* Prefixes of addresses (CIDR). An IPv4 prefix holds the same addresses inside IPv6. */
#ifndef CAUSEWAY_RELAY_PREFIX_H
#define CAUSEWAY_RELAY_PREFIX_H

#include "os/socket_address.h"

#include <stdbool.h>

#define PREFIX_LIST_MAX 64

struct prefix {
    unsigned char address[16]; /* IPv4 as ::ffff:a.b.c.d */
    unsigned bits;             /* the length of the prefix in bits, out of these 128 */
};

struct prefix_list {
    struct prefix prefixes[PREFIX_LIST_MAX];
    unsigned count;
};

/* Reads "10.0.0.0/8", "2001:db8::/32", or a single address. Returns false when the text has another
   form, or bits below the prefix are set, which is most likely a mistake. */
bool prefix_parse(const char *text, struct prefix *out);

/* Reads the beginning of a text that prefix_parse refuses, whatever follows, and clears the bits
   below the prefix: "10.1.2.3/8" becomes 10.0.0.0/8. Returns false when these were not the
   mistake. */
bool prefix_correct(const char *text, struct prefix *out);

/* Bytes of the longest text of a prefix, with its terminator. */
#define PREFIX_TEXT 52

/* Writes a prefix as prefix_parse reads it, with its bits. */
void prefix_format(const struct prefix *prefix, char text[PREFIX_TEXT]);

/* Returns whether the address, whatever its port, is in the prefix. */
bool prefix_holds(const struct prefix *prefix, const struct socket_address *address);

/* Returns whether all of `inner` is in `outer`. */
bool prefix_within(const struct prefix *inner, const struct prefix *outer);

/* Returns whether a prefix holds IPv4 addresses only. */
bool prefix_is_v4(const struct prefix *prefix);

/* Adds a prefix. Returns false when prefix_parse does not read it, or the list is full. */
bool prefix_list_add(struct prefix_list *list, const char *text);

/* Returns whether one of the prefixes holds the address. */
bool prefix_list_holds(const struct prefix_list *list, const struct socket_address *address);

#endif
