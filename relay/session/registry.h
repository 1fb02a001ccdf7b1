/* The sessions that another process can carry on: a parcel and a copy of the socket of each, and
   which process has it now. */
#ifndef CAUSEWAY_RELAY_REGISTRY_H
#define CAUSEWAY_RELAY_REGISTRY_H

#include "os/deadlines.h"
#include "session/known_names.h"
#include "session/names.h"
#include "session/parcel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whose process has died, or has been replaced. */
#define REGISTRY_NOBODY 0u

struct registration {
    struct name_entry named;
    struct parcel parcel;
    int fd;
    unsigned owner;
    struct deadline deadline; /* while it is nobody's */
    struct registration *previous;
    struct registration *next;
};

struct registry {
    struct names *names;
    struct known_names known; /* for the workers, by way of this: */
    int known_fd;
    struct registration *first;
    unsigned count;
    unsigned most;
    struct deadlines deadlines;
};

/* Creates an empty one for at most so many; secret is that of the names, see names_create. False
   when there is no memory. */
bool registry_create(struct registry *registry, unsigned most,
                     const uint8_t secret[NAMES_SECRET_SIZE]);

/* Closes and frees what is in it. All zero is allowed. */
void registry_destroy(struct registry *registry);

/* Keeps a session of `owner`; when that is nobody, until `until`. It takes the place of one with
   the same name. Takes over fd. False, after closing it, when the parcel cannot be read or there is
   no room. */
bool registry_keep(struct registry *registry, const void *parcel, size_t size, int fd,
                   unsigned owner, double until);

/* The session with this name; NULL when nobody has it. */
struct registration *registry_find(const struct registry *registry,
                                   const uint8_t name[PARCEL_NAME_SIZE]);

/* Gives a session to a process. */
void registry_give(struct registry *registry, struct registration *registration, unsigned owner);

/* The process to which it was given does not have it: it is nobody's, and waits until `until`. */
void registry_release(struct registry *registry, struct registration *registration, double until);

/* Closes and frees it. */
void registry_forget(struct registry *registry, struct registration *registration);

/* The sessions of a process that has died are nobody's, and wait until `until`. */
void registry_orphan(struct registry *registry, unsigned owner, double until);

/* Forgets those that have waited long enough. Gives when it should be called again; INFINITY for
   never. */
double registry_expire(struct registry *registry, double now);

#endif
