#include "session/upstream_internal.h"

#include "os/overflow.h"
#include "os/socket_buffer.h"
#include "session/sources.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All sessions share it. */
#define BUFFER_BYTES (8 << 20)

/* Of the batches that are read in one turn of the loop. */
#define ROUNDS_MAX 16

/* For a datagram to this machine itself. */
#define PROBE_MILLISECONDS 1000

struct shared_socket {
    struct upstream_shared *shared;
    struct prefix prefix;
    struct sources *sources; /* NULL: this socket has not been asked for */
    struct loop_watch watch;
    bool watched;
    uint32_t overflowed; /* see overflow.h */
};

struct upstream_shared {
    struct upstream_batch *batch;
    struct shared_socket sockets[2]; /* for IPv6 and for IPv4 */
    struct log_limit full_limit;
    struct bundle in;
    struct sockaddr_storage from[UPSTREAM_BATCH];
};

static struct shared_socket *socket_for(struct upstream_shared *shared,
                                        const unsigned char address[16])
{
    return &shared->sockets[socket_address_bytes_are_v4(address)];
}

/* That to the game server of a session. */
static struct shared_socket *socket_towards(struct upstream_shared *shared,
                                            const struct upstream *upstream)
{
    unsigned char server[16] = {0};
    socket_address_bytes(upstream->game_server, server);
    return socket_for(shared, server);
}

/* Writes the local address from which a datagram goes. */
static void set_local(struct msghdr *header, const unsigned char address[16])
{
    const bool v4 = socket_address_bytes_are_v4(address);
    struct in_pktinfo info4 = {0};
    struct in6_pktinfo info6 = {0};
    const size_t size = v4 ? sizeof info4 : sizeof info6;
    header->msg_controllen = CMSG_SPACE(size);
    memset(header->msg_control, 0, header->msg_controllen);
    struct cmsghdr *control = CMSG_FIRSTHDR(header);
    control->cmsg_level = v4 ? IPPROTO_IP : IPPROTO_IPV6;
    control->cmsg_type = v4 ? IP_PKTINFO : IPV6_PKTINFO;
    control->cmsg_len = CMSG_LEN(size);
    memcpy(&info4.ipi_spec_dst, address + 12, sizeof info4.ipi_spec_dst);
    memcpy(&info6.ipi6_addr, address, sizeof info6.ipi6_addr);
    memcpy(CMSG_DATA(control), v4 ? (const void *)&info4 : &info6, size);
}

/* Reads the local address to which a datagram came. False when it is not told. */
static bool get_local(struct msghdr *header, unsigned char out[16])
{
    for (struct cmsghdr *at = CMSG_FIRSTHDR(header); at; at = CMSG_NXTHDR(header, at)) {
        struct socket_address local = {0};
        struct in6_pktinfo info6;
        struct in_pktinfo info4;
        if (at->cmsg_level == IPPROTO_IPV6 && at->cmsg_type == IPV6_PKTINFO) {
            memcpy(&info6, CMSG_DATA(at), sizeof info6);
            memcpy(out, &info6.ipi6_addr, 16);
            return true;
        }
        if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_PKTINFO) {
            memcpy(&info4, CMSG_DATA(at), sizeof info4);
            struct sockaddr_in *v4 = &local.address.v4;
            v4->sin_family = AF_INET;
            v4->sin_addr = info4.ipi_addr;
            return socket_address_bytes(&local, out);
        }
    }
    return false;
}

void upstream_shared_direct(const struct upstream *upstream, struct msghdr *out)
{
    struct source *source = upstream->source;
    out->msg_name = &source->server.address;
    out->msg_namelen = source->server.size;
    set_local(out, source->address);
}

/* Whose a datagram is: that of the server from which it came, or to which it went, and of its local
   address. NULL when no session has or had these. */
