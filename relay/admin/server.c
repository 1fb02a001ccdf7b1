#include "admin/server.h"

#include "http/descriptors.h"
#include "http/listener.h"
#include "os/log.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Seconds for a client to ask, to take the reply, and to close. */
#define CLIENT_SECONDS 5.0

/* Seconds without accepting when the system has no descriptor left; the waiting connection would
   otherwise wake the loop without end. */
#define PAUSE_SECONDS 1.0

struct connection {
    struct admin_server *server;
    struct loop_watch watch; /* its fd is -1 when the place is free */
    double until;
    uint64_t ticket; /* ticket of the request that has come; 0 = none has */
    bool head_only;
    struct text out; /* empty until the answer has come */
    size_t sent;
    size_t size;
    char in[ADMIN_REQUEST_MAX + 1];
};

struct admin_server {
    struct loop *loop;
    struct loop_watch watch;
    struct loop_timer timer; /* armed while there are connections, or accepting pauses */
    struct socket_address local;
    uint64_t last_ticket;
    admin_handle *handle;
    void *context;
    struct connection connections[DESCRIPTORS_ADMIN];
};

static const char *reason_of(unsigned status)
{
    switch (status) {
    case 200:
        return "OK";
    case 404:
        return "Not Found";
    case 503:
        return "Service Unavailable";
    default:
        return "Refused";
    }
}

static void end(struct connection *connection)
{
    loop_remove(connection->server->loop, &connection->watch);
    close(connection->watch.fd);
    connection->watch.fd = -1;
    text_free(&connection->out);
}

/* Returns the connection that will be due first. A free place is never due. */
static struct connection *oldest(struct admin_server *server)
{
    struct connection *first = &server->connections[0];
    for (unsigned i = 1; i < DESCRIPTORS_ADMIN; i++) {
        struct connection *other = &server->connections[i];
        if (other->watch.fd >= 0 && (first->watch.fd < 0 || other->until < first->until))
            first = other;
    }
    return first;
}

static void on_timer(void *context)
{
    struct admin_server *server = context;
    const double now = loop_now();
    struct connection *first;
    while ((first = oldest(server))->watch.fd >= 0 && first->until <= now)
        end(first);
    if (first->watch.fd >= 0)
        loop_timer_start(server->loop, &server->timer, first->until - now);
    if (server->watch.fd >= 0)
        loop_change(server->loop, &server->watch, LOOP_READABLE);
}

/* Sends the reply, then closes. Bytes that the client has not read yet would be lost if the
   connection were closed while the client still sends, so the client closes first. */
static void transmit(struct connection *connection)
{
    const struct text *out = &connection->out;
    while (connection->sent < out->size) {
        const ssize_t sent = send(connection->watch.fd, out->bytes + connection->sent,
                                  out->size - connection->sent, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
            loop_change(connection->server->loop, &connection->watch, LOOP_WRITABLE);
            return;
        }
        if (sent < 0) {
            end(connection);
            return;
        }
        connection->sent += (size_t)sent;
    }
    shutdown(connection->watch.fd, SHUT_WR);
    loop_change(connection->server->loop, &connection->watch, LOOP_READABLE);
}

static void reply(struct connection *connection, struct admin_reply *what)
{
    if (what->body.failed) {
        text_free(&what->body);
        what->status = 503;
        what->type = "text/plain";
        text_add(&what->body, "There is no memory for it.\n");
    }
    struct text *out = &connection->out;
    text_add(out,
             "HTTP/1.1 %u %s\r\ncontent-type: %s\r\ncontent-length: %zu\r\ncache-control: "
             "no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n",
             what->status, reason_of(what->status), what->type, what->body.size);
    if (what->body.size > 0 && !connection->head_only)
        text_add(out, "%s", what->body.bytes);
    text_free(&what->body);
    if (out->failed)
        end(connection);
    else
        transmit(connection);
}

void admin_server_answer(struct admin_server *server, uint64_t ticket, struct admin_reply *what)
{
    for (unsigned i = 0; i < DESCRIPTORS_ADMIN; i++) {
        struct connection *connection = &server->connections[i];
        if (connection->watch.fd >= 0 && connection->ticket == ticket) {
            reply(connection, what);
            return;
        }
    }
    text_free(&what->body);
}

