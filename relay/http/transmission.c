#include "http/transmission.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

/* Bytes that are sent at a time, so that one large file keeps nobody waiting. */
#define CHUNK 16384

/* Seconds without progress after which a client is given up. */
#define STALL_SECONDS 10

struct transmission {
    struct loop *loop;
    struct lws *wsi;
    SSL *tls; /* NULL without TLS */
    struct loop_watch watch;
    bool is_watched;
    struct text text; /* the head, and a body that is no file */
    size_t text_sent;
    int file; /* -1 = none */
    off_t file_size;
    off_t file_left;
};

static size_t at_most(size_t size)
{
    return size < CHUNK ? size : CHUNK;
}

/* Does the work of send_some for a socket. */
static ssize_t send_plain(struct transmission *transmission, const void *text, size_t size)
{
    const int fd = transmission->watch.fd;
    ssize_t sent;
    if (text)
        sent = send(fd, text, size, transmission->file_left > 0 ? MSG_MORE : 0);
    else
        sent = sendfile(fd, transmission->file, NULL, size);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    return sent > 0 ? sent : -1; /* at 0, the file has become shorter */
}

/* Does the work of send_some for TLS, which must be given the same bytes again when they did not go
   the first time. */
static ssize_t send_tls(struct transmission *transmission, const void *text, size_t size)
{
    uint8_t chunk[CHUNK];
    size_t sent = 0;
    if (!text) {
        const off_t at = transmission->file_size - transmission->file_left;
        const ssize_t got = pread(transmission->file, chunk, size, at);
        if (got <= 0) /* the file has become shorter */
            return -1;
        size = (size_t)got;
    }
    if (SSL_write_ex(transmission->tls, text ? text : chunk, size, &sent) != 1)
        return SSL_get_error(transmission->tls, 0) == SSL_ERROR_WANT_WRITE ? 0 : -1;
    return (ssize_t)sent;
}

/* Returns how many bytes went; 0 when the socket is full, below 0 when no more can go. */
static ssize_t send_some(struct transmission *transmission)
{
    const size_t text_left = transmission->text.size - transmission->text_sent;
    const char *text = text_left > 0 ? transmission->text.bytes + transmission->text_sent : NULL;
    const size_t size = at_most(text ? text_left : (size_t)transmission->file_left);
    const ssize_t sent = transmission->tls ? send_tls(transmission, text, size)
                                           : send_plain(transmission, text, size);
    if (sent > 0 && text)
        transmission->text_sent += (size_t)sent;
    else if (sent > 0)
        transmission->file_left -= sent;
    return sent;
}

bool transmission_done(const struct transmission *transmission)
{
    return transmission->text_sent == transmission->text.size && transmission->file_left == 0;
}

static void on_writable(void *context, unsigned events)
{
    (void)events;
    struct transmission *transmission = context;
    const ssize_t sent = send_some(transmission);
    if (sent > 0)
        lws_set_timeout(transmission->wsi, PENDING_TIMEOUT_HTTP_CONTENT, STALL_SECONDS);
    if (sent < 0 || transmission_done(transmission)) {
        loop_change(transmission->loop, &transmission->watch, 0);
        lws_set_timeout(transmission->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
    }
}

/* Sends what goes at once, and waits until more can go. */
static bool start(struct transmission *transmission)
{
    ssize_t sent;
    do
        sent = send_some(transmission);
    while (sent > 0 && transmission->text_sent < transmission->text.size);
    if (sent < 0 || transmission_done(transmission))
        return sent >= 0;
    if (lws_rx_flow_control(transmission->wsi, 0) != 0)
        return false;
    lws_set_timeout(transmission->wsi, PENDING_TIMEOUT_HTTP_CONTENT, STALL_SECONDS);
    transmission->is_watched = loop_add(transmission->loop, &transmission->watch, LOOP_WRITABLE);
    return transmission->is_watched;
}

struct transmission *transmission_begin(struct loop *loop, struct lws *wsi,
                                        struct http_response *response, bool head_only)
{
    struct transmission *transmission = calloc(1, sizeof *transmission);
    if (!transmission) {
        response_free(response);
        return NULL;
    }
    *transmission = (struct transmission){
        .loop = loop,
        .wsi = wsi,
        .tls = lws_get_ssl(wsi),
        .file = response->file,
        .watch.fd = lws_get_socket_fd(wsi),
        .watch.ready = on_writable,
        .watch.context = transmission,
    };
    response_write_head(response, &transmission->text);
    if (!head_only && response->body.size > 0)
        text_add_bytes(&transmission->text, response->body.bytes, response->body.size);
    if (!head_only && response->file >= 0)
        transmission->file_size = transmission->file_left = response->file_size;
    const bool failed = transmission->text.failed || response->body.failed;
    response->file = -1;
    response_free(response);
    if (!failed && start(transmission))
        return transmission;
    transmission_end(transmission);
    return NULL;
}

void transmission_end(struct transmission *transmission)
{
    if (transmission->is_watched)
        loop_remove(transmission->loop, &transmission->watch);
    if (transmission->file >= 0)
        close(transmission->file);
    text_free(&transmission->text);
    free(transmission);
}
