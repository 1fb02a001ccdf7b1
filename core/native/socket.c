/* Everything here is POSIX but for the two batch calls of Linux, and for its trains: datagrams of
   one size to one address, of which the last may be shorter, that pass through the system as one
   (UDP_SEGMENT). */
#ifdef __linux__
#define _GNU_SOURCE /* sendmmsg, recvmmsg */
#endif

#include "causeway/native/socket.h"

#include "base/memory.h"
#include "base/unmapped.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdalign.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Datagrams per system call. */
#ifdef __linux__
#define BATCH          64
#define TRAIN_DATAGRAM 1232  /* bytes of one, which every link of IPv6 takes whole */
#define TRAIN_BYTES    60000 /* of all; at most 65,507 */
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#else
#define BATCH 1
#endif

struct cw_socket {
    struct cw_allocator allocator;
    int handle;
    bool is_ipv6; /* IPv4 addresses are mapped into IPv6 on the way to the system */
    bool has_trains;
    struct cw_socket_stats stats;
};

union system_address {
    struct sockaddr any;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
};

static const uint8_t mapped_prefix[12] = {[10] = 0xff, [11] = 0xff};

/* Returns the length, 0 when a socket of this family cannot reach the address. */
static socklen_t to_system(const struct cw_address *given, bool is_ipv6,
                           union system_address *system)
{
    const struct cw_address unmapped = cw_address_unmapped(given);
    const struct cw_address *address = &unmapped;
    if (address->type == CW_ADDRESS_NONE || (address->type == CW_ADDRESS_IPV6 && !is_ipv6))
        return 0;
    memset(system, 0, sizeof *system);
    if (!is_ipv6) {
        system->ipv4.sin_family = AF_INET;
        system->ipv4.sin_port = htons(address->port);
        memcpy(&system->ipv4.sin_addr, address->bytes, 4);
        return sizeof system->ipv4;
    }
    uint8_t *bytes = system->ipv6.sin6_addr.s6_addr;
    system->ipv6.sin6_family = AF_INET6;
    system->ipv6.sin6_port = htons(address->port);
    if (address->type == CW_ADDRESS_IPV6) {
        memcpy(bytes, address->bytes, 16);
    } else {
        memcpy(bytes, mapped_prefix, sizeof mapped_prefix);
        memcpy(bytes + sizeof mapped_prefix, address->bytes, 4);
    }
    return sizeof system->ipv6;
}

static void from_system(const union system_address *system, struct cw_address *address)
{
    *address = (struct cw_address){.type = CW_ADDRESS_NONE};
    if (system->any.sa_family == AF_INET) {
        address->type = CW_ADDRESS_IPV4;
        address->port = ntohs(system->ipv4.sin_port);
        memcpy(address->bytes, &system->ipv4.sin_addr, 4);
    } else if (system->any.sa_family == AF_INET6) {
        address->type = CW_ADDRESS_IPV6;
        address->port = ntohs(system->ipv6.sin6_port);
        memcpy(address->bytes, system->ipv6.sin6_addr.s6_addr, 16);
        *address = cw_address_unmapped(address);
    }
}

struct cw_socket_config cw_socket_config_default(void)
{
    return (struct cw_socket_config){
        .send_buffer_size = 4 << 20,
        .receive_buffer_size = 4 << 20,
    };
}

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

/* Asks for size bytes and returns what was granted. */
static uint32_t set_buffer_size(int handle, int option, uint32_t size)
{
    const int wanted = size > INT32_MAX ? INT32_MAX : (int)size;
    int granted = 0;
    socklen_t length = sizeof granted;
    (void)setsockopt(handle, SOL_SOCKET, option, &wanted, sizeof wanted);
    if (getsockopt(handle, SOL_SOCKET, option, &granted, &length) < 0 || granted < 0)
        return 0;
    return (uint32_t)granted;
}

/* Whether the system has trains. One that does not know them would make one datagram of each. */
static bool knows_trains(int handle)
{
#ifdef __linux__
    const int none = 0;
    return setsockopt(handle, IPPROTO_UDP, UDP_SEGMENT, &none, sizeof none) == 0;
#else
    (void)handle;
    return false;
#endif
}

