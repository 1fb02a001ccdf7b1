/* The file descriptors that the system allows are divided between sessions and other connections,
   so that neither can use up the other's share. */
#ifndef CAUSEWAY_RELAY_DESCRIPTORS_H
#define CAUSEWAY_RELAY_DESCRIPTORS_H

#include <stdbool.h>

/* The number of descriptors for connections to the admin listener. */
#define DESCRIPTORS_ADMIN 16

struct descriptors {
    unsigned sessions;    /* sessions at a time; at most the number that was asked for */
    unsigned capacity;    /* the number that these may become while the relay runs */
    unsigned pre_session; /* connections at a time that are no sessions */
};

/* Opens /dev/null on each of the descriptors 0 to 2 that is closed. Otherwise the log would be
   written into the next file to be opened. Call it before anything else is opened. Returns false
   when it cannot. */
bool descriptors_open_standard(void);

/* Sets the process's limit to the number that twice these sessions need, as far as the system
   allows, and divides it, so that there may be more sessions after a reload. Where the limit cannot
   be set, the present one is divided. Logs why and returns false when there are too few for
   anything. */
bool descriptors_divide(unsigned max_sessions, struct descriptors *out);

#endif
