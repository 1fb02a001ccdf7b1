/* The functions that the file of each platform has for cw_resolve: resolve_posix.c or
   resolve_windows.c. This header is not installed. */
#ifndef CAUSEWAY_NATIVE_RESOLVE_INTERNAL_H
#define CAUSEWAY_NATIVE_RESOLVE_INTERNAL_H

#include "causeway/base.h"

#include <stdbool.h>

/* Looks a name up: its first IPv4 address, or its first IPv6 address if it has no IPv4 one, with
   port 0. Returns false when it has none. */
bool cw_system_resolve(const char *name, struct cw_address *address);

/* Returns whether the system's resolver takes the name for an address, as it does "127.1" and
   "0x7f.1". */
bool cw_system_is_address(const char *name);

#endif
