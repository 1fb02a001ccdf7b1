#include "causeway/error.h"
#include "exports/exports.h"

CW_EXPORT(error_string) const char *error_string(enum cw_error error)
{
    return cw_error_string(error);
}
