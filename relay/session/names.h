/* Sessions by name. A name is made of the key and the origin of a page, so pages of other origins
   cannot use the key, and of the game server that it asks for. It is a hash with a secret of this
   relay: how long a search takes says nothing of any key, and no key is kept. */
#ifndef CAUSEWAY_RELAY_NAMES_H
#define CAUSEWAY_RELAY_NAMES_H

#include "os/socket_address.h"

#include <stdbool.h>
#include <stdint.h>

#define NAMES_SECRET_SIZE 32

struct name {
    bool given; /* else there is no name, and nothing else can have it */
    uint8_t hash[32];
};

/* Embedded in its owner. Zero it before names_add. */
struct name_entry {
    struct name name;
    struct name_entry *next;
    bool listed;
};

struct names;

/* Creates a table that is fast for about `expected` names. secret is that of the other processes of
   the relay, which is copied; with NULL a new one is made. NULL when there is no memory. */
struct names *names_create(unsigned expected, const uint8_t secret[NAMES_SECRET_SIZE]);

/* The secret, for another process of the relay. */
const uint8_t *names_secret(const struct names *names);

/* Frees it. NULL is allowed. */
void names_destroy(struct names *names);

/* Makes a name of a valid key (see key.h), an origin, "" for none, and a server, all zero for none.
   Without a key, "", none is given. */
void names_make(const struct names *names, const char *key, const char *origin,
                const struct socket_address *server, struct name *out);

/* Lists an owner under a name that nobody has. Does nothing when no name is given. */
void names_add(struct names *names, struct name_entry *entry, const struct name *name);

/* Takes it out. It need not be listed. */
void names_remove(struct names *names, struct name_entry *entry);

/* The owner of a name; NULL when nobody has it. */
struct name_entry *names_find(const struct names *names, const struct name *name);

#endif
