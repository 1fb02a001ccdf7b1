/* What a client's errors say. They are apart from the others, so that a page's module holds no more
   than these. */
#ifndef CAUSEWAY_CLIENT_ERROR_H
#define CAUSEWAY_CLIENT_ERROR_H

#include "causeway/error.h"

#include <stddef.h>

/* As cw_error_string; NULL for errors that only sockets, servers, the game kit and the lab have,
   and for those that only say why a datagram was dropped. */
const char *cw_client_error_string(enum cw_error error);

#endif
