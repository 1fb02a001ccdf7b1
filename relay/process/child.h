/* Another process of this program, with a channel to it, see message.h. */
#ifndef CAUSEWAY_RELAY_CHILD_H
#define CAUSEWAY_RELAY_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
    pid_t pid; /* 0 = none */
    int channel;
};

enum child_program {
    CHILD_ANEW, /* from the path by which this process was started: perhaps another version */
    CHILD_SAME, /* the executable of this process, even if another is at that path by now */
};

/* Starts the program with these arguments. False, with errno, when it cannot. */
bool child_start(struct child *child, enum child_program which, char *const *arguments);

/* Kills it, unless it has ended already, closes the channel, and waits for the end. Gives its wait
   status. */
int child_end(struct child *child);

/* Closes the channel to a process that goes its own way. */
void child_leave(struct child *child);

/* The channel of this process to the one that started it; -1 when that was none of ours. Call it
   once. */
int child_own_channel(void);

#endif
