#include "session/upstream.h"

#include "os/log.h"
#include "os/overflow.h"
#include "session/datagram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* More hardly fits into a socket. */
#define WAITING_MAX 4096

#define UPSTREAM_BATCH 64

/* Game servers that are remembered to be down. */
#define UPSTREAM_DOWN_MAX 64

/* Datagrams side by side, as recvmmsg and sendmmsg take them. */
struct bundle {
    struct mmsghdr header[UPSTREAM_BATCH];
    struct iovec piece[UPSTREAM_BATCH];
    uint8_t data[UPSTREAM_BATCH][CLIENT_HEADER_MAX + SESSION_DATAGRAM_MAX];
};

struct upstream_batch {
    struct loop *loop;
    struct stats *stats;
    struct upstream *receiver; /* whose datagrams are being handed on */
    int out_socket;            /* through which those in `out` go; -1 = there are none */
    unsigned gathered;
    struct socket_address down[UPSTREAM_DOWN_MAX]; /* not heard of since */
    unsigned down_count;
    struct log_limit down_limit;
    struct log_limit unsent_limit;
    struct log_limit up_limit;
    struct log_limit open_limit;
    struct upstream *sender[UPSTREAM_BATCH]; /* of each in `out` */
    struct bundle out;
    struct bundle in;
};

static void bundle_init(struct bundle *bundle)
{
    for (int i = 0; i < UPSTREAM_BATCH; i++) {
        bundle->piece[i].iov_base = bundle->data[i];
        bundle->piece[i].iov_len = sizeof bundle->data[i];
        bundle->header[i].msg_hdr.msg_iov = &bundle->piece[i];
        bundle->header[i].msg_hdr.msg_iovlen = 1;
    }
}

struct upstream_batch *upstream_batch_create(struct loop *loop, struct stats *stats)
{
    struct upstream_batch *batch = calloc(1, sizeof *batch);
    if (!batch)
        return NULL;
    batch->loop = loop;
    batch->stats = stats;
    batch->out_socket = -1;
    bundle_init(&batch->out);
    bundle_init(&batch->in);
    return batch;
}

void upstream_batch_destroy(struct upstream_batch *batch)
{
    free(batch);
}

static unsigned find_down(const struct upstream_batch *batch, const struct socket_address *server)
{
    unsigned i = 0;
    while (i < batch->down_count && !socket_address_same(&batch->down[i], server))
        i++;
    return i;
}

unsigned upstream_batch_down(const struct upstream_batch *batch)
{
    return batch->down_count;
}

/* Forgets the first when there are too many: some may never come back. */
static void mark_down(struct upstream_batch *batch, const struct socket_address *game_server)
{
    if (find_down(batch, game_server) < batch->down_count)
        return;
    if (batch->down_count == UPSTREAM_DOWN_MAX)
        memmove(batch->down, batch->down + 1, --batch->down_count * sizeof batch->down[0]);
    batch->down[batch->down_count++] = *game_server;
}

static bool means_down(int error)
{
    return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH ||
           error == EHOSTDOWN || error == ENETDOWN;
}

static void report_down(struct upstream *upstream, int error)
{
    struct upstream_batch *batch = upstream->batch;
    upstream->refused = true;
    batch->stats->upstream_refused++;
    mark_down(batch, upstream->game_server);
    unsigned held;
    if (!log_limit_pass(&batch->down_limit, loop_now(), &held))
        return;
    char text[SOCKET_ADDRESS_TEXT];
    socket_address_format(upstream->game_server, text);
    log_warn("game server %s is down: %s%s", text, strerror(error), log_held(held).text);
}

/* That a buffer is full is nothing to report: it is for the counters. */
static void report_unsent(const struct upstream *upstream, int error)
{
    struct upstream_batch *batch = upstream->batch;
    struct socket_address local;
    char from[SOCKET_ADDRESS_TEXT] = "here";
    char to[SOCKET_ADDRESS_TEXT];
    unsigned held;
    if (error == EAGAIN || error == ENOBUFS ||
        !log_limit_pass(&batch->unsent_limit, loop_now(), &held))
        return;
    if (upstream_local(upstream, &local))
        socket_address_format(&local, from);
    socket_address_format(upstream->game_server, to);
    log_warn("cannot send from %s to game server %s: %s%s", from, to, strerror(error),
             log_held(held).text);
}

