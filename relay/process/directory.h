/* The supervisor's directory of the sessions that any worker can carry on: the state of each, a
   copy of its socket, and which worker has it now. */
#ifndef CAUSEWAY_RELAY_DIRECTORY_H
#define CAUSEWAY_RELAY_DIRECTORY_H

#include "os/deadlines.h"
#include "process/directory_filter.h"
#include "session/session_index.h"
#include "session/session_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A session that waits has this worker: its process has died, or has been replaced. */
#define DIRECTORY_NO_WORKER 0u

struct directory_entry {
    struct session_index_entry indexed;
    struct session_state state;
    int fd;
    unsigned worker;
    struct deadline deadline; /* when it expires, while no worker has it */
    struct directory_entry *previous;
    struct directory_entry *next;
};

struct directory {
    struct session_index *index;
    struct directory_filter filter; /* the filter through which workers read */
    int filter_fd;
    struct directory_entry *first;
    unsigned count;
    unsigned capacity;
    struct deadlines deadlines;
};

/* Creates an empty directory for at most `capacity` sessions; secret is that of the hashes, see
   session_index_create. Returns false when there is no memory. */
bool directory_create(struct directory *directory, unsigned capacity,
                      const uint8_t secret[SESSION_SECRET_SIZE]);

/* Closes and frees the contents of the directory. All zero is allowed. */
void directory_destroy(struct directory *directory);

/* Adds a session of a worker, which has counted the hash in the filter. With DIRECTORY_NO_WORKER
   the hash is counted here, and the session stays until `until`. The session takes the place of one
   with the same hash. Takes over fd. Returns false, after closing fd, when the state cannot be read
   or the directory is full; then the hash no longer counts. */
bool directory_put(struct directory *directory, const void *state, size_t size, int fd,
                   unsigned worker, double until);

/* Returns the session with this hash; NULL when there is none. */
struct directory_entry *directory_find(const struct directory *directory,
                                       const uint8_t hash[SESSION_HASH_SIZE]);

/* Gives a session to a worker. */
void directory_assign(struct directory *directory, struct directory_entry *entry, unsigned worker);

/* Takes a session from a worker that does not have it: the session waits for another until `until`.
 */
void directory_release(struct directory *directory, struct directory_entry *entry, double until);

/* Closes and frees a session. */
void directory_remove(struct directory *directory, struct directory_entry *entry);

/* Takes all sessions from a worker that has died: they wait for others until `until`. */
void directory_release_all(struct directory *directory, unsigned worker, double until);

/* Removes the sessions that have waited long enough. Returns when to call this again; INFINITY for
   never. */
double directory_expire(struct directory *directory, double now);

#endif
