/* How the file descriptors that the system allows are divided between sessions and connections that
   are no sessions, so that these cannot take those of the others. */
#ifndef CAUSEWAY_RELAY_DESCRIPTORS_H
#define CAUSEWAY_RELAY_DESCRIPTORS_H

#include <stdbool.h>

struct descriptors {
    unsigned sessions;    /* at a time; at most what was asked for */
    unsigned pre_session; /* connections that are no sessions, at a time */
};

/* Opens /dev/null on those of 0 to 2 that are closed: the log would go into whatever is opened
   there. Before anything else is opened. False when it cannot. */
bool descriptors_open_standard(void);

/* Sets the process's limit to what so many sessions need, as far as the system allows it, and
   divides it. False, after logging why, when it does not do for anything. */
bool descriptors_divide(unsigned max_sessions, struct descriptors *out);

#endif
