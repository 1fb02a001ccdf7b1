#define _POSIX_C_SOURCE 200809L

#include "native/socket_internal.h"

#include <poll.h>

bool cw_system_wait(const struct cw_socket *socket, int milliseconds)
{
    struct pollfd poller = {.fd = (int)socket->handle, .events = POLLIN};
    return poll(&poller, 1, milliseconds) > 0;
}
