#include "http/listener.h"

#include "os/log.h"
#include "os/socket_address.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The most connections that are accepted in one turn of the loop. */
#define ACCEPT_MAX 64

/* Seconds without accepting when the system has no descriptor left; the waiting connection would
   otherwise wake the loop without end. */
#define PAUSE_SECONDS 0.1

/* Bytes that the kernel takes before it has sent those that it has. Without this limit, each client
   that loads a large file and reads nothing would fill megabytes of the kernel's memory. */
#define UNSENT_MAX 16384

struct listener {
    struct listener_config config;
    struct loop_watch watch;
    struct loop_timer pause;
    struct log_limit limit;
    struct socket_address local;
};

static void resume(void *context)
{
    struct listener *listener = context;
    loop_change(listener->config.loop, &listener->watch, LOOP_READABLE);
}

static void pause_accepting(struct listener *listener, int error)
{
    unsigned suppressed;
    if (log_limit_pass(&listener->limit, loop_now(), &suppressed))
        log_error("cannot accept connections: %s%s", strerror(error),
                  log_suppressed(suppressed).text);
    loop_change(listener->config.loop, &listener->watch, 0);
    loop_timer_start(listener->config.loop, &listener->pause, PAUSE_SECONDS);
}

static void begin(struct listener *listener, int fd, const struct socket_address *client)
{
    const struct listener_config *config = &listener->config;
    const struct pre_session_start start = {.client = *client,
                                            .counting = PRE_SESSION_COUNTED,
                                            .vhost = http_vhost(config->http),
                                            .owner = config->http};
    if (config->proxies && prefix_list_holds(config->proxies, client))
        proxy_connection_begin(config->proxy_connections, config->http, fd, client);
    else
        pre_session_limit_enter(config->pre_sessions, fd, &start);
}

static void accept_ready(void *context, unsigned events)
{
    (void)events;
    struct listener *listener = context;
    if (listener->config.may_accept && !listener->config.may_accept(listener->config.context))
        return;
    for (int i = 0; i < ACCEPT_MAX && pre_session_limit_room(listener->config.pre_sessions); i++) {
        struct socket_address client = {.size = sizeof client.address};
        int fd = accept4(listener->watch.fd, &client.address.any, &client.size,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
                pause_accepting(listener, errno);
            if (errno == ECONNABORTED || errno == EINTR)
                continue;
            return;
        }
        int on = 1;
        int unsent = UNSENT_MAX;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
        begin(listener, fd, &client);
    }
}

int listener_open_socket(struct socket_address *socket_address, struct inherited_sockets *inherited,
                         bool shared)
{
    int fd = inherited_sockets_take(inherited, SOCK_STREAM, socket_address);
    if (fd >= 0) {
        /* The socket may have been a worker's before, which has made it refuse connections: see
           listener_stop. */
        listen(fd, SOMAXCONN);
        return fd;
    }
    const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    const struct sockaddr_in6 *v6 = &socket_address->address.v6;
    fd = socket(socket_address->address.any.sa_family, type, 0);
    if (fd < 0 && errno == EAFNOSUPPORT && IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr)) {
        /* On a system without IPv6, all addresses are those of IPv4. */
        struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = v6->sin6_port};
        memcpy(&socket_address->address, &any, sizeof any);
        socket_address->size = sizeof any;
        return listener_open_socket(socket_address, inherited, shared);
    }
    if (fd < 0)
        return -1;
    int on = 1;
    int off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (shared)
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    if (socket_address->address.any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, &socket_address->address.any, socket_address->size) == 0 &&
        listen(fd, SOMAXCONN) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

struct listener *listener_create(const char *text, const struct listener_config *config)
{
    struct socket_address socket_address;
    const char *error;
    if (!socket_address_resolve(text, &socket_address, &error)) {
        log_error("cannot listen on %s: %s", text, error);
        return NULL;
    }
    struct listener *listener = calloc(1, sizeof *listener);
    int fd = listener ? listener_open_socket(&socket_address, config->inherited, false) : -1;
    if (fd < 0) {
        log_error("cannot listen on %s: %s", text, strerror(errno));
        free(listener);
        return NULL;
    }
    listener->config = *config;
    listener->watch = (struct loop_watch){.fd = fd, .ready = accept_ready, .context = listener};
    listener->pause.expired = resume;
    listener->pause.context = listener;
    if (!loop_add(config->loop, &listener->watch, LOOP_READABLE)) {
        log_error("cannot listen on %s: %s", text, strerror(errno));
        close(fd);
        free(listener);
        return NULL;
    }
    listener->local.size = sizeof listener->local.address;
    getsockname(fd, &listener->local.address.any, &listener->local.size);
    return listener;
}

void listener_announce(const struct listener *listener, const char *what)
{
    char name[SOCKET_ADDRESS_TEXT];
    socket_address_format(&listener->local, name);
    log_info("%s %s", what, name);
}

unsigned listener_port(const struct listener *listener)
{
    return socket_address_port(&listener->local);
}

int listener_socket(const struct listener *listener)
{
    return listener->watch.fd;
}

void listener_stop(struct listener *listener)
{
    if (listener)
        shutdown(listener->watch.fd, SHUT_RDWR);
}

void listener_destroy(struct listener *listener)
{
    if (!listener)
        return;
    loop_timer_stop(&listener->pause);
    loop_remove(listener->config.loop, &listener->watch);
    close(listener->watch.fd);
    free(listener);
}