static enum cw_error open_handle(struct cw_socket *self, const struct cw_address *address)
{
    union system_address system;
    const bool is_ipv6 = address->type == CW_ADDRESS_IPV6;
    const int both = 0;
    const int handle = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM, IPPROTO_UDP);
    if (handle < 0)
        return CW_ERROR_SOCKET;
    const int flags = fcntl(handle, F_GETFL);
    enum cw_error error = CW_ERROR_SOCKET;
    if (flags >= 0 && fcntl(handle, F_SETFL, flags | O_NONBLOCK) == 0 &&
        fcntl(handle, F_SETFD, FD_CLOEXEC) == 0 &&
        (!is_ipv6 || setsockopt(handle, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both) == 0)) {
        const socklen_t length = to_system(address, is_ipv6, &system);
        error = bind(handle, &system.any, length) == 0 ? CW_OK : bind_error();
    }
    if (error != CW_OK) {
        close(handle);
        return error;
    }
    self->handle = handle;
    self->is_ipv6 = is_ipv6;
    return CW_OK;
}

enum cw_error cw_socket_open(const struct cw_socket_config *config, struct cw_socket **socket)
{
    if (!socket || !config)
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_socket *self = cw_allocate(&config->allocator, sizeof *self);
    if (!self)
        return CW_ERROR_NO_MEMORY;
    *self = (struct cw_socket){.allocator = config->allocator};

    struct cw_address address = cw_address_unmapped(&config->address);
    const bool any = address.type == CW_ADDRESS_NONE;
    if (any)
        address = (struct cw_address){.type = CW_ADDRESS_IPV6, .port = address.port};
    enum cw_error error = open_handle(self, &address);
    /* A machine without IPv6 still has every address of IPv4. */
    if (any && (error == CW_ERROR_SOCKET || error == CW_ERROR_ADDRESS_NOT_HERE)) {
        address.type = CW_ADDRESS_IPV4;
        error = open_handle(self, &address);
    }
    if (error != CW_OK) {
        cw_release(&config->allocator, self, sizeof *self);
        return error;
    }
    self->stats.send_buffer_size =
        set_buffer_size(self->handle, SO_SNDBUF, config->send_buffer_size);
    self->stats.receive_buffer_size =
        set_buffer_size(self->handle, SO_RCVBUF, config->receive_buffer_size);
    self->has_trains = knows_trains(self->handle);
    *socket = self;
    return CW_OK;
}

void cw_socket_close(struct cw_socket *socket)
{
    if (!socket)
        return;
    const struct cw_allocator allocator = socket->allocator;
    close(socket->handle);
    cw_release(&allocator, socket, sizeof *socket);
}

void cw_socket_address(const struct cw_socket *socket, struct cw_address *address)
{
    union system_address system = {0};
    socklen_t length = sizeof system;
    if (!socket || !address)
        return;
    (void)getsockname(socket->handle, &system.any, &length);
    from_system(&system, address);
}

enum cw_error cw_socket_source(const struct cw_address *to, struct cw_address *source)
{
    union system_address system = {0};
    if (!to || !source)
        return CW_ERROR_INVALID_ARGUMENT;
    const bool is_ipv6 = cw_address_unmapped(to).type == CW_ADDRESS_IPV6;
    const int handle = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM, IPPROTO_UDP);
    if (handle < 0)
        return CW_ERROR_SEND;
    socklen_t length = to_system(to, is_ipv6, &system);
    const bool has_way = connect(handle, &system.any, length) == 0;
    length = sizeof system;
    const bool known = has_way && getsockname(handle, &system.any, &length) == 0;
    close(handle);
    if (!known)
        return CW_ERROR_SEND;
    from_system(&system, source);
    source->port = 0;
    return CW_OK;
}

intptr_t cw_socket_handle(const struct cw_socket *socket)
{
    return socket ? socket->handle : -1;
}

/* True when the datagram was refused; false when the system is only full. */
static bool refused(void)
{
    return errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS;
}

