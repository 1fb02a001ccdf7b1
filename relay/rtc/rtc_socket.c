#include "rtc/rtc_socket.h"

#include "os/log.h"
#include "os/overflow.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The most datagrams in one system call, and the bytes of the longest one. */
#define BATCH        64
#define DATAGRAM_MAX 2048
/* The system is asked for a buffer of this many bytes, for all browsers together. It holds at least
   3,000 packets, with the memory that the system takes for each: those of a tenth of a second at
   30,000 a second. */
#define BUFFER_BYTES (8 << 20)
#define CONTROL_MAX  64

struct bundle {
    struct mmsghdr header[BATCH];
    struct iovec piece[BATCH];
    union {
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } name[BATCH];
    _Alignas(struct cmsghdr) uint8_t control[BATCH][CONTROL_MAX];
    uint8_t data[BATCH][DATAGRAM_MAX];
};

struct rtc_socket {
    struct loop *loop;
    struct loop_watch watch;
    bool v6;
    void (*datagram)(void *context, const struct udp_path *path, const uint8_t *data, size_t size);
    void *context;
    unsigned out_count;      /* datagrams in `out` */
    unsigned unsent;         /* datagrams that the system did not take */
    uint32_t overflow_count; /* see overflow.h */
    struct bundle in;
    struct bundle out;
};

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static void map_v4(uint8_t out[16], const struct in_addr *address)
{
    memcpy(out, mapped_prefix, 12);
    memcpy(out + 12, address, 4);
}

void rtc_socket_address(const struct socket_address *socket_address, struct udp_address *out)
{
    memset(out, 0, sizeof *out);
    if (socket_address->address.any.sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = &socket_address->address.v6;
        memcpy(out->ip, &v6->sin6_addr, 16);
        out->port = ntohs(v6->sin6_port);
    } else if (socket_address->address.any.sa_family == AF_INET) {
        const struct sockaddr_in *v4 = &socket_address->address.v4;
        map_v4(out->ip, &v4->sin_addr);
        out->port = ntohs(v4->sin_port);
    }
}

void rtc_socket_socket_address(const struct udp_address *address, struct socket_address *out)
{
    memset(out, 0, sizeof *out);
    if (udp_address_is_v4(address)) {
        struct sockaddr_in *v4 = &out->address.v4;
        v4->sin_family = AF_INET;
        v4->sin_port = htons(address->port);
        memcpy(&v4->sin_addr, address->ip + 12, 4);
        out->size = sizeof *v4;
    } else {
        struct sockaddr_in6 *v6 = &out->address.v6;
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(address->port);
        memcpy(&v6->sin6_addr, address->ip, 16);
        out->size = sizeof *v6;
    }
}

/* Asks for buffers in both directions, beyond the system's limits if this process may. */
static void ask_for_buffers(int fd)
{
    const int bytes = BUFFER_BYTES;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

int rtc_socket_open(const struct socket_address *socket_address,
                    struct inherited_sockets *inherited)
{
    int fd = inherited_sockets_take(inherited, SOCK_DGRAM, socket_address);
    if (fd >= 0)
        return fd;
    const int family = socket_address->address.any.sa_family;
    fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    const int on = 1;
    const int off = 0;
    ask_for_buffers(fd);
    if (family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
    } else {
        setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    }
    if (bind(fd, &socket_address->address.any, socket_address->size) == 0)
        return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static void bundle_init(struct bundle *bundle)
{
    for (int i = 0; i < BATCH; i++) {
        struct msghdr *header = &bundle->header[i].msg_hdr;
        bundle->piece[i].iov_base = bundle->data[i];
        bundle->piece[i].iov_len = DATAGRAM_MAX;
        header->msg_iov = &bundle->piece[i];
        header->msg_iovlen = 1;
        header->msg_name = &bundle->name[i];
        header->msg_namelen = sizeof bundle->name[i];
        header->msg_control = bundle->control[i];
        header->msg_controllen = CONTROL_MAX;
    }
}

static void read_path(struct rtc_socket *rtc, int index, struct udp_path *path)
{
    struct msghdr *header = &rtc->in.header[index].msg_hdr;
    memset(path, 0, sizeof *path);
    if (rtc->v6) {
        const struct sockaddr_in6 *from = &rtc->in.name[index].v6;
        memcpy(path->remote.ip, &from->sin6_addr, 16);
        path->remote.port = ntohs(from->sin6_port);
    } else {
        const struct sockaddr_in *from = &rtc->in.name[index].v4;
        map_v4(path->remote.ip, &from->sin_addr);
        path->remote.port = ntohs(from->sin_port);
    }
    for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
        if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(part), sizeof info);
            memcpy(path->local, &info.ipi6_addr, 16);
            /* Only a link-local address needs its interface. */
            if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
                path->interface = info.ipi6_ifindex;
        } else if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(part), sizeof info);
            map_v4(path->local, &info.ipi_addr);
        }
    }
}

