#include "os/inherited_sockets.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool inherited_sockets_add(struct inherited_sockets *sockets, int fd)
{
    if (sockets->count == INHERITED_SOCKETS_MAX)
        return false;
    sockets->fds[sockets->count++] = fd;
    return true;
}

static bool fits(int fd, int type, const struct socket_address *wanted)
{
    struct socket_address local = {.size = sizeof local.address};
    int its_type;
    socklen_t size = sizeof its_type;
    if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_TYPE, &its_type, &size) != 0 || its_type != type ||
        getsockname(fd, &local.address.any, &local.size) != 0)
        return false;
    if (socket_address_port(wanted) == 0)
        socket_address_set_port(&local, 0);
    char ours[SOCKET_ADDRESS_TEXT];
    char theirs[SOCKET_ADDRESS_TEXT];
    socket_address_format(&local, ours);
    socket_address_format(wanted, theirs);
    return strcmp(ours, theirs) == 0;
}

int inherited_sockets_take(struct inherited_sockets *sockets, int type,
                           const struct socket_address *address)
{
    for (unsigned i = 0; i < sockets->count; i++) {
        const int fd = sockets->fds[i];
        if (fits(fd, type, address)) {
            sockets->fds[i] = -1;
            return fd;
        }
    }
    return -1;
}

void inherited_sockets_close(struct inherited_sockets *sockets)
{
    for (unsigned i = 0; i < sockets->count; i++) {
        if (sockets->fds[i] >= 0)
            close(sockets->fds[i]);
    }
    sockets->count = 0;
}
