#include "session/upstream.h"

#include "limits/bucket.h"
#include "os/log.h"
#include "os/overflow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* At most this many datagrams are received in one call. With more, other sessions would wait
   longer. */
#define UPSTREAM_BATCH 64

/* At most this many datagrams are counted when a socket is closed. A socket's buffer hardly holds
   more. */
#define WAITING_MAX 4096

/* The list of game servers that are down has this many places. */
#define UPSTREAM_DOWN_MAX 64

/* Each server of a full list may be named at once; then there is a line in so many seconds. Clients
   choose among all addresses that --upstream allows, and could fill the log with them. */
#define NAMED_SECONDS 5.0

struct down_server {
    struct socket_address address;
    struct log_limit limit;
};

struct upstream_common {
    struct loop *loop;
    struct stats *stats;
    /* game servers that were down, and have not been heard since */
    struct down_server down[UPSTREAM_DOWN_MAX];
    unsigned down_count;
    struct bucket named; /* limits the lines that name a server */
    struct log_limit unsent_limit;
    struct log_limit open_limit;
    struct mmsghdr header[UPSTREAM_BATCH];
    struct iovec piece[UPSTREAM_BATCH];
    uint8_t data[UPSTREAM_BATCH][CLIENT_HEADER_MAX + SESSION_DATAGRAM_MAX];
};

struct upstream_common *upstream_common_create(struct loop *loop, struct stats *stats)
{
    struct upstream_common *common = calloc(1, sizeof *common);
    if (!common)
        return NULL;
    common->loop = loop;
    common->stats = stats;
    common->named.level = INFINITY;
    for (int i = 0; i < UPSTREAM_BATCH; i++) {
        common->piece[i].iov_base = common->data[i];
        common->piece[i].iov_len = sizeof common->data[i];
        common->header[i].msg_hdr.msg_iov = &common->piece[i];
        common->header[i].msg_hdr.msg_iovlen = 1;
    }
    return common;
}

void upstream_common_destroy(struct upstream_common *common)
{
    free(common);
}

static unsigned find_down(const struct upstream_common *common, const struct socket_address *server)
{
    unsigned i = 0;
    while (i < common->down_count && !socket_address_same(&common->down[i].address, server))
        i++;
    return i;
}

const struct socket_address *upstream_common_down(const struct upstream_common *common,
                                                  unsigned index)
{
    return index < common->down_count ? &common->down[index].address : NULL;
}

/* Remembers that a game server is down. Forgets the first one when there are too many: some may
   never come back. */
static struct down_server *mark_down(struct upstream_common *common,
                                     const struct socket_address *game_server)
{
    const unsigned place = find_down(common, game_server);
    if (place < common->down_count)
        return &common->down[place];
    if (common->down_count == UPSTREAM_DOWN_MAX)
        memmove(common->down, common->down + 1, --common->down_count * sizeof common->down[0]);
    common->down[common->down_count] = (struct down_server){.address = *game_server};
    return &common->down[common->down_count++];
}

static bool may_name(struct upstream_common *common)
{
    if (bucket_fill(&common->named, 1.0 / NAMED_SECONDS, UPSTREAM_DOWN_MAX, loop_now()) < 1.0)
        return false;
    common->named.level -= 1.0;
    return true;
}

/* Returns whether an error means that the game server is down. Such an error of the path tells the
   game server's state, and does not end the session. */
static bool means_down(int error)
{
    return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH ||
           error == EHOSTDOWN || error == ENETDOWN;
}

static void report_down(struct upstream *upstream, int error)
{
    struct upstream_common *common = upstream->common;
    upstream->server_down = true;
    common->stats->upstream_refused++;
    struct down_server *down = mark_down(common, upstream->game_server);
    unsigned suppressed;
    if (!log_limit_pass(&down->limit, loop_now(), &suppressed) || !may_name(common))
        return;
    char text[SOCKET_ADDRESS_TEXT];
    socket_address_format(upstream->game_server, text);
    log_warn("game server %s is down: %s%s", text, strerror(error),
             log_suppressed(suppressed).text);
}

