#include "loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define LOOP_EVENTS 256

/* All descriptors that are not web connections sit in one epoll set, and libwebsockets watches only
   that set's descriptor. Its own list is scanned once per wake-up, so leaving out one UDP socket
   per session halves that cost; and it would close a UDP socket on the POLLERR of a refused
   datagram, which here is an ordinary event. */
struct loop {
    struct lws_context *context;
    struct lws *wsi;
    int epoll;
    bool stopping;
    int due; /* events of the current round not served yet: events[0 .. due) */
    struct epoll_event events[LOOP_EVENTS];
};

static unsigned from_epoll(uint32_t events)
{
    return ((events & (EPOLLIN | EPOLLHUP)) ? (unsigned)LOOP_READABLE : 0u) |
           ((events & EPOLLOUT) ? (unsigned)LOOP_WRITABLE : 0u) |
           ((events & EPOLLERR) ? (unsigned)LOOP_ERROR : 0u);
}

static void dispatch(struct loop *loop)
{
    int count = epoll_wait(loop->epoll, loop->events, LOOP_EVENTS, 0);
    loop->due = count > 0 ? count : 0;
    while (loop->due > 0) {
        const struct epoll_event *event = &loop->events[--loop->due];
        const struct loop_watch *watch = event->data.ptr;
        if (watch)
            watch->ready(watch->context, from_epoll(event->events));
    }
}

static int on_epoll(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t size)
{
    (void)user, (void)in, (void)size;
    if (reason == LWS_CALLBACK_RAW_RX_FILE)
        dispatch(lws_get_opaque_user_data(wsi));
    return 0;
}

const struct lws_protocols loop_protocol = {.name = "(loop)", .callback = on_epoll};

struct loop *loop_create(struct lws_context *context, struct lws_vhost *vhost)
{
    struct loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return NULL;
    loop->context = context;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll < 0) {
        free(loop);
        return NULL;
    }
    lws_sock_file_fd_type file = {.filefd = loop->epoll};
    loop->wsi =
        lws_adopt_descriptor_vhost(vhost, LWS_ADOPT_RAW_FILE_DESC, file, loop_protocol.name, NULL);
    if (!loop->wsi) {
        close(loop->epoll);
        free(loop);
        errno = ENOMEM;
        return NULL;
    }
    lws_set_opaque_user_data(loop->wsi, loop);
    return loop;
}

void loop_destroy(struct loop *loop)
{
    free(loop);
}

void loop_run(struct loop *loop, void (*turn)(void *context), void *context)
{
    while (!loop->stopping && lws_service(loop->context, 0) >= 0) {
        if (turn)
            turn(context);
    }
}

void loop_stop(struct loop *loop)
{
    loop->stopping = true;
}

static bool control(struct loop *loop, int operation, struct loop_watch *watch, unsigned events)
{
    struct epoll_event event = {.data.ptr = watch};
    event.events = ((events & LOOP_READABLE) ? (uint32_t)EPOLLIN : 0u) |
                   ((events & LOOP_WRITABLE) ? (uint32_t)EPOLLOUT : 0u);
    return epoll_ctl(loop->epoll, operation, watch->fd, &event) == 0;
}

bool loop_add(struct loop *loop, struct loop_watch *watch, unsigned events)
{
    return control(loop, EPOLL_CTL_ADD, watch, events);
}

bool loop_change(struct loop *loop, struct loop_watch *watch, unsigned events)
{
    return control(loop, EPOLL_CTL_MOD, watch, events);
}

void loop_remove(struct loop *loop, struct loop_watch *watch)
{
    control(loop, EPOLL_CTL_DEL, watch, 0);
    for (int i = 0; i < loop->due; i++) {
        if (loop->events[i].data.ptr == watch)
            loop->events[i].data.ptr = NULL;
    }
}

static void on_timer(lws_sorted_usec_list_t *entry)
{
    struct loop_timer *timer = lws_container_of(entry, struct loop_timer, entry);
    timer->expired(timer->context);
}

void loop_timer_start(struct loop *loop, struct loop_timer *timer, double seconds)
{
    lws_usec_t delay = seconds > 0.0 ? (lws_usec_t)(seconds * 1e6) : 1;
    lws_sul_schedule(loop->context, 0, &timer->entry, on_timer, delay > 0 ? delay : 1);
}

void loop_timer_stop(struct loop_timer *timer)
{
    lws_sul_cancel(&timer->entry);
}

double loop_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
