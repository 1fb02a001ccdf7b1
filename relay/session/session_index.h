/* An index of sessions by their hash, which is made of the key and the origin of a page, so that
   pages of other origins cannot use the key, and of the game server for which it asks. The hash is
   made with a secret of this relay: the time that a search takes says nothing of any key, and no
   key is stored. */
#ifndef CAUSEWAY_RELAY_SESSION_INDEX_H
#define CAUSEWAY_RELAY_SESSION_INDEX_H

#include "os/socket_address.h"

#include <stdbool.h>
#include <stdint.h>

#define SESSION_SECRET_SIZE 32
#define SESSION_HASH_SIZE   32

struct session_hash {
    bool given; /* false: the page has no key, and no link can find its session again */
    uint8_t bytes[SESSION_HASH_SIZE];
};

/* The entry of a session, embedded in it. Zero it before session_index_add. */
struct session_index_entry {
    struct session_hash hash;
    struct session_index_entry *next;
    bool listed;
};

struct session_index;

/* Creates an index that is fast for about `expected` sessions. secret is that of the other
   processes of the relay, which is copied; with NULL a new one is made. Returns NULL when there is
   no memory. */
struct session_index *session_index_create(unsigned expected,
                                           const uint8_t secret[SESSION_SECRET_SIZE]);

/* Returns the secret, for another process of the relay. */
const uint8_t *session_index_secret(const struct session_index *index);

/* Frees the index. NULL is allowed. */
void session_index_destroy(struct session_index *index);

/* Makes the hash of a valid key (see session_key.h), an origin, "" for none, and a server, all zero
   for none. Without a key (""), no hash is given. */
void session_index_hash(const struct session_index *index, const char *key, const char *origin,
                        const struct socket_address *server, struct session_hash *out);

/* Lists an entry under a hash that no other has. Does nothing when no hash is given. */
void session_index_add(struct session_index *index, struct session_index_entry *entry,
                       const struct session_hash *hash);

/* Removes an entry, which need not be listed. */
void session_index_remove(struct session_index *index, struct session_index_entry *entry);

/* Returns the entry with a hash; NULL when there is none. */
struct session_index_entry *session_index_find(const struct session_index *index,
                                               const struct session_hash *hash);

#endif
