#define _POSIX_C_SOURCE 200809L

#include "native/resolve_internal.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "native/system_address.h"

bool cw_system_resolve(const char *name, struct cw_address *address)
{
    return cw_system_look_up(name, 0, address);
}

bool cw_system_is_address(const char *name)
{
    struct cw_address address;
    return cw_system_look_up(name, AI_NUMERICHOST, &address);
}
