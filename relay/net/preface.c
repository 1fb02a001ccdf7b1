#include "net/preface.h"

#include "net/log.h"
#include "net/proxy_protocol.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* For the first bytes to come. */
#define PREFACE_SECONDS 10.0

struct preface {
    struct prefaces *all;
    struct lws_vhost *vhost;
    struct loop_watch watch;
    struct socket_address proxy;
    ssize_t seen; /* bytes of its header */
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
    struct loop_timer timer; /* for the oldest */
    struct log_limit limit;
};

/* Gives the descriptor back. */
static int preface_end(struct preface *preface)
{
    struct prefaces *all = preface->all;
    const int fd = preface->watch.fd;
    loop_remove(all->loop, &preface->watch);
    *(preface->older ? &preface->older->newer : &all->oldest) = preface->newer;
    *(preface->newer ? &preface->newer->older : &all->newest) = preface->older;
    all->count--;
    free(preface);
    return fd;
}

static void refuse(struct preface *preface, const char *why)
{
    struct prefaces *all = preface->all;
    char text[SOCKET_ADDRESS_TEXT];
    unsigned held;
    socket_address_format(&preface->proxy, text);
    all->stats->proxy_headers_refused++;
    if (log_limit_pass(&all->limit, loop_now(), &held))
        log_warn("connection of the proxy %s closed: %s%s", text, why, log_held(held).text);
    close(preface_end(preface));
}

static void arm(struct prefaces *all)
{
    if (all->oldest)
        loop_timer_start(all->loop, &all->timer, all->oldest->due - loop_now());
}

static void on_timer(void *context)
{
    struct prefaces *all = context;
    while (all->oldest && all->oldest->due <= loop_now())
        refuse(all->oldest, "nothing came in time");
    arm(all);
}

/* Takes the header off the connection, so that the request is the first that is read. */
static void hand_on(struct preface *preface, enum proxy_protocol found, size_t header_size,
                    const struct socket_address *client)
{
    struct prefaces *all = preface->all;
    struct lws_vhost *vhost = preface->vhost;
    const struct socket_address proxy = preface->proxy;
    const int lowest = 1;
    uint8_t header[PROXY_PROTOCOL_MAX];
    if (found != PROXY_PROTOCOL_NONE &&
        recv(preface->watch.fd, header, header_size, MSG_DONTWAIT) != (ssize_t)header_size) {
        refuse(preface, "its PROXY header cannot be read");
        return;
    }
    const int fd = preface_end(preface);
    setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &lowest, sizeof lowest);
    if (found == PROXY_PROTOCOL_CLIENT)
        pre_session_limit_enter(all->pre_sessions, vhost, fd, client, PRE_SESSION_COUNTED);
    else
        pre_session_limit_enter(all->pre_sessions, vhost, fd, &proxy, PRE_SESSION_UNCOUNTED);
}

/* The bytes stay in the socket until they are a whole header. */
static void on_ready(void *context, unsigned events)
{
    (void)events;
    struct preface *preface = context;
    uint8_t data[PROXY_PROTOCOL_MAX];
    struct socket_address client;
    size_t header_size = 0;
    const ssize_t size = recv(preface->watch.fd, data, sizeof data, MSG_PEEK | MSG_DONTWAIT);
    /* A health check, say. An end behind a part of a header would wake the loop without end. */
    if (size <= preface->seen) {
        close(preface_end(preface));
        return;
    }
    preface->seen = size;
    const enum proxy_protocol found =
        proxy_protocol_read(data, (size_t)size, &client, &header_size);
    if (found == PROXY_PROTOCOL_BAD) {
        refuse(preface, "its PROXY header is malformed");
    } else if (found == PROXY_PROTOCOL_MORE) {
        const int wanted = (int)size + 1; /* or the same bytes would wake the loop again */
        setsockopt(preface->watch.fd, SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof wanted);
    } else {
        hand_on(preface, found, header_size, &client);
    }
}

struct prefaces *prefaces_create(struct loop *loop, struct pre_session_limit *pre_sessions,
                                 struct stats *stats)
{
    struct prefaces *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->loop = loop;
    all->pre_sessions = pre_sessions;
    all->stats = stats;
    all->timer.expired = on_timer;
    all->timer.context = all;
    return all;
}

void prefaces_destroy(struct prefaces *all)
{
    if (!all)
        return;
    loop_timer_stop(&all->timer);
    while (all->oldest)
        close(preface_end(all->oldest));
    free(all);
}

void preface_begin(struct prefaces *all, struct lws_vhost *vhost, int fd,
                   const struct socket_address *proxy)
{
    struct preface *preface = calloc(1, sizeof *preface);
    if (!preface) {
        close(fd);
        return;
    }
    *preface = (struct preface){
        .all = all,
        .vhost = vhost,
        .watch = {.fd = fd, .ready = on_ready, .context = preface},
        .proxy = *proxy,
        .older = all->newest,
        .due = loop_now() + PREFACE_SECONDS,
    };
    if (!loop_add(all->loop, &preface->watch, LOOP_READABLE)) {
        close(fd);
        free(preface);
        return;
    }
    *(all->newest ? &all->newest->newer : &all->oldest) = preface;
    all->newest = preface;
    if (++all->count > PREFACES_MAX)
        refuse(all->oldest, "others need the room");
    if (!all->timer.loop)
        arm(all);
}
