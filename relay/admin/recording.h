/* A recording of a session, as causeway-record prints it and the lab opens it. */
#ifndef CAUSEWAY_RELAY_RECORDING_H
#define CAUSEWAY_RELAY_RECORDING_H

#include "os/text.h"
#include "session/session_summary.h"

/* Writes a recording of the summaries of one session, the oldest first: a note of each part between
   two of them, how long nothing came in it, and what was dropped. Sets out->failed when there is no
   memory. */
void recording_write(const struct session_summary *summaries, unsigned count, struct text *out);

#endif