enum cw_error cw_socket_send(struct cw_socket *socket, const struct cw_address *address,
                             const uint8_t *data, size_t size)
{
    union system_address system;
    if (!socket || !address || (!data && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    const socklen_t length = to_system(address, socket->is_ipv6, &system);
    ssize_t sent = -1;
    if (length) {
        do
            sent = sendto(socket->handle, data, size, 0, &system.any, length);
        while (sent < 0 && errno == EINTR);
        if (sent < 0 && !refused())
            return CW_ERROR_SOCKET_FULL;
    }
    if (sent < 0) {
        socket->stats.datagrams_refused++;
        return CW_ERROR_SEND;
    }
    socket->stats.datagrams_sent++;
    return CW_OK;
}

size_t cw_socket_receive(struct cw_socket *socket, uint8_t *data, size_t capacity,
                         struct cw_address *address)
{
    struct cw_socket_datagram datagram = {.data = data, .capacity = capacity};
    if (!address || !data)
        return 0;
    if (cw_socket_receive_batch(socket, &datagram, 1) == 0)
        return 0;
    *address = datagram.address;
    return datagram.size;
}

#ifdef __linux__

struct train_control {
    alignas(struct cmsghdr) uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
};

/* Whether that was a matter of the train, as on a link that takes only shorter datagrams. */
static bool refused_train(void)
{
    return errno == EINVAL || errno == EIO || errno == EMSGSIZE;
}

/* How many of the datagrams from the first on make a train. */
static size_t train_of(const struct cw_socket *socket, const struct cw_socket_datagram *first,
                       size_t count)
{
    size_t length = 1;
    if (!socket->has_trains || first->size == 0 || first->size > TRAIN_DATAGRAM)
        return length;
    while (length < count && (length + 1) * first->size <= TRAIN_BYTES &&
           first[length - 1].size == first->size && first[length].size > 0 &&
           first[length].size <= first->size &&
           cw_address_equal(&first[length].address, &first->address))
        length++;
    return length;
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

/* Hands up to BATCH datagrams to the system. Returns how many it took, -1 with errno when not even
   the first. */
static int send_some(struct cw_socket *socket, const struct cw_socket_datagram *datagrams,
                     size_t count)
{
    struct mmsghdr messages[BATCH];
    struct iovec parts[BATCH];
    union system_address systems[BATCH];
    struct train_control controls[BATCH];
    const size_t most = count < BATCH ? count : BATCH;
    unsigned trains = 0;
    for (size_t ready = 0; ready < most; trains++) {
        const struct cw_socket_datagram *first = &datagrams[ready];
        const socklen_t length = to_system(&first->address, socket->is_ipv6, &systems[trains]);
        if (!length)
            break;
        const size_t train = train_of(socket, first, most - ready);
        messages[trains] = (struct mmsghdr){.msg_hdr = {.msg_name = &systems[trains],
                                                        .msg_namelen = length,
                                                        .msg_iov = &parts[ready],
                                                        .msg_iovlen = train}};
        if (train > 1)
            set_segment_size(&messages[trains].msg_hdr, &controls[trains], first->size);
        for (size_t i = 0; i < train; i++, ready++)
            parts[ready] = (struct iovec){datagrams[ready].data, datagrams[ready].size};
    }
    if (trains == 0) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    const int sent = sendmmsg(socket->handle, messages, trains, 0);
    if (sent < 0 && messages->msg_hdr.msg_iovlen > 1 && refused_train()) {
        socket->has_trains = false;
        return send_some(socket, datagrams, count);
    }
    int done = sent < 0 ? sent : 0;
    for (int i = 0; i < sent; i++)
        done += (int)messages[i].msg_hdr.msg_iovlen;
    return done;
}

/* Receives up to BATCH datagrams, the unusable ones with size 0. Returns how many. */
static int receive_some(struct cw_socket *socket, struct cw_socket_datagram *datagrams,
                        size_t count)
{
    struct mmsghdr messages[BATCH];
    struct iovec parts[BATCH];
    union system_address systems[BATCH];
    const unsigned wanted = count < BATCH ? (unsigned)count : BATCH;
    for (unsigned i = 0; i < wanted; i++) {
        parts[i] = (struct iovec){datagrams[i].data, datagrams[i].capacity};
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_name = &systems[i],
                                                   .msg_namelen = sizeof systems[i],
                                                   .msg_iov = &parts[i],
                                                   .msg_iovlen = 1}};
    }
    const int received = recvmmsg(socket->handle, messages, wanted, 0, NULL);
    for (int i = 0; i < received; i++) {
        const bool truncated = messages[i].msg_hdr.msg_flags & MSG_TRUNC;
        socket->stats.datagrams_truncated += truncated;
        datagrams[i].size = truncated ? 0 : messages[i].msg_len;
        from_system(&systems[i], &datagrams[i].address);
    }
    return received;
}

#else

static int send_some(struct cw_socket *socket, const struct cw_socket_datagram *datagrams,
                     size_t count)
{
    union system_address system;
    const socklen_t length = to_system(&datagrams->address, socket->is_ipv6, &system);
    (void)count;
    if (!length) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    return sendto(socket->handle, datagrams->data, datagrams->size, 0, &system.any, length) < 0 ? -1
                                                                                                : 1;
}

static int receive_some(struct cw_socket *socket, struct cw_socket_datagram *datagrams,
                        size_t count)
{
    union system_address system;
    struct iovec part = {datagrams->data, datagrams->capacity};
    struct msghdr message = {
        .msg_name = &system, .msg_namelen = sizeof system, .msg_iov = &part, .msg_iovlen = 1};
    const ssize_t size = recvmsg(socket->handle, &message, 0);
    (void)count;
    if (size < 0)
        return -1;
    const bool truncated = message.msg_flags & MSG_TRUNC;
    socket->stats.datagrams_truncated += truncated;
    datagrams->size = truncated ? 0 : (size_t)size;
    from_system(&system, &datagrams->address);
    return 1;
}

#endif

size_t cw_socket_send_batch(struct cw_socket *socket, const struct cw_socket_datagram *datagrams,
                            size_t count)
{
    size_t done = 0;
    if (!socket || !datagrams)
        return 0;
    while (done < count) {
        const int sent = send_some(socket, datagrams + done, count - done);
        if (sent >= 0) {
            socket->stats.datagrams_sent += (unsigned)sent;
            done += (unsigned)sent;
        } else if (errno == EINTR) {
            continue;
        } else if (refused()) {
            socket->stats.datagrams_refused++;
            done++;
        } else {
            break;
        }
    }
    return done;
}

size_t cw_socket_receive_batch(struct cw_socket *socket, struct cw_socket_datagram *datagrams,
                               size_t count)
{
    size_t kept = 0;
    if (!socket || !datagrams)
        return 0;
    while (kept < count) {
        struct cw_socket_datagram *next = datagrams + kept;
        const size_t wanted = count - kept < BATCH ? count - kept : BATCH;
        const int received = receive_some(socket, next, wanted);
        if (received < 0 && errno == EINTR)
            continue;
        if (received <= 0)
            break;
        for (int i = 0; i < received; i++) {
            if (next[i].size == 0)
                continue;
            const struct cw_socket_datagram unused = datagrams[kept];
            datagrams[kept++] = next[i];
            next[i] = unused;
        }
        if ((size_t)received < wanted)
            break; /* the system has no more */
    }
    socket->stats.datagrams_received += kept;
    return kept;
}

bool cw_socket_wait(const struct cw_socket *socket, double seconds)
{
    if (!socket)
        return false;
    struct pollfd poller = {.fd = socket->handle, .events = POLLIN};
    int timeout = 0;
    if (seconds > 0)
        timeout = seconds < 2e6 ? (int)(seconds * 1000 + 0.999) : -1;
    return poll(&poller, 1, timeout) > 0;
}

void cw_socket_stats(const struct cw_socket *socket, struct cw_socket_stats *stats)
{
    if (socket && stats)
        *stats = socket->stats;
}