static void receive(struct connection *connection)
{
    struct admin_server *server = connection->server;
    const ssize_t size = recv(connection->watch.fd, connection->in + connection->size,
                              ADMIN_REQUEST_MAX - connection->size, 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size <= 0) {
        end(connection);
        return;
    }
    struct admin_request request;
    struct admin_reply what = ADMIN_REPLY;
    const char *why;
    connection->size += (size_t)size;
    const unsigned status = admin_request_read(connection->in, connection->size, &request, &why);
    if (status == 0)
        return;
    connection->ticket = ++server->last_ticket;
    if (status == 200) {
        connection->head_only = request.method == ADMIN_HEAD;
        loop_change(server->loop, &connection->watch, 0);
        server->handle(server->context, &request, connection->ticket);
    } else {
        what.status = status;
        text_add(&what.body, "%s\n", why);
        reply(connection, &what);
    }
}

static void discard(struct connection *connection)
{
    char bytes[16384];
    const ssize_t size = recv(connection->watch.fd, bytes, sizeof bytes, 0);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))
        end(connection);
}

static void on_ready(void *context, unsigned events)
{
    (void)events;
    struct connection *connection = context;
    if (connection->ticket == 0)
        receive(connection);
    else if (connection->out.size == 0)
        end(connection); /* while the answer is awaited, only errors are reported */
    else if (connection->sent < connection->out.size)
        transmit(connection);
    else
        discard(connection);
}

static void begin(struct admin_server *server, int fd)
{
    struct connection *place = &server->connections[0];
    while (place < server->connections + DESCRIPTORS_ADMIN && place->watch.fd >= 0)
        place++;
    if (place == server->connections + DESCRIPTORS_ADMIN) {
        place = oldest(server);
        end(place);
    }
    place->watch.fd = fd;
    place->until = loop_now() + CLIENT_SECONDS;
    place->ticket = 0;
    place->head_only = false;
    place->sent = 0;
    place->size = 0;
    if (!loop_add(server->loop, &place->watch, LOOP_READABLE)) {
        close(fd);
        place->watch.fd = -1;
        return;
    }
    if (!server->timer.loop)
        loop_timer_start(server->loop, &server->timer, CLIENT_SECONDS);
}

/* Accepts one connection in a turn of the loop, so that a crowd here keeps no player waiting. */
static void on_connection(void *context, unsigned events)
{
    (void)events;
    struct admin_server *server = context;
    const int fd = accept4(server->watch.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        begin(server, fd);
    } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        loop_change(server->loop, &server->watch, 0);
        loop_timer_start(server->loop, &server->timer, PAUSE_SECONDS);
    }
}

struct admin_server *admin_server_create(const struct socket_address *address, struct loop *loop,
                                         struct inherited_sockets *inherited, admin_handle *handle,
                                         void *context)
{
    char text[SOCKET_ADDRESS_TEXT];
    struct admin_server *server = calloc(1, sizeof *server);
    if (!server) {
        log_error("no memory");
        return NULL;
    }
    server->loop = loop;
    server->handle = handle;
    server->context = context;
    server->local = *address;
    server->timer.expired = on_timer;
    server->timer.context = server;
    for (unsigned i = 0; i < DESCRIPTORS_ADMIN; i++) {
        server->connections[i].server = server;
        server->connections[i].watch =
            (struct loop_watch){.fd = -1, .ready = on_ready, .context = &server->connections[i]};
    }
    server->watch = (struct loop_watch){.ready = on_connection, .context = server};
    server->watch.fd = listener_open_socket(&server->local, inherited, false);
    if (server->watch.fd < 0 || !loop_add(loop, &server->watch, LOOP_READABLE)) {
        socket_address_format(address, text);
        log_error("cannot listen on %s: %s", text, strerror(errno));
        if (server->watch.fd >= 0)
            close(server->watch.fd);
        free(server);
        return NULL;
    }
    server->local.size = sizeof server->local.address;
    getsockname(server->watch.fd, &server->local.address.any, &server->local.size);
    return server;
}

int admin_server_socket(const struct admin_server *server)
{
    return server->watch.fd;
}

void admin_server_announce(const struct admin_server *server)
{
    char text[SOCKET_ADDRESS_TEXT];
    socket_address_format(&server->local, text);
    log_info("admin listener on %s", text);
}

void admin_server_close(struct admin_server *server)
{
    if (server->watch.fd < 0)
        return;
    loop_remove(server->loop, &server->watch);
    close(server->watch.fd);
    server->watch.fd = -1;
}

void admin_server_destroy(struct admin_server *server)
{
    if (!server)
        return;
    admin_server_close(server);
    for (unsigned i = 0; i < DESCRIPTORS_ADMIN; i++) {
        if (server->connections[i].watch.fd >= 0)
            end(&server->connections[i]);
    }
    loop_timer_stop(&server->timer);
    free(server);
}