static struct source *find_source(const struct shared_socket *socket, struct msghdr *header)
{
    struct socket_address server = {.size = header->msg_namelen};
    unsigned char local[16];
    if (header->msg_namelen == 0 || header->msg_namelen > sizeof server.address ||
        !get_local(header, local))
        return NULL;
    memcpy(&server.address, header->msg_name, header->msg_namelen);
    return sources_find(socket->sources, local, &server);
}

static int error_of(struct msghdr *header)
{
    for (struct cmsghdr *at = CMSG_FIRSTHDR(header); at; at = CMSG_NXTHDR(header, at)) {
        struct sock_extended_err error;
        const bool v4 = at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_RECVERR;
        const bool v6 = at->cmsg_level == IPPROTO_IPV6 && at->cmsg_type == IPV6_RECVERR;
        if (!v4 && !v6)
            continue;
        memcpy(&error, CMSG_DATA(at), sizeof error);
        return error.ee_origin == (v4 ? SO_EE_ORIGIN_ICMP : SO_EE_ORIGIN_ICMP6)
                   ? (int)error.ee_errno
                   : 0;
    }
    return 0;
}

/* The answers of the way to earlier datagrams. */
static void fetch_errors(struct shared_socket *socket)
{
    for (int i = 0; i < UPSTREAM_BATCH; i++) {
        _Alignas(struct cmsghdr) uint8_t control[512];
        struct sockaddr_storage server;
        struct msghdr header = {
            .msg_name = &server,
            .msg_namelen = sizeof server,
            .msg_control = control,
            .msg_controllen = sizeof control,
        };
        if (recvmsg(socket->watch.fd, &header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
            return;
        const struct source *source = find_source(socket, &header);
        const int error = error_of(&header);
        if (source && source->owner && upstream_means_down(error))
            upstream_report_down(source->owner, error);
    }
}

static void end_run(struct upstream_batch *batch)
{
    struct upstream *upstream = batch->receiver;
    batch->receiver = NULL;
    if (upstream)
        upstream->flush(upstream->context);
}

static void take(struct shared_socket *socket, unsigned place)
{
    struct upstream_batch *batch = socket->shared->batch;
    struct bundle *in = &socket->shared->in;
    struct msghdr *header = &in->header[place].msg_hdr;
    const size_t size = in->header[place].msg_len;
    const struct source *source = find_source(socket, header);
    if (!source) {
        batch->stats->upstream_ignored++;
        return;
    }
    batch->stats->upstream_datagrams++;
    batch->stats->upstream_bytes += size;
    if (source->owner != batch->receiver) {
        end_run(batch);
        batch->receiver = source->owner; /* which the end of another's run may have closed */
        if (batch->receiver)
            upstream_report_up(batch->receiver);
    }
    if (batch->receiver)
        upstream_take(batch->receiver, in->data[place], size, header->msg_flags & MSG_TRUNC);
    else
        batch->stats->dropped_closing++;
}

static int receive_batch(struct shared_socket *socket)
{
    struct bundle *in = &socket->shared->in;
    for (int i = 0; i < UPSTREAM_BATCH; i++) {
        struct msghdr *header = &in->header[i].msg_hdr;
        header->msg_name = &socket->shared->from[i];
        header->msg_namelen = sizeof socket->shared->from[i];
        header->msg_control = &in->local[i];
        header->msg_controllen = sizeof in->local[i];
    }
    const int count = recvmmsg(socket->watch.fd, in->header, UPSTREAM_BATCH, MSG_DONTWAIT, NULL);
    for (int i = 0; i < count; i++)
        take(socket, (unsigned)i);
    end_run(socket->shared->batch);
    return count;
}

static void receive(void *context, unsigned events)
{
    struct shared_socket *socket = context;
    if (events & LOOP_ERROR)
        fetch_errors(socket);
    for (int i = 0; i < ROUNDS_MAX && receive_batch(socket) == UPSTREAM_BATCH; i++)
        continue;
}

static bool set(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof value) == 0;
}

/* Bound to a port of all addresses, since a prefix cannot be bound to. */
static int open_socket(bool v4)
{
    const int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const struct sockaddr_in any4 = {.sin_family = AF_INET};
    const struct sockaddr_in6 any6 = {.sin6_family = AF_INET6};
    if (fd < 0)
        return -1;
    socket_buffer_ask(fd, BUFFER_BYTES);
    /* An address of the prefix need not be one of an interface; IPv4 asks no leave for that. */
    if (v4 ? set(fd, IPPROTO_IP, IP_PKTINFO, 1) && set(fd, IPPROTO_IP, IP_RECVERR, 1) &&
                 bind(fd, (const struct sockaddr *)&any4, sizeof any4) == 0
           : set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) && set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) &&
                 set(fd, IPPROTO_IPV6, IPV6_RECVERR, 1) &&
                 set(fd, IPPROTO_IPV6, IPV6_FREEBIND, 1) &&
                 bind(fd, (const struct sockaddr *)&any6, sizeof any6) == 0)
        return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* What is sent to the prefix must come to this machine, or no answers would; and the system must
   let it send from there. False with errno. */