static void on_ready(void *context, unsigned events)
{
    (void)events;
    struct rtc_socket *rtc = context;
    const int count = recvmmsg(rtc->watch.fd, rtc->in.header, BATCH, 0, NULL);
    for (int i = 0; i < count; i++) {
        struct msghdr *header = &rtc->in.header[i].msg_hdr;
        struct udp_path path;
        read_path(rtc, i, &path);
        header->msg_namelen = sizeof rtc->in.name[i];
        header->msg_controllen = CONTROL_MAX;
        rtc->datagram(rtc->context, &path, rtc->in.data[i],
                      header->msg_flags & MSG_TRUNC ? 0 : rtc->in.header[i].msg_len);
    }
}

struct rtc_socket *rtc_socket_create(const struct socket_address *socket_address,
                                     struct inherited_sockets *inherited, struct loop *loop,
                                     void (*datagram)(void *context, const struct udp_path *path,
                                                      const uint8_t *data, size_t size),
                                     void *context)
{
    struct rtc_socket *rtc = calloc(1, sizeof *rtc);
    const int fd = rtc ? rtc_socket_open(socket_address, inherited) : -1;
    if (fd < 0) {
        free(rtc);
        return NULL;
    }
    rtc->loop = loop;
    rtc->v6 = socket_address->address.any.sa_family == AF_INET6;
    rtc->datagram = datagram;
    rtc->context = context;
    rtc->watch = (struct loop_watch){.fd = fd, .ready = on_ready, .context = rtc};
    bundle_init(&rtc->in);
    bundle_init(&rtc->out);
    if (loop_add(loop, &rtc->watch, LOOP_READABLE))
        return rtc;
    close(fd);
    free(rtc);
    return NULL;
}

void rtc_socket_destroy(struct rtc_socket *rtc)
{
    if (!rtc)
        return;
    rtc_socket_flush(rtc);
    loop_remove(rtc->loop, &rtc->watch);
    close(rtc->watch.fd);
    free(rtc);
}

static bool is_zero(const uint8_t ip[16])
{
    static const uint8_t zero[16];
    return memcmp(ip, zero, 16) == 0;
}

/* Writes the ends of a path into a message: where the datagram goes, and from which of our
   addresses. */
