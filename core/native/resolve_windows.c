#include "native/resolve_internal.h"

#include <winsock2.h>
#include <ws2tcpip.h>

#include "native/system_address.h"

/* Windows counts how often its sockets have been started and stopped. */
static bool look_up(const char *name, int flags, struct cw_address *address)
{
    WSADATA data;
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
        return false;
    const bool known = cw_system_look_up(name, flags, address);
    WSACleanup();
    return known;
}

bool cw_system_resolve(const char *name, struct cw_address *address)
{
    return look_up(name, 0, address);
}

bool cw_system_is_address(const char *name)
{
    struct cw_address address;
    return look_up(name, AI_NUMERICHOST, &address);
}
