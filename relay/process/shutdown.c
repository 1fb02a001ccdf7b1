#include "process/shutdown.h"

#include "os/log.h"
#include "process/notify.h"

#include <signal.h>

/* A relay that stops gives its browsers this many seconds to answer its close. */
#define CLOSE_SECONDS 5.0

/* A process that has been replaced gives its browsers this many seconds to answer its close, and
   its HTTP clients to receive what they have asked for. */
#define LEAVE_SECONDS 5.0

/* Seconds between two looks whether connections are left. */
#define POLL_SECONDS 0.05

static void on_drained(void *context)
{
    const struct shutdown *shutdown = context;
    loop_stop(shutdown->loop);
}

static void on_close_over(void *context)
{
    const struct shutdown *shutdown = context;
    log_warn("%s did not close in time",
             log_count(sessions_count(shutdown->sessions), "session").text);
    loop_stop(shutdown->loop);
}

static void start_timer(struct shutdown *shutdown, void (*expired)(void *context), double seconds)
{
    shutdown->timer.expired = expired;
    shutdown->timer.context = shutdown;
    loop_timer_start(shutdown->loop, &shutdown->timer, seconds);
}

static void stop(struct shutdown *shutdown, const char *why)
{
    const bool drains = shutdown->state == SHUTDOWN_DRAINING;
    shutdown->state = SHUTDOWN_CLOSING;
    upgrade_cancel(shutdown->upgrade);
    /* This comes before the log line, so that a client which waits for that line is refused. */
    shutdown->stop_listening(shutdown->context);
    log_info("stopping %s: closing %s", why,
             log_count(sessions_count(shutdown->sessions), "session").text);
    start_timer(shutdown, on_close_over, CLOSE_SECONDS);
    if (!drains) {
        notify_send("STOPPING=1");
        sessions_drain(shutdown->sessions, SESSION_END_DRAIN, on_drained, shutdown);
    }
    sessions_end_all(shutdown->sessions);
}

static void on_drain_over(void *context)
{
    stop(context, "after --drain-timeout");
}

static void drain(struct shutdown *shutdown)
{
    shutdown->state = SHUTDOWN_DRAINING;
    notify_send("STOPPING=1");
    upgrade_cancel(shutdown->upgrade);
    log_info("draining on SIGTERM: %s may go on for %g seconds",
             log_count(sessions_count(shutdown->sessions), "session").text,
             shutdown->drain_seconds);
    start_timer(shutdown, on_drain_over, shutdown->drain_seconds);
    sessions_drain(shutdown->sessions, SESSION_END_DRAIN, on_drained, shutdown);
}

void shutdown_signal(struct shutdown *shutdown, int signal_number)
{
    if (shutdown->state == SHUTDOWN_CLOSING) {
        log_info("stopping at once");
        loop_stop(shutdown->loop);
    } else if (signal_number == SIGTERM && shutdown->state == SHUTDOWN_SERVING &&
               shutdown->drain_seconds > 0.0) {
        drain(shutdown);
    } else {
        stop(shutdown, signal_number == SIGTERM ? "on SIGTERM" : "on SIGINT");
    }
}

/* Stops the loop when no connection is left. A process that has been replaced must still send its
   replies, because clients would not ask again. */
static void on_sessions_gone(void *context)
{
    struct shutdown *shutdown = context;
    if (pre_session_limit_count(shutdown->pre_sessions) == 0) {
        loop_stop(shutdown->loop);
        return;
    }
    shutdown->poll.expired = on_sessions_gone;
    shutdown->poll.context = shutdown;
    loop_timer_start(shutdown->loop, &shutdown->poll, POLL_SECONDS);
}

void shutdown_leave(struct shutdown *shutdown)
{
    shutdown->state = SHUTDOWN_CLOSING;
    start_timer(shutdown, on_drained, LEAVE_SECONDS);
    sessions_drain(shutdown->sessions, SESSION_END_RESTART, on_sessions_gone, shutdown);
    sessions_end_all(shutdown->sessions);
}

void shutdown_cancel(struct shutdown *shutdown)
{
    loop_timer_stop(&shutdown->timer);
    loop_timer_stop(&shutdown->poll);
}
