#include "load/link.h"

#include <stdlib.h>
#include <unistd.h>

struct link {
    struct loop *loop;
    struct loop_watch watch;
    struct loop_timer open;
    struct link_owner owner;
};

static void on_datagrams(void *context, unsigned events)
{
    struct link *link = context;
    uint8_t data[LINK_DATAGRAM_MAX + 1];
    ssize_t size;
    (void)events;
    while ((size = recv(link->watch.fd, data, sizeof data, MSG_DONTWAIT)) > 0)
        link->owner.received(link->owner.context, data, (size_t)size);
}

static void on_open(void *context)
{
    struct link *link = context;
    link->owner.opened(link->owner.context);
}

static void close_link(void *context)
{
    struct link *link = context;
    loop_timer_stop(&link->open);
    loop_remove(link->loop, &link->watch);
    close(link->watch.fd);
    free(link);
}

static void *open_link(const struct link_target *target, const struct link_owner *owner)
{
    struct link *link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->loop = target->loop;
    link->owner = *owner;
    link->open = (struct loop_timer){.expired = on_open, .context = link};
    link->watch = (struct loop_watch){
        .fd = socket(target->server.address.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0),
        .ready = on_datagrams,
        .context = link};
    if (link->watch.fd < 0 ||
        connect(link->watch.fd, &target->server.address.any, target->server.size) != 0 ||
        !loop_add(link->loop, &link->watch, LOOP_READABLE)) {
        if (link->watch.fd >= 0)
            close(link->watch.fd);
        free(link);
        return NULL;
    }
    loop_timer_start(link->loop, &link->open, 0.0);
    return link;
}

static bool send_datagram(void *context, const uint8_t *data, size_t size)
{
    const struct link *link = context;
    return send(link->watch.fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
}

const struct link_kind link_udp = {"udp", open_link, send_datagram, NULL, close_link};
