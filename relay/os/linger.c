#include "os/linger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* The seconds for which a client's bytes may still be on their way, and how many bytes they may be.
 */
#define LINGER_SECONDS 2.0
#define LINGER_BYTES   ((size_t)1 << 20)

struct one {
    struct lingers *all;
    struct loop_watch watch;
    double until;
    size_t left; /* the bytes that may still come */
    struct one *older;
    struct one *newer;
};

struct lingers {
    struct loop *loop;
    struct loop_timer timer; /* armed for the oldest connection, or for one that was the oldest */
    struct one *oldest;
    struct one *newest;
    unsigned count;
    bool closed;
};

static void end(struct one *one)
{
    struct lingers *all = one->all;
    *(one->older ? &one->older->newer : &all->oldest) = one->newer;
    *(one->newer ? &one->newer->older : &all->newest) = one->older;
    all->count--;
    loop_remove(all->loop, &one->watch);
    close(one->watch.fd);
    free(one);
}

static void on_time(void *context)
{
    struct lingers *all = context;
    double now = loop_now();
    while (all->oldest && all->oldest->until <= now)
        end(all->oldest);
    if (all->oldest)
        loop_timer_start(all->loop, &all->timer, all->oldest->until - now);
}

static void on_ready(void *context, unsigned events)
{
    (void)events;
    struct one *one = context;
    uint8_t bytes[16384];
    ssize_t size = recv(one->watch.fd, bytes, sizeof bytes, 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size <= 0 || (size_t)size >= one->left)
        end(one);
    else
        one->left -= (size_t)size;
}

struct lingers *lingers_create(struct loop *loop)
{
    struct lingers *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->loop = loop;
    all->timer.expired = on_time;
    all->timer.context = all;
    return all;
}

void lingers_close(struct lingers *all)
{
    if (!all)
        return;
    all->closed = true;
    loop_timer_stop(&all->timer);
    while (all->oldest)
        end(all->oldest);
}

void lingers_destroy(struct lingers *all)
{
    free(all);
}

void linger(struct lingers *all, int fd)
{
    if (all->closed)
        return;
    while (all->count >= LINGERS_MAX)
        end(all->oldest);
    struct one *one = calloc(1, sizeof *one);
    int own = one ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (own < 0) {
        free(one);
        return;
    }
    one->all = all;
    one->until = loop_now() + LINGER_SECONDS;
    one->left = LINGER_BYTES;
    one->watch = (struct loop_watch){.fd = own, .ready = on_ready, .context = one};
    if (!loop_add(all->loop, &one->watch, LOOP_READABLE)) {
        close(own);
        free(one);
        return;
    }
    shutdown(own, SHUT_WR);
    one->older = all->newest;
    *(all->newest ? &all->newest->newer : &all->oldest) = one;
    all->newest = one;
    all->count++;
    if (!all->timer.loop)
        loop_timer_start(all->loop, &all->timer, LINGER_SECONDS);
}
