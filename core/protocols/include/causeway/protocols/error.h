/* Everything that can go wrong in the protocols of this library, as values. They are a set of their
   own: the errors of causeway/base.h do not appear here.

   A NULL pointer that a function needs is a mistake everywhere, and so is a time that is not
   finite. Nothing happens then, and the function returns CW_PROTOCOL_ERROR_INVALID_ARGUMENT, or
   false, 0 or NULL if it does not return an error. */
#ifndef CAUSEWAY_PROTOCOLS_ERROR_H
#define CAUSEWAY_PROTOCOLS_ERROR_H

#include "causeway/base.h"

CW_BEGIN_DECLARATIONS

enum cw_protocol_error {
    CW_PROTOCOL_OK = 0,
    CW_PROTOCOL_ERROR_INVALID_ARGUMENT,
    CW_PROTOCOL_ERROR_NO_MEMORY,
    CW_PROTOCOL_ERROR_CONFIG, /* cw_X_config_error_field names the field */

    /* calls that cannot be carried out now */
    CW_PROTOCOL_ERROR_TOO_LARGE,
    CW_PROTOCOL_ERROR_QUEUE_FULL,
    CW_PROTOCOL_ERROR_TRANSMIT_PENDING,
    CW_PROTOCOL_ERROR_EVENTS_PENDING,

    /* datagrams that are not delivered */
    CW_PROTOCOL_ERROR_MALFORMED,
    CW_PROTOCOL_ERROR_STALE,
    CW_PROTOCOL_ERROR_DUPLICATE,

    CW_PROTOCOL_ERROR_COUNT
};

/* One sentence in plain English that says what is wrong and, where it helps, what to do. The string
   is static and never NULL. */
const char *cw_protocol_error_string(enum cw_protocol_error error);

CW_END_DECLARATIONS

#endif