static void report_up(struct upstream *upstream)
{
    struct upstream_batch *batch = upstream->batch;
    upstream->refused = false;
    upstream->heard = true;
    const unsigned place = batch->down_count > 0 ? find_down(batch, upstream->game_server) : 0;
    if (place == batch->down_count)
        return;
    batch->down[place] = batch->down[--batch->down_count];
    unsigned held;
    if (!log_limit_pass(&batch->up_limit, loop_now(), &held))
        return;
    char text[SOCKET_ADDRESS_TEXT];
    socket_address_format(upstream->game_server, text);
    log_info("game server %s answers again%s", text, log_held(held).text);
}

/* One alone goes with send, which costs less. */
static int hand_out(struct upstream_batch *batch, unsigned from)
{
    struct bundle *out = &batch->out;
    if (batch->gathered == 1)
        return send(batch->out_socket, out->data[0], out->piece[0].iov_len, 0) >= 0 ? 1 : -1;
    return sendmmsg(batch->out_socket, out->header + from, batch->gathered - from, 0);
}

void upstream_batch_flush(struct upstream_batch *batch)
{
    unsigned sent = 0;
    bool retried = false;
    while (sent < batch->gathered) {
        const int taken = hand_out(batch, sent);
        if (taken > 0) {
            batch->stats->forwarded_datagrams += (unsigned)taken;
            sent += (unsigned)taken;
            retried = false;
            continue;
        }
        /* The error may be the answer to an earlier datagram, and this one not tried yet. */
        struct upstream *sender = batch->sender[sent];
        const int error = errno;
        const bool down = means_down(error);
        if (down)
            report_down(sender, error);
        if ((down || error == EINTR) && !retried) {
            retried = true;
            continue;
        }
        if (!down)
            report_unsent(sender, error);
        batch->stats->dropped_upstream++;
        retried = false;
        sent++;
    }
    batch->out_socket = -1;
    batch->gathered = 0;
}

static void take(struct upstream *upstream, const uint8_t *data, size_t size, bool truncated)
{
    struct stats *stats = upstream->batch->stats;
    const size_t before = client_header_of_answer(&upstream->header, data, size);
    size -= before;
    if (truncated || size > SESSION_DATAGRAM_MAX)
        stats->dropped_oversize++;
    else if (size == 0)
        stats->dropped_empty++;
    else
        upstream->datagram(upstream->context, data + before, size);
}

static void receive(void *context, unsigned events)
{
    (void)events;
    struct upstream *upstream = context;
    struct upstream_batch *batch = upstream->batch;
    int count = recvmmsg(upstream->watch.fd, batch->in.header, UPSTREAM_BATCH, MSG_DONTWAIT, NULL);
    if (count < 0) {
        /* Fetching the error clears it; datagrams behind it wake the loop again. */
        if (means_down(errno))
            report_down(upstream, errno);
        return;
    }
    report_up(upstream);
    batch->receiver = upstream;
    for (int i = 0; i < count; i++) {
        size_t size = batch->in.header[i].msg_len;
        batch->stats->upstream_datagrams++;
        batch->stats->upstream_bytes += size;
        if (batch->receiver != upstream)
            batch->stats->dropped_closing++;
        else
            take(upstream, batch->in.data[i], size,
                 batch->in.header[i].msg_hdr.msg_flags & MSG_TRUNC);
    }
    if (batch->receiver == upstream)
        upstream->flush(upstream->context);
    batch->receiver = NULL;
}

void upstream_init(struct upstream *upstream, struct upstream_batch *batch,
                   const struct socket_address *game_server,
                   void (*datagram)(void *context, const uint8_t *data, size_t size),
                   void (*flush)(void *context), void *context)
{
    upstream->batch = batch;
    upstream->game_server = game_server;
    upstream->datagram = datagram;
    upstream->flush = flush;
    upstream->context = context;
    upstream->watch = (struct loop_watch){.fd = -1, .ready = receive, .context = upstream};
}

