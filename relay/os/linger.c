#include "os/linger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* A client's bytes may arrive for this many seconds after the relay's last ones, and may be this
   many. */
#define LINGER_SECONDS 2.0
#define LINGER_BYTES   ((size_t)1 << 20)

struct one {
    struct lingers *lingers;
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
    struct lingers *lingers = one->lingers;
    *(one->older ? &one->older->newer : &lingers->oldest) = one->newer;
    *(one->newer ? &one->newer->older : &lingers->newest) = one->older;
    lingers->count--;
    loop_remove(lingers->loop, &one->watch);
    close(one->watch.fd);
    free(one);
}

static void on_time(void *context)
{
    struct lingers *lingers = context;
    double now = loop_now();
    while (lingers->oldest && lingers->oldest->until <= now)
        end(lingers->oldest);
    if (lingers->oldest)
        loop_timer_start(lingers->loop, &lingers->timer, lingers->oldest->until - now);
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
    struct lingers *lingers = calloc(1, sizeof *lingers);
    if (!lingers)
        return NULL;
    lingers->loop = loop;
    lingers->timer.expired = on_time;
    lingers->timer.context = lingers;
    return lingers;
}

void lingers_close(struct lingers *lingers)
{
    if (!lingers)
        return;
    lingers->closed = true;
    loop_timer_stop(&lingers->timer);
    while (lingers->oldest)
        end(lingers->oldest);
}

void lingers_destroy(struct lingers *lingers)
{
    free(lingers);
}

void linger(struct lingers *lingers, int fd)
{
    if (lingers->closed)
        return;
    while (lingers->count >= LINGERS_MAX)
        end(lingers->oldest);
    struct one *one = calloc(1, sizeof *one);
    int own = one ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (own < 0) {
        free(one);
        return;
    }
    one->lingers = lingers;
    one->until = loop_now() + LINGER_SECONDS;
    one->left = LINGER_BYTES;
    one->watch = (struct loop_watch){.fd = own, .ready = on_ready, .context = one};
    if (!loop_add(lingers->loop, &one->watch, LOOP_READABLE)) {
        close(own);
        free(one);
        return;
    }
    shutdown(own, SHUT_WR);
    one->older = lingers->newest;
    *(lingers->newest ? &lingers->newest->newer : &lingers->oldest) = one;
    lingers->newest = one;
    lingers->count++;
    if (!lingers->timer.loop)
        loop_timer_start(lingers->loop, &lingers->timer, LINGER_SECONDS);
}