static bool reaches_itself(const struct shared_socket *socket)
{
    struct socket_address self = {.size = sizeof self.address};
    unsigned char address[16];
    unsigned char reached[16];
    struct local_address control;
    char byte = 0;
    struct iovec piece = {.iov_base = &byte, .iov_len = 1};
    struct msghdr header = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control};
    struct pollfd waits = {.fd = socket->watch.fd, .events = POLLIN};
    sources_last(socket->sources, address);
    if (getsockname(waits.fd, &self.address.any, &self.size) != 0)
        return false;
    const unsigned port = socket_address_port(&self);
    socket_address_of_bytes(address, &self);
    socket_address_set_port(&self, port);
    header.msg_name = &self.address;
    header.msg_namelen = self.size;
    set_local(&header, address);
    if (sendmsg(waits.fd, &header, 0) < 0) {
        if (errno == EINVAL) /* what the system says of an address that is not its own */
            errno = EADDRNOTAVAIL;
        return false;
    }
    if (poll(&waits, 1, PROBE_MILLISECONDS) == 1) {
        header.msg_controllen = sizeof control;
        if (recvmsg(waits.fd, &header, 0) == 1 && get_local(&header, reached) &&
            memcmp(reached, address, sizeof address) == 0)
            return true;
    }
    errno = EADDRNOTAVAIL;
    return false;
}

static bool open_shared(struct shared_socket *socket, unsigned sessions)
{
    char text[PREFIX_TEXT];
    prefix_format(&socket->prefix, text);
    socket->watch.fd = open_socket(prefix_is_v4(&socket->prefix));
    socket->sources = sources_create(&socket->prefix, sessions);
    if (socket->watch.fd < 0 || !socket->sources) {
        log_error("no UDP socket for --source-prefix %s: %s", text, strerror(errno));
        return false;
    }
    if (!reaches_itself(socket)) {
        log_error("--source-prefix %s does not lead to this machine: %s. Give it the whole prefix: "
                  "ip route add local %s dev lo",
                  text, strerror(errno), text);
        return false;
    }
    socket->watched = loop_add(socket->shared->batch->loop, &socket->watch, LOOP_READABLE);
    if (socket->watched) {
        socket_buffer_report(socket->watch.fd, BUFFER_BYTES, "--source-prefix");
        return true;
    }
    log_error("cannot watch the UDP socket for --source-prefix %s: %s", text, strerror(errno));
    return false;
}

struct upstream_shared *upstream_shared_create(struct upstream_batch *batch,
                                               const struct prefix_list *prefixes,
                                               unsigned sessions)
{
    struct upstream_shared *shared = calloc(1, sizeof *shared);
    if (!shared)
        return NULL;
    shared->batch = batch;
    upstream_bundle_init(&shared->in);
    for (int i = 0; i < 2; i++) {
        shared->sockets[i].shared = shared;
        shared->sockets[i].watch =
            (struct loop_watch){.fd = -1, .ready = receive, .context = &shared->sockets[i]};
    }
    for (unsigned i = 0; i < prefixes->count; i++) {
        struct shared_socket *socket = &shared->sockets[prefix_is_v4(&prefixes->prefixes[i])];
        socket->prefix = prefixes->prefixes[i];
        if (!open_shared(socket, sessions)) {
            upstream_shared_destroy(shared);
            return NULL;
        }
    }
    return shared;
}

