/* Which names a registry may have, in memory that the workers read: a link whose session has a name
   of its own, as that of a stranger has, asks no other process. */
#ifndef CAUSEWAY_RELAY_KNOWN_NAMES_H
#define CAUSEWAY_RELAY_KNOWN_NAMES_H

#include "session/parcel.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct known_names {
    atomic_uchar *counts; /* of names that fall on this place; those at the highest stay */
    size_t size;
};

/* Makes such memory for so many names; *fd is for the workers. False when the system refuses. */
bool known_names_create(struct known_names *known, unsigned most, int *fd);

/* That of the supervisor. False when the system refuses. */
bool known_names_open(struct known_names *known, int fd);

/* Frees it. All zero is allowed. */
void known_names_close(struct known_names *known);

/* Of a name that is kept, and no longer. */
void known_names_add(const struct known_names *known, const uint8_t name[PARCEL_NAME_SIZE]);
void known_names_remove(const struct known_names *known, const uint8_t name[PARCEL_NAME_SIZE]);

/* False when the name is not kept. True for few that are not: names are hashes with a secret, so
   nobody can choose one. */
bool known_names_may_have(const struct known_names *known, const uint8_t name[PARCEL_NAME_SIZE]);

#endif
