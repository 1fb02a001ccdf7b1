#include "http/download.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

/* Bytes that are sent at a time, so that one large file keeps nobody waiting. */
#define CHUNK 16384

/* Seconds without progress after which a client is given up. */
#define STALL_SECONDS 10

struct download {
    struct loop *loop;
    struct lws *wsi;
    SSL *tls; /* NULL without TLS */
    struct loop_watch watch;
    int file;
    off_t size;
    off_t left; /* bytes of the file still to be sent */
    size_t head_sent;
    size_t head_size;
    unsigned char head[];
};

static void close_connection(struct download *download)
{
    loop_change(download->loop, &download->watch, 0);
    lws_set_timeout(download->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
}

/* Does the work of send_some for a socket. */
static ssize_t send_plain(struct download *download)
{
    size_t head = download->head_size - download->head_sent;
    size_t chunk = download->left < CHUNK ? (size_t)download->left : CHUNK;
    ssize_t sent;
    if (head > 0)
        sent = send(download->watch.fd, download->head + download->head_sent, head,
                    download->left > 0 ? MSG_MORE : 0);
    else
        sent = sendfile(download->watch.fd, download->file, NULL, chunk);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (sent == 0) /* the file has become shorter */
        return -1;
    if (head > 0)
        download->head_sent += (size_t)sent;
    else
        download->left -= sent;
    return sent;
}

/* Does the work of send_some for TLS, which must be given the same bytes again when they did not go
   the first time. */
static ssize_t send_tls(struct download *download)
{
    uint8_t chunk[CHUNK];
    const void *data = download->head + download->head_sent;
    size_t size = download->head_size - download->head_sent;
    size_t sent = 0;
    const bool head = size > 0;
    if (!head) {
        const off_t at = download->size - download->left;
        const size_t most = download->left < CHUNK ? (size_t)download->left : CHUNK;
        const ssize_t got = pread(download->file, chunk, most, at);
        if (got <= 0) /* the file has become shorter */
            return -1;
        data = chunk;
        size = (size_t)got;
    }
    if (SSL_write_ex(download->tls, data, size, &sent) != 1)
        return SSL_get_error(download->tls, 0) == SSL_ERROR_WANT_WRITE ? 0 : -1;
    if (head)
        download->head_sent += sent;
    else
        download->left -= (off_t)sent;
    return (ssize_t)sent;
}

/* Returns how many bytes went; 0 when the socket is full, below 0 when no more can go. */
static ssize_t send_some(struct download *download)
{
    return download->tls ? send_tls(download) : send_plain(download);
}

static void on_writable(void *context, unsigned events)
{
    (void)events;
    struct download *download = context;
    ssize_t sent = send_some(download);
    if (sent > 0)
        lws_set_timeout(download->wsi, PENDING_TIMEOUT_HTTP_CONTENT, STALL_SECONDS);
    if (sent < 0 || (download->left == 0 && download->head_sent == download->head_size))
        close_connection(download);
}

struct download *download_begin(struct loop *loop, struct lws *wsi, const void *head,
                                size_t head_size, int file, off_t size)
{
    struct download *download = malloc(sizeof *download + head_size);
    if (!download) {
        close(file);
        return NULL;
    }
    *download = (struct download){
        .loop = loop,
        .wsi = wsi,
        .tls = lws_get_ssl(wsi),
        .file = file,
        .size = size,
        .left = size,
        .head_size = head_size,
        .watch.fd = lws_get_socket_fd(wsi),
        .watch.ready = on_writable,
        .watch.context = download,
    };
    memcpy(download->head, head, head_size);
    if (lws_rx_flow_control(wsi, 0) == 0 && loop_add(loop, &download->watch, LOOP_WRITABLE))
        return download;
    close(file);
    free(download);
    return NULL;
}

bool download_end(struct download *download)
{
    bool complete = download->left == 0 && download->head_sent == download->head_size;
    loop_remove(download->loop, &download->watch);
    close(download->file);
    free(download);
    return complete;
}