/* Logs that a datagram could not be sent. A full buffer is not logged: it is for the counters. */
static void report_unsent(const struct upstream *upstream, int error)
{
    struct upstream_common *common = upstream->common;
    struct socket_address local;
    char from[SOCKET_ADDRESS_TEXT] = "here";
    char to[SOCKET_ADDRESS_TEXT];
    unsigned suppressed;
    if (error == EAGAIN || error == ENOBUFS ||
        !log_limit_pass(&common->unsent_limit, loop_now(), &suppressed))
        return;
    if (upstream_local(upstream, &local))
        socket_address_format(&local, from);
    socket_address_format(upstream->game_server, to);
    log_warn("cannot send from %s to game server %s: %s%s", from, to, strerror(error),
             log_suppressed(suppressed).text);
}

static void report_up(struct upstream *upstream)
{
    struct upstream_common *common = upstream->common;
    upstream->server_down = false;
    upstream->server_spoke = true;
    const unsigned place = common->down_count > 0 ? find_down(common, upstream->game_server) : 0;
    if (place == common->down_count)
        return;
    common->down[place] = common->down[--common->down_count];
    if (!may_name(common))
        return;
    char text[SOCKET_ADDRESS_TEXT];
    socket_address_format(upstream->game_server, text);
    log_info("game server %s answers again", text);
}

/* Reads the datagram that was received at a place of the buffer, without its header. Returns false
   when it cannot be given to anybody. */
static bool read_datagram(const struct upstream *upstream, int place, struct datagram *out)
{
    const struct upstream_common *common = upstream->common;
    struct stats *stats = common->stats;
    const uint8_t *data = common->data[place];
    const size_t size = common->header[place].msg_len;
    const size_t before = client_header_of_answer(&upstream->header, data, size);
    stats->upstream_datagrams++;
    stats->upstream_bytes += size;
    *out = (struct datagram){.data = data + before, .size = size - before};
    if ((common->header[place].msg_hdr.msg_flags & MSG_TRUNC) || out->size > SESSION_DATAGRAM_MAX)
        STATS_DROPPED(stats, upstream->drops, oversize, 1);
    else if (out->size == 0)
        STATS_DROPPED(stats, upstream->drops, empty, 1);
    else
        return true;
    return false;
}

static void on_ready(void *context, unsigned events)
{
    (void)events;
    struct upstream *upstream = context;
    struct upstream_common *common = upstream->common;
    struct datagram datagrams[UPSTREAM_BATCH];
    size_t usable = 0;
    const int count =
        recvmmsg(upstream->watch.fd, common->header, UPSTREAM_BATCH, MSG_DONTWAIT, NULL);
    if (count < 0) {
        /* Fetching the error clears it; datagrams behind it call this again. */
        if (means_down(errno))
            report_down(upstream, errno);
        return;
    }
    report_up(upstream);
    for (int i = 0; i < count; i++)
        usable += read_datagram(upstream, i, &datagrams[usable]);
    upstream->receive(upstream->context, datagrams, usable);
}

void upstream_init(struct upstream *upstream, struct upstream_common *common,
                   const struct socket_address *game_server, upstream_receive *receive,
                   void *context, struct drops *drops)
{
    upstream->common = common;
    upstream->game_server = game_server;
    upstream->receive = receive;
    upstream->context = context;
    upstream->drops = drops;
    upstream->watch = (struct loop_watch){.fd = -1, .ready = on_ready, .context = upstream};
}

void upstream_tell_client(struct upstream *upstream, enum client_header_format format,
                          const struct socket_address *client)
{
    upstream->header_format = format;
    upstream->client = client;
}

bool upstream_local(const struct upstream *upstream, struct socket_address *out)
{
    struct socket_address local = {.size = sizeof local.address};
    const int fd = upstream->watch.fd;
    if (fd < 0 || getsockname(fd, &local.address.any, &local.size) != 0)
        return false;
    *out = local;
    return true;
}

/* Writes the header by which the game server knows its player from now on, wherever the browser
   goes. */
static void write_header(struct upstream *upstream)
{
    struct socket_address local;
    if (upstream->header_format != CLIENT_HEADER_NONE && upstream_local(upstream, &local))
        client_header_write(upstream->header_format, upstream->client, &local, &upstream->header);
}

