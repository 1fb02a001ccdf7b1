#define _POSIX_C_SOURCE  200809L
#define _DARWIN_C_SOURCE /* declares macOS's additions to POSIX */

#include "native/socket_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "native/system_address.h"

static enum cw_error bind_error(void)
{
    switch (errno) {
    case EADDRINUSE:
        return CW_ERROR_ADDRESS_IN_USE;
    case EADDRNOTAVAIL:
        return CW_ERROR_ADDRESS_NOT_HERE;
    case EACCES:
    case EPERM:
        return CW_ERROR_NOT_PERMITTED;
    default:
        return CW_ERROR_SOCKET;
    }
}

static int new_handle(bool is_ipv6)
{
    return socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM, IPPROTO_UDP);
}

enum cw_error cw_system_open(struct cw_socket *socket, const struct cw_address *address)
{
    union cw_system_address system;
    const bool is_ipv6 = address->type == CW_ADDRESS_IPV6;
    const int both = 0;
    const int handle = new_handle(is_ipv6);
    if (handle < 0)
        return CW_ERROR_SOCKET;
    const int flags = fcntl(handle, F_GETFL);
    enum cw_error error = CW_ERROR_SOCKET;
    if (flags >= 0 && fcntl(handle, F_SETFL, flags | O_NONBLOCK) == 0 &&
        fcntl(handle, F_SETFD, FD_CLOEXEC) == 0 &&
        (!is_ipv6 || setsockopt(handle, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both) == 0)) {
        const socklen_t length = cw_to_system(address, is_ipv6, &system);
        error = bind(handle, &system.any, length) == 0 ? CW_OK : bind_error();
    }
    if (error != CW_OK) {
        close(handle);
        return error;
    }
    socket->handle = handle;
    socket->is_ipv6 = is_ipv6;
    return CW_OK;
}

void cw_system_close(struct cw_socket *socket)
{
    close((int)socket->handle);
}

static uint32_t set_buffer_size(const struct cw_socket *socket, int option, int wanted)
{
    int granted = 0;
    socklen_t length = sizeof granted;
    const int handle = (int)socket->handle;
    /* Linux grants a part of a size that is too large; macOS and the BSDs refuse all of it, so
       smaller ones are tried. */
    while (setsockopt(handle, SOL_SOCKET, option, &wanted, sizeof wanted) != 0 && wanted > 1)
        wanted /= 2;
    if (getsockopt(handle, SOL_SOCKET, option, &granted, &length) < 0 || granted < 0)
        return 0;
    return (uint32_t)granted;
}

void cw_system_set_buffers(struct cw_socket *socket, int send_size, int receive_size)
{
    socket->stats.send_buffer_size = set_buffer_size(socket, SO_SNDBUF, send_size);
    socket->stats.receive_buffer_size = set_buffer_size(socket, SO_RCVBUF, receive_size);
}

void cw_system_address(const struct cw_socket *socket, struct cw_address *address)
{
    union cw_system_address system = {0};
    socklen_t length = sizeof system;
    (void)getsockname((int)socket->handle, &system.any, &length);
    cw_from_system(&system, address);
}
