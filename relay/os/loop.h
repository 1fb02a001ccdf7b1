/* The event loop: libwebsockets on libuv. It also serves everything that is not a web connection.
 */
#ifndef CAUSEWAY_RELAY_LOOP_H
#define CAUSEWAY_RELAY_LOOP_H

#include <libwebsockets.h>
#include <stdbool.h>

enum loop_event {
    LOOP_READABLE = 1,
    LOOP_WRITABLE = 2,
    LOOP_ERROR = 4, /* the socket has an error to fetch; an error is always reported */
};

/* A file descriptor that the loop watches. Embed it in its owner and set all members. */
struct loop_watch {
    int fd;
    void (*ready)(void *context, unsigned events); /* a set of enum loop_event is given to it */
    void *context;
};

/* A call at a later time. Embed it in its owner, all zero but for the last two members. A program
   has a handful of timers; an owner of many deadlines keeps those itself, behind one timer. */
struct loop_timer {
    struct loop *loop; /* NULL when it is not armed */
    struct loop_timer *previous;
    struct loop_timer *next;
    double due;
    void (*expired)(void *context);
    void *context;
};

struct loop;

/* A protocol that the vhost needs in its list of protocols. */
extern const struct lws_protocols loop_protocol;

/* Creates the loop, with a libwebsockets context and one vhost as `info` describes them. The
   members of `info` for the event loop are set here. Returns NULL when the system refuses. */
struct loop *loop_create(struct lws_context_creation_info *info);

/* Returns the vhost, for lws_adopt_socket_vhost. */
struct lws_vhost *loop_vhost(struct loop *loop);

/* Returns the context, for lws_client_connect_via_info. */
struct lws_context *loop_context(struct loop *loop);

/* Adds another vhost. Returns NULL when the system refuses. */
struct lws_vhost *loop_add_vhost(struct loop *loop, struct lws_context_creation_info *info);

/* Closes all connections, with the callbacks of their protocols, then frees everything. In these
   callbacks watches and timers may be removed but not started. NULL is allowed. */
void loop_destroy(struct loop *loop);

/* Serves events until loop_stop, and again when called again. Calls `turn` after each round of
   events (NULL for none). */
void loop_run(struct loop *loop, void (*turn)(void *context), void *context);
void loop_stop(struct loop *loop);

/* Lets this many seconds pass (less than one) between two rounds of events, so that the next round
   has more events to serve: waking up costs more than serving one event. With 0, as at first, there
   is no pause. */
void loop_gather(struct loop *loop, double seconds);

/* Watches for `events`, a set of LOOP_READABLE and LOOP_WRITABLE, level-triggered. Returns false
   when the system refuses. The watch must stay where it is until it is removed. */
bool loop_add(struct loop *loop, struct loop_watch *watch, unsigned events);

/* Changes the events for which an added watch waits. */
bool loop_change(struct loop *loop, struct loop_watch *watch, unsigned events);

/* Stops watching. This is safe in any callback, also for a watch that is due in the same round.
   Call it before you close the file descriptor. */
void loop_remove(struct loop *loop, struct loop_watch *watch);

/* Calls timer->expired once in `seconds`, or in the next turn of the loop when that is not above 0.
   A timer that is already armed moves. */
void loop_timer_start(struct loop *loop, struct loop_timer *timer, double seconds);
void loop_timer_stop(struct loop_timer *timer);

/* Returns the monotonic time in seconds. */
double loop_now(void);

#endif
