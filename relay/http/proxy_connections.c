#include "http/proxy_connections.h"

#include "http/forwarded.h"
#include "http/proxy_protocol.h"
#include "http/request_head.h"
#include "os/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Seconds for the first bytes to come. */
#define PROXY_CONNECTION_SECONDS 10.0

/* The first bytes of a connection, in which a PROXY header, or the head of a request, must end. */
#define LOOKED_AT_MAX 8192

struct proxy_connection {
    struct proxy_connections *connections;
    struct http *http;
    struct loop_watch watch;
    struct socket_address proxy;
    struct socket_address client; /* the proxy until its header has named another */
    enum pre_session_counting counting;
    bool header_taken; /* the header is taken off the connection, or there is none */
    ssize_t seen;      /* bytes that wait in the socket */
    struct proxy_connection *older;
    struct proxy_connection *newer;
    double due;
};

struct proxy_connections {
    struct loop *loop;
    struct pre_session_limit *pre_sessions;
    struct stats *stats;
    struct proxy_connection *oldest;
    struct proxy_connection *newest;
    struct loop_timer timer;           /* armed for the oldest connection */
    const struct prefix_list *trusted; /* see proxy_connections_create */
    struct log_limit limit;
};

/* Ends a connection and returns its descriptor. */
static int proxy_connection_end(struct proxy_connection *connection)
{
    struct proxy_connections *connections = connection->connections;
    const int fd = connection->watch.fd;
    loop_remove(connections->loop, &connection->watch);
    *(connection->older ? &connection->older->newer : &connections->oldest) = connection->newer;
    *(connection->newer ? &connection->newer->older : &connections->newest) = connection->older;
    pre_session_limit_unreserve(connections->pre_sessions);
    free(connection);
    return fd;
}

static void refuse(struct proxy_connection *connection, const char *why)
{
    struct proxy_connections *connections = connection->connections;
    char text[SOCKET_ADDRESS_TEXT];
    unsigned suppressed;
    socket_address_format(&connection->proxy, text);
    connections->stats->proxy_headers_refused++;
    if (log_limit_pass(&connections->limit, loop_now(), &suppressed))
        log_warn("connection of the proxy %s closed: %s%s", text, why,
                 log_suppressed(suppressed).text);
    close(proxy_connection_end(connection));
}

static void arm(struct proxy_connections *connections)
{
    if (connections->oldest)
        loop_timer_start(connections->loop, &connections->timer,
                         connections->oldest->due - loop_now());
}

static void on_timer(void *context)
{
    struct proxy_connections *connections = context;
    while (connections->oldest && connections->oldest->due <= loop_now())
        refuse(connections->oldest, "nothing came in time");
    arm(connections);
}

enum step {
    STEP_MORE, /* more bytes are needed */
    STEP_DONE,
    STEP_ENDED, /* the connection is refused and gone */
};

/* Takes the PROXY header off the connection, so that the request is the first to be read. */
static enum step take_header(struct proxy_connection *connection, uint8_t *data, size_t *size)
{
    size_t header_size = 0;
    const enum proxy_protocol found =
        proxy_protocol_read(data, *size, &connection->client, &header_size);
    if (found == PROXY_PROTOCOL_MORE)
        return STEP_MORE;
    if (found == PROXY_PROTOCOL_BAD) {
        refuse(connection, "its PROXY header is malformed");
        return STEP_ENDED;
    }
    connection->header_taken = true;
    if (found == PROXY_PROTOCOL_NONE)
        return STEP_DONE;
    if (recv(connection->watch.fd, data, header_size, MSG_DONTWAIT) != (ssize_t)header_size) {
        refuse(connection, "its PROXY header cannot be read");
        return STEP_ENDED;
    }
    if (found == PROXY_PROTOCOL_CLIENT)
        connection->counting = PRE_SESSION_COUNTED;
    *size -= header_size;
    memmove(data, data + header_size, *size);
    return STEP_DONE;
}