static bool open_socket(struct upstream *upstream)
{
    struct upstream_batch *batch = upstream->batch;
    const struct socket_address *game_server = upstream->game_server;
    int fd =
        socket(game_server->address.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    upstream->watch.fd = fd;
    if (fd >= 0 && connect(fd, &game_server->address.any, game_server->size) == 0 &&
        loop_add(batch->loop, &upstream->watch, LOOP_READABLE))
        return true;
    unsigned held;
    if (log_limit_pass(&batch->open_limit, loop_now(), &held))
        log_error("no UDP socket for a session: %s%s", strerror(errno), log_held(held).text);
    if (fd >= 0)
        close(fd);
    upstream->watch.fd = -1;
    return false;
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

/* The game server knows its player by this from now on, wherever the browser goes. */
static void write_header(struct upstream *upstream)
{
    struct socket_address local;
    if (upstream->header_format != CLIENT_HEADER_NONE && upstream_local(upstream, &local))
        client_header_write(upstream->header_format, upstream->client, &local, &upstream->header);
}

bool upstream_send(struct upstream *upstream, const uint8_t *data, size_t size)
{
    struct upstream_batch *batch = upstream->batch;
    if (upstream->watch.fd < 0) {
        if (!open_socket(upstream)) {
            batch->stats->dropped_upstream++;
            return false;
        }
        write_header(upstream);
    }
    const int fd = upstream->watch.fd;
    if (batch->out_socket != fd || batch->gathered == UPSTREAM_BATCH)
        upstream_batch_flush(batch);
    batch->out_socket = fd;
    const unsigned place = batch->gathered++;
    batch->sender[place] = upstream;
    uint8_t *out = batch->out.data[place];
    const struct client_header *header = &upstream->header;
    const size_t before =
        client_header_belongs(header, data, size, upstream->heard) ? header->size : 0;
    memcpy(out, header->bytes, before);
    memcpy(out + before, data, size);
    batch->out.piece[place].iov_len = before + size;
    return true;
}

void upstream_count_overflow(struct upstream *upstream)
{
    if (upstream->watch.fd >= 0)
        upstream->batch->stats->upstream_overflow +=
            overflow_since(upstream->watch.fd, &upstream->overflowed);
}

/* What waits in a socket would be gone with it, and in no counter. */
static void drop_waiting(struct upstream *upstream)
{
    struct stats *stats = upstream->batch->stats;
    for (unsigned i = 0; i < WAITING_MAX; i++) {
        const ssize_t size = recv(upstream->watch.fd, NULL, 0, MSG_DONTWAIT | MSG_TRUNC);
        if (size < 0 && errno == EAGAIN)
            return;
        if (size < 0)
            continue; /* the answer to an earlier datagram */
        stats->upstream_datagrams++;
        stats->upstream_bytes += (size_t)size;
        stats->dropped_closing++;
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
    upstream->heard = true;
    upstream->watch.fd = fd;
    if (loop_add(upstream->batch->loop, &upstream->watch, LOOP_READABLE))
        return true;
    upstream->watch.fd = -1;
    return false;
}

/* What has been gathered must have its socket still. */
static void flush_own(struct upstream *upstream)
{
    struct upstream_batch *batch = upstream->batch;
    if (batch->out_socket >= 0 && batch->out_socket == upstream->watch.fd)
        upstream_batch_flush(batch);
    if (batch->receiver == upstream)
        batch->receiver = NULL;
}

static void close_socket(struct upstream *upstream)
{
    loop_remove(upstream->batch->loop, &upstream->watch);
    upstream_count_overflow(upstream);
    close(upstream->watch.fd);
    upstream->watch.fd = -1;
}

void upstream_leave(struct upstream *upstream)
{
    flush_own(upstream);
    if (upstream->watch.fd >= 0)
        close_socket(upstream);
}

void upstream_close(struct upstream *upstream)
{
    flush_own(upstream);
    if (upstream->watch.fd < 0)
        return;
    drop_waiting(upstream);
    close_socket(upstream);
}