static bool open_socket(struct upstream *upstream)
{
    struct upstream_common *common = upstream->common;
    const struct socket_address *game_server = upstream->game_server;
    const int family = game_server->address.any.sa_family;
    const int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    upstream->watch.fd = fd;
    if (fd >= 0 && connect(fd, &game_server->address.any, game_server->size) == 0 &&
        loop_add(common->loop, &upstream->watch, LOOP_READABLE)) {
        write_header(upstream);
        return true;
    }
    unsigned suppressed;
    if (log_limit_pass(&common->open_limit, loop_now(), &suppressed))
        log_error("no UDP socket for a session: %s%s", strerror(errno),
                  log_suppressed(suppressed).text);
    if (fd >= 0)
        close(fd);
    upstream->watch.fd = -1;
    return false;
}

static bool try_to_send(const struct upstream *upstream, const uint8_t *data, size_t size)
{
    const struct client_header *header = &upstream->header;
    const int fd = upstream->watch.fd;
    if (!client_header_belongs(header, data, size, upstream->server_spoke))
        return send(fd, data, size, 0) >= 0;
    const struct iovec pieces[] = {
        {.iov_base = (void *)(uintptr_t)header->bytes, .iov_len = header->size},
        {.iov_base = (void *)(uintptr_t)data, .iov_len = size},
    };
    return writev(fd, pieces, 2) >= 0;
}

bool upstream_send(struct upstream *upstream, const uint8_t *data, size_t size)
{
    struct stats *stats = upstream->common->stats;
    if (upstream->watch.fd < 0 && !open_socket(upstream)) {
        STATS_DROPPED(stats, upstream->drops, upstream, 1);
        return false;
    }
    /* The error may be the answer to an earlier datagram, so that this one was not tried yet. */
    for (bool again = false;; again = true) {
        if (try_to_send(upstream, data, size)) {
            stats->forwarded_datagrams++;
            return true;
        }
        const bool down = means_down(errno);
        const int error = errno;
        if (down)
            report_down(upstream, error);
        if ((down || error == EINTR) && !again)
            continue;
        if (!down)
            report_unsent(upstream, error);
        STATS_DROPPED(stats, upstream->drops, upstream, 1);
        return true;
    }
}

void upstream_count_overflow(struct upstream *upstream)
{
    if (upstream->watch.fd >= 0)
        upstream->common->stats->upstream_overflow +=
            overflow_since(upstream->watch.fd, &upstream->overflow_count);
}

/* Counts the datagrams that wait in a socket, which are lost when it is closed. */
static void drop_waiting(struct upstream *upstream)
{
    struct stats *stats = upstream->common->stats;
    for (unsigned i = 0; i < WAITING_MAX; i++) {
        const ssize_t size = recv(upstream->watch.fd, NULL, 0, MSG_DONTWAIT | MSG_TRUNC);
        if (size < 0 && errno == EAGAIN)
            return;
        if (size < 0)
            continue; /* the answer to an earlier datagram */
        stats->upstream_datagrams++;
        stats->upstream_bytes += (size_t)size;
        STATS_DROPPED(stats, upstream->drops, closing, 1);
    }
}

int upstream_socket(const struct upstream *upstream, struct client_header *header)
{
    *header = upstream->header;
    return upstream->watch.fd;
}

bool upstream_adopt(struct upstream *upstream, int fd, const struct client_header *header)
{
    upstream->header = *header;
    upstream->server_spoke = true;
    upstream->watch.fd = fd;
    if (loop_add(upstream->common->loop, &upstream->watch, LOOP_READABLE))
        return true;
    upstream->watch.fd = -1;
    return false;
}

void upstream_leave(struct upstream *upstream)
{
    if (upstream->watch.fd < 0)
        return;
    loop_remove(upstream->common->loop, &upstream->watch);
    upstream_count_overflow(upstream);
    close(upstream->watch.fd);
    upstream->watch.fd = -1;
}

void upstream_close(struct upstream *upstream)
{
    if (upstream->watch.fd >= 0)
        drop_waiting(upstream);
    upstream_leave(upstream);
}
