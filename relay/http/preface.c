#include "http/preface.h"

#include "http/forwarded.h"
#include "http/proxy_protocol.h"
#include "http/request_head.h"
#include "os/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Seconds for the first bytes to come. */
#define PREFACE_SECONDS 10.0

/* Bytes at the start of a connection in which a PROXY header, or the head of a request, must end.
 */
#define LOOKED_AT_MAX 8192

struct preface {
    struct prefaces *prefaces;
    struct http *http;
    struct loop_watch watch;
    struct socket_address proxy;
    struct socket_address client; /* the proxy until its header has named another */
    enum pre_session_counting counting;
    bool header_taken; /* the header is taken off the connection, or there is none */
    ssize_t seen;      /* bytes that wait in the socket */
    struct preface *older;
    struct preface *newer;
    double due;
};

struct prefaces {
    struct loop *loop;
    struct pre_session_limit *pre_sessions;
    struct stats *stats;
    unsigned count;
    struct preface *oldest;
    struct preface *newest;
    struct loop_timer timer;           /* armed for the oldest preface */
    const struct prefix_list *trusted; /* see prefaces_create */
    struct log_limit limit;
};

/* Ends a preface and returns its descriptor. */
static int preface_end(struct preface *preface)
{
    struct prefaces *prefaces = preface->prefaces;
    const int fd = preface->watch.fd;
    loop_remove(prefaces->loop, &preface->watch);
    *(preface->older ? &preface->older->newer : &prefaces->oldest) = preface->newer;
    *(preface->newer ? &preface->newer->older : &prefaces->newest) = preface->older;
    prefaces->count--;
    free(preface);
    return fd;
}

static void refuse(struct preface *preface, const char *why)
{
    struct prefaces *prefaces = preface->prefaces;
    char text[SOCKET_ADDRESS_TEXT];
    unsigned suppressed;
    socket_address_format(&preface->proxy, text);
    prefaces->stats->proxy_headers_refused++;
    if (log_limit_pass(&prefaces->limit, loop_now(), &suppressed))
        log_warn("connection of the proxy %s closed: %s%s", text, why,
                 log_suppressed(suppressed).text);
    close(preface_end(preface));
}

static void arm(struct prefaces *prefaces)
{
    if (prefaces->oldest)
        loop_timer_start(prefaces->loop, &prefaces->timer, prefaces->oldest->due - loop_now());
}

static void on_timer(void *context)
{
    struct prefaces *prefaces = context;
    while (prefaces->oldest && prefaces->oldest->due <= loop_now())
        refuse(prefaces->oldest, "nothing came in time");
    arm(prefaces);
}

enum step {
    STEP_MORE, /* more bytes are needed */
    STEP_DONE,
    STEP_ENDED, /* the preface is refused and gone */
};

/* Takes the PROXY header off the connection, so that the request is the first to be read. */
static enum step take_header(struct preface *preface, uint8_t *data, size_t *size)
{
    size_t header_size = 0;
    const enum proxy_protocol found =
        proxy_protocol_read(data, *size, &preface->client, &header_size);
    if (found == PROXY_PROTOCOL_MORE)
        return STEP_MORE;
    if (found == PROXY_PROTOCOL_BAD) {
        refuse(preface, "its PROXY header is malformed");
        return STEP_ENDED;
    }
    preface->header_taken = true;
    if (found == PROXY_PROTOCOL_NONE)
        return STEP_DONE;
    if (recv(preface->watch.fd, data, header_size, MSG_DONTWAIT) != (ssize_t)header_size) {
        refuse(preface, "its PROXY header cannot be read");
        return STEP_ENDED;
    }
    if (found == PROXY_PROTOCOL_CLIENT)
        preface->counting = PRE_SESSION_COUNTED;
    *size -= header_size;
    memmove(data, data + header_size, *size);
    return STEP_DONE;
}

/* Returns whether the head of the request says who the client is, and can be read. */
static bool has_head(const struct preface *preface)
{
    const struct prefix_list *trusted = preface->prefaces->trusted;
    return trusted && prefix_list_holds(trusted, &preface->client);
}

/* Replies to a malformed request. The client's bytes are taken off the socket: otherwise a reset
   would follow the reply, and overtake it. */
