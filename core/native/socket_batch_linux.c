/* Many datagrams in one call of Linux, some of them in trains: datagrams of one size to one
   address, of which the last may be shorter, that pass through the system as one (UDP_SEGMENT). */
#define _GNU_SOURCE /* sendmmsg, recvmmsg */

#include "native/socket_internal.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdalign.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "native/system_address.h"

#define TRAIN_DATAGRAM 1232  /* bytes of one datagram, which every link of IPv6 takes whole */
#define TRAIN_BYTES    60000 /* bytes of all its datagrams; at most 65,507 */
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

struct train_control {
    alignas(struct cmsghdr) uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
};

/* The arguments of sendmmsg. */
struct outgoing {
    struct mmsghdr messages[CW_SYSTEM_BATCH];
    struct iovec parts[CW_SYSTEM_BATCH];
    union cw_system_address systems[CW_SYSTEM_BATCH];
    struct train_control controls[CW_SYSTEM_BATCH];
};

/* Asks the system, once for each socket, whether it knows trains. A system that does not would make
   one datagram of each train. */
static bool knows_trains(struct cw_socket *socket)
{
    const int none = 0;
    const int handle = (int)socket->handle;
    if (socket->trains == CW_TRAINS_UNKNOWN)
        socket->trains = setsockopt(handle, IPPROTO_UDP, UDP_SEGMENT, &none, sizeof none) == 0
                             ? CW_TRAINS_TAKEN
                             : CW_TRAINS_NONE;
    return socket->trains == CW_TRAINS_TAKEN;
}

/* Returns whether the system refused the train as such, as on a link that takes only shorter
   datagrams. */
static bool refused_train(void)
{
    return errno == EINVAL || errno == EIO || errno == EMSGSIZE;
}

/* Returns the number of datagrams from the first on that make a train. */
static size_t train_of(struct cw_socket *socket, const struct cw_socket_datagram *first,
                       size_t count)
{
    size_t length = 1;
    if (first->size == 0 || first->size > TRAIN_DATAGRAM)
        return length;
    while (length < count && (length + 1) * first->size <= TRAIN_BYTES &&
           first[length - 1].size == first->size && first[length].size > 0 &&
           first[length].size <= first->size &&
           cw_address_equal(&first[length].address, &first->address))
        length++;
    return length == 1 || knows_trains(socket) ? length : 1;
}

static void set_segment_size(struct msghdr *message, struct train_control *control, size_t size)
{
    const uint16_t segment = (uint16_t)size;
    *control = (struct train_control){0};
    message->msg_control = control;
    message->msg_controllen = sizeof control->bytes;
    struct cmsghdr *header = CMSG_FIRSTHDR(message);
    header->cmsg_level = IPPROTO_UDP;
    header->cmsg_type = UDP_SEGMENT;
    header->cmsg_len = CMSG_LEN(sizeof segment);
    memcpy(CMSG_DATA(header), &segment, sizeof segment);
}

/* Prepares the datagrams' messages, trains among them, and returns their number. */
static unsigned prepare_trains(struct cw_socket *socket, const struct cw_socket_datagram *datagrams,
                               size_t count, struct outgoing *out)
{
    unsigned trains = 0;
    for (size_t ready = 0; ready < count; trains++) {
        const struct cw_socket_datagram *first = &datagrams[ready];
        union cw_system_address *system = &out->systems[trains];
        const socklen_t length = cw_to_system(&first->address, socket->is_ipv6, system);
        if (!length)
            break;
        /* Both a size_t and an int hold a uint16_t: msg_iovlen is one of them, depending on the
           system. */
        const uint16_t train = (uint16_t)train_of(socket, first, count - ready);
        struct msghdr *message = &out->messages[trains].msg_hdr;
        *message = (struct msghdr){.msg_name = system,
                                   .msg_namelen = length,
                                   .msg_iov = &out->parts[ready],
                                   .msg_iovlen = train};
        if (train > 1)
            set_segment_size(message, &out->controls[trains], first->size);
        for (size_t i = 0; i < train; i++, ready++)
            out->parts[ready] = (struct iovec){datagrams[ready].data, datagrams[ready].size};
    }
    return trains;
}

size_t cw_system_send(struct cw_socket *socket, const struct cw_socket_datagram *datagrams,
                      size_t count, bool *refused)
{
    struct outgoing out;
    int sent;
    *refused = true;
    const unsigned trains = prepare_trains(socket, datagrams, count, &out);
    if (trains == 0)
        return 0;
    do
        sent = sendmmsg((int)socket->handle, out.messages, trains, 0);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && out.messages->msg_hdr.msg_iovlen > 1 && refused_train()) {
        socket->trains = CW_TRAINS_NONE;
        return cw_system_send(socket, datagrams, count, refused);
    }
    *refused = errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS;
    size_t done = 0;
    for (int i = 0; i < sent; i++)
        done += (size_t)out.messages[i].msg_hdr.msg_iovlen;
    return done;
}

size_t cw_system_receive(struct cw_socket *socket, struct cw_socket_datagram *datagrams,
                         size_t count)
{
    struct mmsghdr messages[CW_SYSTEM_BATCH];
    struct iovec parts[CW_SYSTEM_BATCH];
    union cw_system_address systems[CW_SYSTEM_BATCH];
    int received;
    for (size_t i = 0; i < count; i++) {
        parts[i] = (struct iovec){datagrams[i].data, datagrams[i].capacity};
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_name = &systems[i],
                                                   .msg_namelen = sizeof systems[i],
                                                   .msg_iov = &parts[i],
                                                   .msg_iovlen = 1}};
    }
    do
        received = recvmmsg((int)socket->handle, messages, (unsigned)count, 0, NULL);
    while (received < 0 && errno == EINTR);
    if (received < 0)
        return 0;
    for (int i = 0; i < received; i++) {
        const bool truncated = messages[i].msg_hdr.msg_flags & MSG_TRUNC;
        socket->stats.datagrams_truncated += truncated;
        datagrams[i].size = truncated ? 0 : messages[i].msg_len;
        cw_from_system(&systems[i], &datagrams[i].address);
    }
    return (size_t)received;
}
