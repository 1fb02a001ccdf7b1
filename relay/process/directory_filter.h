/* A counting filter of the hashes in the directory, in memory that the workers read: a link whose
   session has a hash of its own, as that of a newcomer has, asks no other process. */
#ifndef CAUSEWAY_RELAY_DIRECTORY_FILTER_H
#define CAUSEWAY_RELAY_DIRECTORY_FILTER_H

#include "session/session_index.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct directory_filter {
    atomic_uchar *counts; /* of the hashes that fall on this place; a full one stays so */
    size_t size;
};

/* Makes such memory for so many hashes; *fd is for the workers. False when the system refuses. */
bool directory_filter_create(struct directory_filter *filter, unsigned capacity, int *fd);

/* Opens that of the supervisor. False when the system refuses. */
bool directory_filter_open(struct directory_filter *filter, int fd);

/* Frees it. All zero is allowed. */
void directory_filter_close(struct directory_filter *filter);

/* Count a hash that has come into the directory, and one that has left it. */
void directory_filter_add(const struct directory_filter *filter,
                          const uint8_t hash[SESSION_HASH_SIZE]);
void directory_filter_remove(const struct directory_filter *filter,
                             const uint8_t hash[SESSION_HASH_SIZE]);

/* False when the hash is not in the directory. True for few that are not: they are made with a
   secret, so nobody can choose one. */
bool directory_filter_may_contain(const struct directory_filter *filter,
                                  const uint8_t hash[SESSION_HASH_SIZE]);

#endif
