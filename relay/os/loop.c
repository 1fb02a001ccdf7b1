#include "os/loop.h"

#include "os/log.h"

#include <math.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

/* The most events of the epoll set that are served in one round. */
#define LOOP_EVENTS 256

/* libwebsockets 4.1 can wait with poll, libuv, libev or glib; Debian's has no external poll. Up to
   some hundred connections these cost the same here; with 4,000 silent connections beside 100 busy
   ones poll takes three times the CPU time of libuv, and six times to accept a connection. The
   timers that it makes for libev are unsound.

   All descriptors that are not web connections sit in one epoll set, and libwebsockets watches only
   that set's descriptor, for three reasons:
   - Whatever sets a timeout of libwebsockets, for example to cut the connection of a session that
     ends, must run inside one of its events, because it looks at its timers only after these. So
     our timers are a descriptor in the set too.
   - With a libuv handle for each UDP socket a session takes 3.0 KB instead of 2.6 KB
     (bench_relay_sessions), since the handle has to live until libuv has closed it.
   - libuv stops watching a socket at the POLLERR of a refused datagram, which here is an ordinary
     event, and libwebsockets would even close it.
   The second epoll_wait in a turn costs no more than runs differ: with libuv handles instead,
   ws_1, ws_100 and ws_1000_udp_ratio were 0.41, 0.31 and 0.27 against 0.44, 0.31 and 0.26. */
struct loop {
    uv_loop_t uv;
    struct lws_context *context;
    struct lws_vhost *vhost;
    int epoll;
    struct loop_watch clock;
    double gather;
    double clock_due; /* the time that the clock is set to; INFINITY = none */
    struct loop_timer *timers;
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
    else if (reason == LWS_CALLBACK_RAW_CLOSE_FILE)
        lws_set_opaque_user_data(wsi, NULL);
    return 0;
}

const struct lws_protocols loop_protocol = {.name = "(loop)", .callback = on_epoll};

static void set_clock(struct loop *loop, double due)
{
    struct itimerspec time = {0};
    loop->clock_due = due;
    if (due < INFINITY) {
        double whole = floor(due);
        time.it_value.tv_sec = (time_t)whole;
        time.it_value.tv_nsec = (long)((due - whole) * 1e9);
        /* A time of all zero would stop the clock. */
        if (time.it_value.tv_sec == 0 && time.it_value.tv_nsec == 0)
            time.it_value.tv_nsec = 1;
    }
    timerfd_settime(loop->clock.fd, TFD_TIMER_ABSTIME, &time, NULL);
}

static struct loop_timer *first_timer(struct loop *loop)
{
    struct loop_timer *first = loop->timers;
    for (struct loop_timer *timer = first; timer; timer = timer->next) {
        if (timer->due < first->due)
            first = timer;
    }
    return first;
}

static void on_clock(void *context, unsigned events)
{
    (void)events;
    struct loop *loop = context;
    double now = loop_now();
    struct loop_timer *timer;
    while ((timer = first_timer(loop)) && timer->due <= now) {
        loop_timer_stop(timer);
        timer->expired(timer->context);
    }
    /* Setting the clock also takes back that it is due. A timer that was stopped leaves the clock
       as it was, so the clock may fire for nothing, once. */
    set_clock(loop, timer ? timer->due : INFINITY);
}

void loop_timer_start(struct loop *loop, struct loop_timer *timer, double seconds)
{
    loop_timer_stop(timer);
    timer->loop = loop;
    timer->due = loop_now() + fmax(seconds, 0.0);
    timer->previous = NULL;
    timer->next = loop->timers;
    if (loop->timers)
        loop->timers->previous = timer;
    loop->timers = timer;
    if (timer->due < loop->clock_due)
        set_clock(loop, timer->due);
}

void loop_timer_stop(struct loop_timer *timer)
{
    if (!timer->loop)
        return;
    *(timer->previous ? &timer->previous->next : &timer->loop->timers) = timer->next;
    if (timer->next)
        timer->next->previous = timer->previous;
    timer->loop = NULL;
}

static bool open_epoll(struct loop *loop)
{
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll < 0)
        return false;
    /* From here on, the descriptor is closed with the context. */
    lws_sock_file_fd_type file = {.filefd = loop->epoll};
    struct lws *wsi = lws_adopt_descriptor_vhost(loop->vhost, LWS_ADOPT_RAW_FILE_DESC, file,
                                                 loop_protocol.name, NULL);
    if (!wsi)
        return false;
    lws_set_opaque_user_data(wsi, loop);
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    loop->clock = (struct loop_watch){.fd = fd, .ready = on_clock, .context = loop};
    return fd >= 0 && loop_add(loop, &loop->clock, LOOP_READABLE);
}

struct loop *loop_create(struct lws_context_creation_info *info)
{
    struct loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return NULL;
    if (uv_loop_init(&loop->uv) != 0) {
        free(loop);
        return NULL;
    }
    void *loops[] = {&loop->uv};
    loop->clock.fd = -1;
    loop->clock_due = INFINITY;
    info->foreign_loops = loops;
    info->pcontext = &loop->context;
    info->options |= LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS;
    loop->context = lws_create_context(info);
    loop->vhost = loop->context ? lws_create_vhost(loop->context, info) : NULL;
    info->foreign_loops = NULL;
    if (!loop->vhost || !open_epoll(loop)) {
        loop_destroy(loop);
        return NULL;
    }
    return loop;
}

struct lws_vhost *loop_vhost(struct loop *loop)
{
    return loop->vhost;
}

struct lws_context *loop_context(struct loop *loop)
{
    return loop->context;
}

struct lws_vhost *loop_add_vhost(struct loop *loop, struct lws_context_creation_info *info)
{
    return lws_create_vhost(loop->context, info);
}

void loop_destroy(struct loop *loop)
{
    if (!loop)
        return;
    /* The first call closes all connections, libuv closes their handles in its loop, and the second
       frees the context, which then sets our pointer to NULL. */
    for (int i = 0; i < 2; i++) {
        if (loop->context)
            lws_context_destroy(loop->context);
        uv_run(&loop->uv, UV_RUN_DEFAULT);
    }
    while (loop->timers)
        loop_timer_stop(loop->timers);
    if (uv_loop_close(&loop->uv) != 0)
        log_debug("the event loop did not close");
    if (loop->clock.fd >= 0)
        close(loop->clock.fd);
    free(loop);
}

static void pause_for(double seconds)
{
    const struct timespec time = {.tv_nsec = (long)(seconds * 1e9)};
    if (seconds > 0.0)
        nanosleep(&time, NULL);
}

void loop_gather(struct loop *loop, double seconds)
{
    loop->gather = seconds;
}

void loop_run(struct loop *loop, void (*turn)(void *context), void *context)
{
    while (!loop->stopping) {
        uv_run(&loop->uv, UV_RUN_ONCE);
        if (turn)
            turn(context);
        pause_for(loop->gather);
    }
    loop->stopping = false;
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

double loop_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
