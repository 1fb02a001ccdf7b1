/* The source addresses of sessions that share a socket: each has one of a prefix that no other
   session to its game server has, nor has had of late. */
#ifndef CAUSEWAY_RELAY_SOURCES_H
#define CAUSEWAY_RELAY_SOURCES_H

#include "os/prefix.h"
#include "os/socket_address.h"

#include <stdbool.h>

/* Before a game server sees an address of a session that has ended again. By then it has noticed
   that its player is gone, and sends nothing there any more. */
#define SOURCES_REST_SECONDS 30.0

/* An address towards a game server. */
struct source {
    struct source *next;       /* of the same place in the table */
    struct source *after;      /* the one that rests next */
    unsigned char address[16]; /* IPv4 as ::ffff:a.b.c.d */
    struct socket_address server;
    void *owner; /* NULL = it rests */
    double rests_until;
};

struct sources;

/* Creates the set for a prefix, for so many in use at a time. It begins at a random address and
   then goes on to the next. An IPv4 prefix lends neither its first nor its last address, which are
   those of the network and its broadcasts, unless it has no others; so does an IPv6 prefix. NULL
   when there is no memory. */
struct sources *sources_create(const struct prefix *prefix, unsigned most);

/* Frees it and all that are in it. NULL is allowed. */
void sources_destroy(struct sources *sources);

/* The last address that it lends. */
void sources_last(const struct sources *sources, unsigned char out[16]);

/* An address towards a server, for an owner, which is not NULL. NULL when all are taken or rest. */
struct source *sources_take(struct sources *sources, const struct socket_address *server,
                            void *owner, double now);

/* The same, of this address, which need not be in the prefix. NULL when it is taken or rests. */
struct source *sources_take_this(struct sources *sources, const unsigned char address[16],
                                 const struct socket_address *server, void *owner, double now);

/* What goes from a server to an address, whether that is in use or rests; NULL when it is neither.
   Work does not grow with their number. */
struct source *sources_find(const struct sources *sources, const unsigned char address[16],
                            const struct socket_address *server);

/* Lets an address that is in use rest. */
void sources_release(struct sources *sources, struct source *source, double now);

/* How many are in use. */
unsigned sources_count(const struct sources *sources);

#endif
