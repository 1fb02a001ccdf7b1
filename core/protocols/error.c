#include "causeway/protocols/error.h"

const char *cw_protocol_error_string(enum cw_protocol_error error)
{
    switch (error) {
    case CW_PROTOCOL_OK:
        return "no error";
    case CW_PROTOCOL_ERROR_INVALID_ARGUMENT:
        return "an argument is NULL or out of range";
    case CW_PROTOCOL_ERROR_NO_MEMORY:
        return "there is not enough memory";
    case CW_PROTOCOL_ERROR_CONFIG:
        return "a field of the config is out of range; the config_error_field function of the "
               "protocol names it";
    case CW_PROTOCOL_ERROR_TOO_LARGE:
        return "this is longer than the config allows";
    case CW_PROTOCOL_ERROR_QUEUE_FULL:
        return "the queue is full; try again later";
    case CW_PROTOCOL_ERROR_TRANSMIT_PENDING:
        return "the previous packet has not been taken with transmit yet";
    case CW_PROTOCOL_ERROR_EVENTS_PENDING:
        return "too much waits for the application; take events with next";
    case CW_PROTOCOL_ERROR_MALFORMED:
        return "the datagram breaks the protocol";
    case CW_PROTOCOL_ERROR_STALE:
        return "the packet is not newer than the last one";
    case CW_PROTOCOL_ERROR_DUPLICATE:
        return "this arrived before";
    case CW_PROTOCOL_ERROR_COUNT:
        break;
    }
    return "unknown error";
}