static void write_path(struct rtc_socket *rtc, unsigned index, const struct udp_path *path)
{
    struct msghdr *header = &rtc->out.header[index].msg_hdr;
    struct cmsghdr *part = (struct cmsghdr *)(void *)rtc->out.control[index];
    header->msg_control = NULL;
    header->msg_controllen = 0;
    if (rtc->v6) {
        struct sockaddr_in6 *to = &rtc->out.name[index].v6;
        *to = (struct sockaddr_in6){.sin6_family = AF_INET6,
                                    .sin6_port = htons(path->remote.port),
                                    .sin6_scope_id = path->interface};
        memcpy(&to->sin6_addr, path->remote.ip, 16);
        header->msg_namelen = sizeof *to;
    } else {
        struct sockaddr_in *to = &rtc->out.name[index].v4;
        *to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(path->remote.port)};
        memcpy(&to->sin_addr, path->remote.ip + 12, 4);
        header->msg_namelen = sizeof *to;
    }
    if (is_zero(path->local))
        return;
    header->msg_control = part;
    if (rtc->v6) {
        struct in6_pktinfo info = {.ipi6_ifindex = path->interface};
        memcpy(&info.ipi6_addr, path->local, 16);
        header->msg_controllen = CMSG_SPACE(sizeof info);
        *part = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof info),
                                 .cmsg_level = IPPROTO_IPV6,
                                 .cmsg_type = IPV6_PKTINFO};
        memcpy(CMSG_DATA(part), &info, sizeof info);
    } else {
        struct in_pktinfo info = {0};
        memcpy(&info.ipi_spec_dst, path->local + 12, 4);
        header->msg_controllen = CMSG_SPACE(sizeof info);
        *part = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof info), .cmsg_level = IPPROTO_IP, .cmsg_type = IP_PKTINFO};
        memcpy(CMSG_DATA(part), &info, sizeof info);
    }
}

bool rtc_socket_send(struct rtc_socket *rtc, const struct udp_path *path, const uint8_t *data,
                     size_t size)
{
    if (size > DATAGRAM_MAX)
        return false;
    if (rtc->out_count == BATCH)
        rtc->unsent += rtc_socket_flush(rtc);
    write_path(rtc, rtc->out_count, path);
    rtc->out.piece[rtc->out_count].iov_len = size;
    memcpy(rtc->out.data[rtc->out_count], data, size);
    rtc->out_count++;
    return true;
}

unsigned rtc_socket_flush(struct rtc_socket *rtc)
{
    unsigned unsent = rtc->unsent;
    unsigned sent = 0;
    rtc->unsent = 0;
    while (sent < rtc->out_count) {
        const int taken =
            rtc->out_count == 1
                ? (sendmsg(rtc->watch.fd, &rtc->out.header[0].msg_hdr, 0) >= 0 ? 1 : -1)
                : sendmmsg(rtc->watch.fd, rtc->out.header + sent, rtc->out_count - sent, 0);
        if (taken > 0) {
            sent += (unsigned)taken;
        } else if (errno != EINTR) {
            /* There is no route, or a full buffer: this one is lost, as it might be on the way. */
            unsent++;
            sent++;
        }
    }
    rtc->out_count = 0;
    return unsent;
}

void rtc_socket_report(const struct rtc_socket *rtc)
{
    int bytes = 0;
    socklen_t size = sizeof bytes;
    if (getsockopt(rtc->watch.fd, SOL_SOCKET, SO_RCVBUF, &bytes, &size) != 0)
        return;
    bytes /= 2; /* the system doubles the number, for its own needs */
    if (bytes >= BUFFER_BYTES)
        log_info("webrtc: a receive buffer of %d bytes", bytes);
    else
        log_warn("webrtc: a receive buffer of %d bytes instead of %d, so bursts may be lost: set "
                 "net.core.rmem_max=%d with sysctl",
                 bytes, BUFFER_BYTES, BUFFER_BYTES);
}

int rtc_socket_descriptor(const struct rtc_socket *rtc)
{
    return rtc->watch.fd;
}

void rtc_socket_leave(struct rtc_socket *rtc)
{
    loop_remove(rtc->loop, &rtc->watch);
}

uint32_t rtc_socket_overflow(struct rtc_socket *rtc)
{
    return overflow_since(rtc->watch.fd, &rtc->overflow_count);
}

void rtc_socket_local(const struct rtc_socket *rtc, struct socket_address *out)
{
    memset(out, 0, sizeof *out);
    out->size = sizeof out->address;
    getsockname(rtc->watch.fd, &out->address.any, &out->size);
}
