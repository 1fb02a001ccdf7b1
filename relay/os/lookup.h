/* Looks host names up while the loop runs. The system's resolver makes its caller wait, so a thread
   asks it. The thread shares nothing with the relay but a socket, and is left behind when the
   answer is no longer wanted. */
#ifndef CAUSEWAY_RELAY_LOOKUP_H
#define CAUSEWAY_RELAY_LOOKUP_H

#include "os/loop.h"
#include "os/socket_address.h"

#include <limits.h>
#include <stdbool.h>

#define LOOKUP_ADDRESSES_MAX 16

#define LOOKUP_SECONDS_UNTOLD UINT_MAX

struct lookup_answer {
    const char *error; /* constant text; NULL = found */
    /* the seconds for which the DNS says that it is good, or LOOKUP_SECONDS_UNTOLD */
    unsigned seconds;
    unsigned count;
    struct socket_address addresses[LOOKUP_ADDRESSES_MAX]; /* IPv4 first; their ports are 0 */
};

/* Looks a name, or an address, up and waits for the answer, which does not tell its seconds. */
void lookup_now(const char *name, struct lookup_answer *out);

/* A lookup, of one name at a time. Zero it, but for the last two members, and set watch.fd to -1.
 */
struct lookup {
    struct loop *loop;
    struct loop_watch watch;
    void (*answered)(void *context, const struct lookup_answer *answer);
    void *context;
};

/* Begins to look a name up; `answered` will be called once. Returns false when the system refuses.
 */
bool lookup_begin(struct lookup *lookup, struct loop *loop, const char *name);

/* Cancels the lookup, if one is under way: `answered` is not called any more. */
void lookup_cancel(struct lookup *lookup);

#endif
