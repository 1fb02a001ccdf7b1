/* Client and server require this of a connection whose datagrams they carry. */
#ifndef CAUSEWAY_PAYLOAD_H
#define CAUSEWAY_PAYLOAD_H

#include "causeway/connection.h"

/* Returns CW_OK when each datagram of such a connection fits into the body of one payload
   packet. */
enum cw_error cw_payload_check(const struct cw_connection_config *config);

#endif
