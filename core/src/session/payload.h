/* What client and server require of a connection whose datagrams they carry. */
#ifndef CAUSEWAY_PAYLOAD_H
#define CAUSEWAY_PAYLOAD_H

#include "message/connection_internal.h"

#include "causeway/secure_packet.h"

/* CW_OK when each datagram of such a connection fits into the body of one payload packet. */
static inline enum cw_error cw_payload_check(const struct cw_connection_config *config)
{
    const enum cw_error error = cw_connection_config_check(config);
    if (error)
        return error;
    const struct cw_endpoint_config endpoint = cw_connection_endpoint_config(config);
    return cw_endpoint_config_max_datagram_size(&endpoint) > CW_PAYLOAD_MAX
               ? CW_ERROR_CONFIG_PACKET_SIZE
               : CW_OK;
}

#endif