void upstream_shared_leave(struct upstream_shared *shared)
{
    for (int i = 0; i < 2; i++) {
        if (shared->sockets[i].watched)
            loop_remove(shared->batch->loop, &shared->sockets[i].watch);
        shared->sockets[i].watched = false;
    }
}

void upstream_shared_destroy(struct upstream_shared *shared)
{
    if (!shared)
        return;
    /* The loop has gone, or forgets a socket that is closed. */
    for (int i = 0; i < 2; i++) {
        sources_destroy(shared->sockets[i].sources);
        if (shared->sockets[i].watch.fd >= 0)
            close(shared->sockets[i].watch.fd);
    }
    free(shared);
}

bool upstream_shared_open(struct upstream_shared *shared, struct upstream *upstream)
{
    struct shared_socket *socket = socket_towards(shared, upstream);
    char text[PREFIX_TEXT];
    unsigned held;
    if (socket->sources)
        upstream->source =
            sources_take(socket->sources, upstream->game_server, upstream, loop_now());
    if (upstream->source || !log_limit_pass(&shared->full_limit, loop_now(), &held))
        return upstream->source != NULL;
    prefix_format(&socket->prefix, text);
    if (socket->sources)
        log_error("no source address for a session: all of %s are in use, or were within %g "
                  "seconds%s",
                  text, SOURCES_REST_SECONDS, log_held(held).text);
    else
        log_error("no source address for a session: no --source-prefix is of the family of its "
                  "game server%s",
                  log_held(held).text);
    return false;
}

static unsigned port_of(int fd)
{
    struct socket_address local = {.size = sizeof local.address};
    return getsockname(fd, &local.address.any, &local.size) == 0 ? socket_address_port(&local) : 0;
}

/* The socket of the other process takes the place of the one of this, which nobody has used yet, or
   is that already: each session brings a copy of it. */
static bool adopt_socket(struct shared_socket *socket, int fd)
{
    struct loop *loop = socket->shared->batch->loop;
    if (port_of(fd) == port_of(socket->watch.fd)) {
        close(fd);
        return true;
    }
    if (sources_count(socket->sources) > 1)
        return false;
    loop_remove(loop, &socket->watch);
    close(socket->watch.fd);
    socket->watch.fd = fd;
    socket->watched = loop_add(loop, &socket->watch, LOOP_READABLE);
    return true;
}

bool upstream_shared_adopt(struct upstream_shared *shared, struct upstream *upstream, int fd,
                           const unsigned char address[16])
{
    struct shared_socket *socket = socket_towards(shared, upstream);
    const double now = loop_now();
    if (!socket->sources || socket != socket_for(shared, address))
        return false;
    struct source *source =
        sources_take_this(socket->sources, address, upstream->game_server, upstream, now);
    if (!source)
        return false;
    if (!adopt_socket(socket, fd)) {
        sources_release(socket->sources, source, now);
        return false;
    }
    upstream->source = source;
    return true;
}

void upstream_shared_close(struct upstream_shared *shared, struct upstream *upstream)
{
    sources_release(socket_towards(shared, upstream)->sources, upstream->source, loop_now());
    upstream->source = NULL;
}

int upstream_shared_socket(const struct upstream_shared *shared, const struct upstream *upstream)
{
    return shared->sockets[socket_address_bytes_are_v4(upstream->source->address)].watch.fd;
}

void upstream_shared_count_overflow(struct upstream_shared *shared)
{
    for (int i = 0; i < 2; i++) {
        struct shared_socket *socket = &shared->sockets[i];
        if (socket->watch.fd >= 0)
            shared->batch->stats->upstream_overflow +=
                overflow_since(socket->watch.fd, &socket->overflowed);
    }
}
