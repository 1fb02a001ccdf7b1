/* Another process of this program, with a channel to it, see message.h. */
#ifndef CAUSEWAY_RELAY_CHILD_H
#define CAUSEWAY_RELAY_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
    pid_t pid; /* 0 = there is no process */
    int channel;
};

enum child_program {
    /* the program at the path by which this process was started: perhaps another version */
    CHILD_ANEW,
    CHILD_SAME, /* the executable of this process, even if another is at its path by now */
};

/* Starts the program with these arguments. Returns false, with errno, when it cannot. */
bool child_start(struct child *child, enum child_program which, char *const *arguments);

/* Kills the process, unless it has ended already, closes the channel, and waits for the end.
   Returns the process's wait status. */
int child_end(struct child *child);

/* Closes the channel to a process, which goes on by itself. */
void child_leave(struct child *child);

/* Returns the channel of this process to the one that started it; -1 when that was no process of
   the relay. Call it once. */
int child_own_channel(void);

#endif
