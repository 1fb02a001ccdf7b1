#include "session/payload.h"

#include "base/config_fields.h"
#include "message/connection_internal.h"
#include "packet/packet_header.h"

#include "causeway/secure_packet.h"

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(connection, "must be set to the messages and channels; a client or server without them " \
                      "is a cw_netcode_client or cw_netcode_server")                               \
    OTHER(fragment_above, "must be at most 1191 in a secure connection")                           \
    OTHER(fragment_size, "must be at most 1186 in a secure connection")
CW_CONFIG_ERRORS(0x1220, FIELDS, cw_payload_errors)

_Static_assert(CW_PAYLOAD_MAX == 1200 && CW_PACKET_HEADER_MAX_SIZE == 1200 - 1191 &&
                   CW_FRAGMENT_HEADER_SIZE == 1191 - 1186,
               "the limits above");

enum cw_error cw_payload_check(const struct cw_connection_config *config)
{
    if (!config)
        return CW_FIELD_ERROR(connection);
    const enum cw_error error = cw_connection_config_check(config);
    if (error)
        return error;
    const struct cw_endpoint_config endpoint = cw_connection_endpoint_config(config);
    if (cw_endpoint_config_max_datagram_size(&endpoint) <= CW_PAYLOAD_MAX)
        return CW_OK;
    return endpoint.fragment_above > 1191 ? CW_FIELD_ERROR(fragment_above)
                                          : CW_FIELD_ERROR(fragment_size);
}
