/* The upgrade of a running relay. It starts its program anew, which may be another version by now,
   gives the successor its sockets and sessions, and then leaves. If the successor does not start,
   everything stays as it is. */
#ifndef CAUSEWAY_RELAY_UPGRADE_H
#define CAUSEWAY_RELAY_UPGRADE_H

#include "os/loop.h"
#include "process/child.h"
#include "process/message.h"

#include <stdbool.h>

/* The owner's part in an upgrade; `channel` leads to the successor. */
struct upgrade_owner {
    bool (*send_startup)(void *context, int channel);  /* sends the parts of struct startup */
    bool (*send_sessions)(void *context, int channel); /* sends all blocks and sessions */
    void (*leave)(void *context); /* ends everything that is left here: the successor serves it */
    /* Returns whether all sessions have a link whose pages have not left. */
    bool (*is_settled)(void *context);
    void *context;
};

struct upgrade {
    struct loop *loop;
    char *const *arguments;
    struct upgrade_owner owner;
    struct child successor;
    struct loop_watch watch;
    struct loop_timer timer;
    double settled;   /* the time from which on nobody is waited for */
    bool is_waiting;  /* an upgrade was asked for, and waits for players */
    bool is_repeated; /* another upgrade was asked for during this one */
};

/* Sets the members. `arguments` are those of the program. They and loop must outlive the upgrade.
 */
void upgrade_init(struct upgrade *upgrade, struct loop *loop, char *const *arguments,
                  const struct upgrade_owner *owner);

/* Starts a successor, once the players whom this process took over have come back: who has to look
   for the relay again and again is lost. If one is starting, it is upgraded in turn. Logs why when
   it cannot. */
void upgrade_begin(struct upgrade *upgrade);

/* Ends a successor that has not taken over yet, and starts none any more. */
void upgrade_cancel(struct upgrade *upgrade);

/* The successor's part: says that everything is open, gives `adopt` every message that comes before
   the start, with its descriptor, which `adopt` then owns, and says that the successor has started.
   Returns false when the predecessor has gone, or `adopt` returns false. */
bool upgrade_take_over(struct upgrade *upgrade, int channel,
                       bool (*adopt)(void *context, const struct message *message), void *context);

#endif