static void reply_malformed(int fd)
{
    static const char text[] = "HTTP/1.1 400 Bad Request\r\n"
                               "content-type: text/plain\r\n"
                               "content-length: 41\r\n"
                               "connection: close\r\n"
                               "\r\n"
                               "A line of the head is not a header field.";
    uint8_t bytes[LOOKED_AT_MAX];
    (void)recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    (void)send(fd, text, sizeof text - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Reads the client from the head of a request, once the head is whole. */
static enum step read_head(struct preface *preface, const uint8_t *data, size_t size,
                           char forwarded[FORWARDED_MAX])
{
    const char *why = "the head of its request is too long";
    switch (request_head_read(data, size)) {
    case REQUEST_HEAD_MORE:
        if (size < LOOKED_AT_MAX)
            return STEP_MORE;
        break;
    case REQUEST_HEAD_WHOLE:
        if (request_head_value(data, size, FORWARDED_FOR, forwarded, FORWARDED_MAX))
            return STEP_DONE;
        why = "its X-Forwarded-For is too long";
        break;
    case REQUEST_HEAD_MALFORMED:
        why = "its request is malformed";
        reply_malformed(preface->watch.fd);
        break;
    }
    refuse(preface, why);
    return STEP_ENDED;
}

static void hand_on(struct preface *preface, const char *forwarded)
{
    struct pre_session_limit *pre_sessions = preface->prefaces->pre_sessions;
    const struct pre_session_start start = {.client = preface->client,
                                            .counting = preface->counting,
                                            .forwarded = forwarded,
                                            .vhost = http_vhost(preface->http),
                                            .owner = preface->http};
    const int lowest = 1;
    const int fd = preface_end(preface);
    setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &lowest, sizeof lowest);
    pre_session_limit_enter(pre_sessions, fd, &start);
}

/* Looks at the bytes that have come. They stay in the socket until they are a whole header, or a
   whole head of a request. */
static void on_ready(void *context, unsigned events)
{
    (void)events;
    struct preface *preface = context;
    uint8_t data[LOOKED_AT_MAX];
    const ssize_t waiting = recv(preface->watch.fd, data, sizeof data, MSG_PEEK | MSG_DONTWAIT);
    /* The proxy has closed, as after a health check. An end behind a part of a header would wake
       the loop without end. */
    if (waiting <= preface->seen) {
        close(preface_end(preface));
        return;
    }
    size_t size = (size_t)waiting;
    char forwarded[FORWARDED_MAX];
    enum step step = preface->header_taken ? STEP_DONE : take_header(preface, data, &size);
    const bool heads = step == STEP_DONE && has_head(preface);
    if (heads)
        step = read_head(preface, data, size, forwarded);
    if (step == STEP_DONE) {
        hand_on(preface, heads ? forwarded : NULL);
    } else if (step == STEP_MORE) {
        /* Waits for more than is there: otherwise the same bytes would wake the loop again. */
        const int wanted = (int)size + 1;
        preface->seen = (ssize_t)size;
        setsockopt(preface->watch.fd, SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof wanted);
    }
}

struct prefaces *prefaces_create(struct loop *loop, struct pre_session_limit *pre_sessions,
                                 struct stats *stats, const struct prefix_list *trusted)
{
    struct prefaces *prefaces = calloc(1, sizeof *prefaces);
    if (!prefaces)
        return NULL;
    prefaces->loop = loop;
    prefaces->pre_sessions = pre_sessions;
    prefaces->stats = stats;
    prefaces->trusted = trusted;
    prefaces->timer.expired = on_timer;
    prefaces->timer.context = prefaces;
    return prefaces;
}

void prefaces_destroy(struct prefaces *prefaces)
{
    if (!prefaces)
        return;
    loop_timer_stop(&prefaces->timer);
    while (prefaces->oldest)
        close(preface_end(prefaces->oldest));
    free(prefaces);
}

void preface_begin(struct prefaces *prefaces, struct http *http, int fd,
                   const struct socket_address *proxy)
{
    struct preface *preface = calloc(1, sizeof *preface);
    if (!preface) {
        close(fd);
        return;
    }
    *preface = (struct preface){
        .prefaces = prefaces,
        .http = http,
        .watch = {.fd = fd, .ready = on_ready, .context = preface},
        .proxy = *proxy,
        .client = *proxy,
        .counting = PRE_SESSION_UNCOUNTED,
        .older = prefaces->newest,
        .due = loop_now() + PREFACE_SECONDS,
    };
    if (!loop_add(prefaces->loop, &preface->watch, LOOP_READABLE)) {
        close(fd);
        free(preface);
        return;
    }
    *(prefaces->newest ? &prefaces->newest->newer : &prefaces->oldest) = preface;
    prefaces->newest = preface;
    if (++prefaces->count > PREFACES_MAX)
        refuse(prefaces->oldest, "others need the room");
    if (!prefaces->timer.loop)
        arm(prefaces);
}
