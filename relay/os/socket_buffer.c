#include "os/socket_buffer.h"

#include "os/log.h"

#include <sys/socket.h>

void socket_buffer_ask(int fd, int bytes)
{
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

void socket_buffer_report(int fd, int bytes, const char *what)
{
    int given = 0;
    socklen_t size = sizeof given;
    if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &given, &size) != 0)
        return;
    given /= 2; /* the system doubles it, for what it needs itself */
    if (given >= bytes)
        log_info("%s: a receive buffer of %d bytes", what, given);
    else
        log_warn("%s: a receive buffer of %d bytes instead of %d, so bursts may be lost: set "
                 "net.core.rmem_max=%d with sysctl",
                 what, given, bytes, bytes);
}
