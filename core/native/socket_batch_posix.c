/* Batches of one datagram per call, as POSIX has it, for macOS, the BSDs and Emscripten. */
#define _POSIX_C_SOURCE  200809L
#define _DARWIN_C_SOURCE /* declares macOS's additions to POSIX */

#include "native/socket_internal.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "native/system_address.h"

size_t cw_system_send(struct cw_socket *socket, const struct cw_socket_datagram *datagrams,
                      size_t count, bool *refused)
{
    union cw_system_address system;
    const socklen_t length = cw_to_system(&datagrams->address, socket->is_ipv6, &system);
    ssize_t sent = -1;
    (void)count;
    *refused = true;
    if (!length)
        return 0;
    do
        sent =
            sendto((int)socket->handle, datagrams->data, datagrams->size, 0, &system.any, length);
    while (sent < 0 && errno == EINTR);
    *refused = errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS;
    return sent >= 0;
}

/* Receives a datagram; returns false when none has arrived. */
static bool receive_one(struct cw_socket *socket, struct cw_socket_datagram *datagram)
{
    union cw_system_address system;
    struct iovec part = {datagram->data, datagram->capacity};
    struct msghdr message = {
        .msg_name = &system, .msg_namelen = sizeof system, .msg_iov = &part, .msg_iovlen = 1};
    ssize_t size;
    do
        size = recvmsg((int)socket->handle, &message, 0);
    while (size < 0 && errno == EINTR);
    if (size < 0)
        return false;
    const bool truncated = message.msg_flags & MSG_TRUNC;
    socket->stats.datagrams_truncated += truncated;
    datagram->size = truncated ? 0 : (size_t)size;
    cw_from_system(&system, &datagram->address);
    return true;
}

size_t cw_system_receive(struct cw_socket *socket, struct cw_socket_datagram *datagrams,
                         size_t count)
{
    size_t received = 0;
    while (received < count && receive_one(socket, &datagrams[received]))
        received++;
    return received;
}
