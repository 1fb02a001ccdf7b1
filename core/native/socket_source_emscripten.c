/* A page does not see the addresses of its machine. */
#include "native/socket_internal.h"

bool cw_system_source(const struct cw_address *to, struct cw_address *source)
{
    (void)to;
    (void)source;
    return false;
}
