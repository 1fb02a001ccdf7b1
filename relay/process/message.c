#include "process/message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Room for the one descriptor of a message, aligned as the system wants it. */
union control {
    struct cmsghdr header;
    uint8_t bytes[CMSG_SPACE(sizeof(int))];
};

/* The header of a message. Processes of one machine exchange it, so its numbers are in that
   machine's byte order. */
struct message_header {
    uint16_t version;
    uint16_t type;
    uint32_t size;
};

bool message_pair(int out[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, out) == 0;
}

bool message_send(int channel, enum message_type type, const void *data, size_t size, int fd)
{
    struct message_header header = {MESSAGE_VERSION, (uint16_t)type, (uint32_t)size};
    union control control = {0};
    struct iovec pieces[2] = {{&header, sizeof header}, {(void *)(uintptr_t)data, size}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = size > 0 ? 2 : 1};
    if (size > MESSAGE_MAX) {
        errno = EMSGSIZE;
        return false;
    }
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control.bytes;
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    }
    ssize_t sent;
    do
        sent = sendmsg(channel, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent >= 0;
}

/* Takes the descriptor of a message; -1 when it has none. More than one has no place in the buffer,
   and the system drops it. */
static int take_fd(struct msghdr *message)
{
    int fd = -1;
    struct cmsghdr *part = CMSG_FIRSTHDR(message);
    if (part && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS &&
        part->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(part), sizeof fd);
    return fd;
}

enum message_result message_receive(int channel, struct message *out, bool wait)
{
    struct message_header header;
    union control control = {0};
    struct iovec pieces[2] = {{&header, sizeof header}, {out->data, sizeof out->data}};
    struct msghdr message = {.msg_iov = pieces,
                             .msg_iovlen = 2,
                             .msg_control = &control,
                             .msg_controllen = sizeof control.bytes};
    ssize_t size;
    do
        size = recvmsg(channel, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
    while (size < 0 && errno == EINTR);
    if (size < 0 && errno == EAGAIN)
        return MESSAGE_NONE;
    out->fd = size < 0 ? -1 : take_fd(&message);
    if (size >= (ssize_t)sizeof header && !(message.msg_flags & MSG_TRUNC) &&
        header.version == MESSAGE_VERSION && header.size == (size_t)size - sizeof header) {
        out->type = (enum message_type)header.type;
        out->size = header.size;
        return MESSAGE_RECEIVED;
    }
    if (out->fd >= 0)
        close(out->fd);
    out->fd = -1;
    return MESSAGE_ENDED;
}
