/* The relay as a whole. */
#ifndef CAUSEWAY_RELAY_RELAY_H
#define CAUSEWAY_RELAY_RELAY_H

#include "options/options.h"
#include "process/startup.h"

struct relay;

/* Opens everything, or takes it over from the process that started this one, with its sessions.
   Logs what failed and returns NULL when something cannot be opened. options must outlive the
   relay; the startup is used up. */
struct relay *relay_create(const struct options *options, struct startup *startup);

/* Serves until a signal stops it and all sessions are closed. */
void relay_run(struct relay *relay);

/* Closes everything. NULL is allowed. */
void relay_destroy(struct relay *relay);

#endif
