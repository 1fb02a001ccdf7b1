/* A counting filter of the hashes in the directory, in memory that the supervisor and the workers
   share. A newcomer brings a key, and so a hash, of its own: for most such links the filter spares
   the worker from asking the supervisor. A worker counts a hash before it publishes the session, so
   that other workers ask for it even before the supervisor has read the message. */
#ifndef CAUSEWAY_RELAY_DIRECTORY_FILTER_H
#define CAUSEWAY_RELAY_DIRECTORY_FILTER_H

#include "session/session_index.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct directory_filter {
    atomic_uchar *counts; /* the numbers of hashes that fall on each place; a full count stays so */
    size_t size;
};

/* Makes such memory for this many hashes; *fd is for the workers. Returns false when the system
   refuses. */
bool directory_filter_create(struct directory_filter *filter, unsigned capacity, int *fd);

/* Opens the memory of the supervisor. Returns false when the system refuses. */
bool directory_filter_open(struct directory_filter *filter, int fd);

/* Frees the memory. All zero is allowed. */
void directory_filter_close(struct directory_filter *filter);

/* Count a hash that comes into the directory, and one that has left it. */
void directory_filter_add(const struct directory_filter *filter,
                          const uint8_t hash[SESSION_HASH_SIZE]);
void directory_filter_remove(const struct directory_filter *filter,
                             const uint8_t hash[SESSION_HASH_SIZE]);

/* Returns false when the hash is not in the directory. Returns true for few that are not: hashes
   are made with a secret, so nobody can choose one. */
bool directory_filter_may_contain(const struct directory_filter *filter,
                                  const uint8_t hash[SESSION_HASH_SIZE]);

#endif
