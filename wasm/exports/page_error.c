#include "base/client_error.h"
#include "exports/exports.h"

/* Instead of error.c, where there is nothing but a client. */
CW_EXPORT(error_string) const char *error_string(enum cw_error error)
{
    const char *text = cw_client_error_string(error);
    return text ? text : "unknown error";
}
