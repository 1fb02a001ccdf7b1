/* A game server beside the relay (--exec). The process that was started first is neither: it starts
   both, passes signals on, and ends when both have ended. So it can be the first process of a
   container. */
#ifndef CAUSEWAY_RELAY_BESIDE_H
#define CAUSEWAY_RELAY_BESIDE_H

#include <stdbool.h>

/* Starts the command, a program and its arguments as a shell reads them, and a copy of this process
   that is to be the relay. Returns true in the copy. Returns false in this process when both have
   ended, with the exit code in *code: that of the game server, or that of the relay when only the
   relay has failed. */
bool beside_begin(const char *command, int *code);

#endif
