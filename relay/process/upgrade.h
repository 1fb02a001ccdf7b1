/* The upgrade of a running relay: it starts its program anew, which may be another version by now,
   gives that what it has, and then leaves. If the successor does not start, everything stays as it
   is. */
#ifndef CAUSEWAY_RELAY_UPGRADE_H
#define CAUSEWAY_RELAY_UPGRADE_H

#include "os/child.h"
#include "os/heritage.h"
#include "os/loop.h"
#include "session/session.h"

#include <stdbool.h>

/* How the owner takes part; `line` is the successor's. */
struct upgrade_owner {
    bool (*bequeath)(void *context, int line);  /* send secret and sockets, see heritage.h */
    bool (*hand_over)(void *context, int line); /* send the parcels of all sessions */
    void (*replaced)(void *context); /* the successor serves them: leave what is still here */
    void *context;
};

struct upgrade {
    struct loop *loop;
    char *const *arguments;
    struct upgrade_owner owner;
    struct child successor;
    struct loop_watch watch;
    struct loop_timer timer;
};

/* Sets the members. `arguments` are those of the program, and must outlive it, as loop. */
void upgrade_init(struct upgrade *upgrade, struct loop *loop, char *const *arguments,
                  const struct upgrade_owner *owner);

/* Starts a successor, unless one is starting. Logs why when it cannot. */
void upgrade_begin(struct upgrade *upgrade);

/* Ends a successor that has not taken over yet. */
void upgrade_cancel(struct upgrade *upgrade);

/* The other side: says that everything is open, gives `adopt` every message that comes before the
   start, with its descriptor (-1 if it has none), and says that it has started. Returns false when
   the predecessor has gone, or `adopt` does. */
bool upgrade_take_over(int line,
                       bool (*adopt)(void *context, enum heritage_message kind, const void *data,
                                     size_t size, int fd),
                       void *context);

#endif