/* Returns whether the head of the request says who the client is, and can be read. */
static bool has_head(const struct proxy_connection *connection)
{
    const struct prefix_list *trusted = connection->connections->trusted;
    return trusted && prefix_list_holds(trusted, &connection->client);
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
static enum step read_head(struct proxy_connection *connection, const uint8_t *data, size_t size,
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
        reply_malformed(connection->watch.fd);
        break;
    }
    refuse(connection, why);
    return STEP_ENDED;
}

static void hand_on(struct proxy_connection *connection, const char *forwarded)
{
    struct pre_session_limit *pre_sessions = connection->connections->pre_sessions;
    const struct pre_session_start start = {.client = connection->client,
                                            .counting = connection->counting,
                                            .forwarded = forwarded,
                                            .vhost = http_vhost(connection->http),
                                            .owner = connection->http};
    const int lowest = 1;
    const int fd = proxy_connection_end(connection);
    setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &lowest, sizeof lowest);
    pre_session_limit_enter(pre_sessions, fd, &start);
}

/* Looks at the bytes that have come. They stay in the socket until they are a whole header, or a
   whole head of a request. */
static void on_ready(void *context, unsigned events)
{
    (void)events;
    struct proxy_connection *connection = context;
    uint8_t data[LOOKED_AT_MAX];
    const ssize_t waiting = recv(connection->watch.fd, data, sizeof data, MSG_PEEK | MSG_DONTWAIT);
    /* The proxy has closed, as after a health check. An end behind a part of a header would wake
       the loop without end. */
    if (waiting <= connection->seen) {
        close(proxy_connection_end(connection));
        return;
    }
    size_t size = (size_t)waiting;
    char forwarded[FORWARDED_MAX];
    enum step step = connection->header_taken ? STEP_DONE : take_header(connection, data, &size);
    const bool heads = step == STEP_DONE && has_head(connection);
    if (heads)
        step = read_head(connection, data, size, forwarded);
    if (step == STEP_DONE) {
        hand_on(connection, heads ? forwarded : NULL);
    } else if (step == STEP_MORE) {
        /* The socket wakes the loop only when more bytes are there: otherwise the same ones would
           wake it again. */
        const int wanted = (int)size + 1;
        connection->seen = (ssize_t)size;
        setsockopt(connection->watch.fd, SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof wanted);
    }
}

struct proxy_connections *proxy_connections_create(struct loop *loop,
                                                   struct pre_session_limit *pre_sessions,
                                                   struct stats *stats,
                                                   const struct prefix_list *trusted)
{
    struct proxy_connections *connections = calloc(1, sizeof *connections);
    if (!connections)
        return NULL;
    connections->loop = loop;
    connections->pre_sessions = pre_sessions;
    connections->stats = stats;
    connections->trusted = trusted;
    connections->timer.expired = on_timer;
    connections->timer.context = connections;
    return connections;
}

void proxy_connections_destroy(struct proxy_connections *connections)
{
    if (!connections)
        return;
    loop_timer_stop(&connections->timer);
    while (connections->oldest)
        close(proxy_connection_end(connections->oldest));
    free(connections);
}

void proxy_connection_begin(struct proxy_connections *connections, struct http *http, int fd,
                            const struct socket_address *proxy)
{
    struct proxy_connection *connection = calloc(1, sizeof *connection);
    if (!connection) {
        close(fd);
        return;
    }
    *connection = (struct proxy_connection){
        .connections = connections,
        .http = http,
        .watch = {.fd = fd, .ready = on_ready, .context = connection},
        .proxy = *proxy,
        .client = *proxy,
        .counting = PRE_SESSION_UNCOUNTED,
        .older = connections->newest,
        .due = loop_now() + PROXY_CONNECTION_SECONDS,
    };
    if (!loop_add(connections->loop, &connection->watch, LOOP_READABLE)) {
        close(fd);
        free(connection);
        return;
    }
    *(connections->newest ? &connections->newest->newer : &connections->oldest) = connection;
    connections->newest = connection;
    if (!pre_session_limit_reserve(connections->pre_sessions))
        refuse(connections->oldest, "too many others are open");
    if (!connections->timer.loop)
        arm(connections);
}
