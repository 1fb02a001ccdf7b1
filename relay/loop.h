/* The event loop: libwebsockets' own, with everything that is not a web connection behind it. */
#ifndef CAUSEWAY_RELAY_LOOP_H
#define CAUSEWAY_RELAY_LOOP_H

#include <libwebsockets.h>
#include <stdbool.h>

enum loop_event {
    LOOP_READABLE = 1,
    LOOP_WRITABLE = 2,
    LOOP_ERROR = 4, /* the socket has an error to fetch; always reported */
};

/* A file descriptor that the loop watches. Embed it in its owner and set all members. */
struct loop_watch {
    int fd;
    void (*ready)(void *context, unsigned events); /* a set of enum loop_event */
    void *context;
};

/* A call at a later time. Embed it in its owner, zeroed but for the last two members. */
struct loop_timer {
    lws_sorted_usec_list_t entry;
    void (*expired)(void *context);
    void *context;
};

struct loop;

/* The protocol that libwebsockets needs in the list of every vhost that carries a loop. */
extern const struct lws_protocols loop_protocol;

/* Makes the loop of a libwebsockets context; NULL when the system refuses (errno tells). */
struct loop *loop_create(struct lws_context *context, struct lws_vhost *vhost);

/* Frees it, before the context is destroyed. All watches and timers are gone. NULL is allowed. */
void loop_destroy(struct loop *loop);

/* Serves events until loop_stop. After each round of them, `turn` is called (NULL for none). */
void loop_run(struct loop *loop, void (*turn)(void *context), void *context);
void loop_stop(struct loop *loop);

/* Watches for `events`, a set of LOOP_READABLE and LOOP_WRITABLE, level-triggered. False when the
   system refuses. The watch must stay where it is until it is removed. */
bool loop_add(struct loop *loop, struct loop_watch *watch, unsigned events);

/* Changes what an added watch waits for. */
bool loop_change(struct loop *loop, struct loop_watch *watch, unsigned events);

/* Stops watching; safe in any callback, also for a watch that is due in the same round. Call it
   before closing the file descriptor. */
void loop_remove(struct loop *loop, struct loop_watch *watch);

/* Calls timer->expired once in `seconds`; arming again moves it. Steps of a millisecond. */
void loop_timer_start(struct loop *loop, struct loop_timer *timer, double seconds);
void loop_timer_stop(struct loop_timer *timer);

/* Monotonic time in seconds. */
double loop_now(void);

#endif
