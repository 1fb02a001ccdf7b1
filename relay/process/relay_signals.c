#include "os/log.h"
#include "process/notify.h"
#include "relay_internal.h"

#include <signal.h>

/* Seconds that the browsers have to answer the close of a stopping relay. */
#define CLOSE_SECONDS 5.0

static void on_drained(void *context)
{
    struct relay *relay = context;
    loop_stop(relay->loop);
}

static void on_close_over(void *context)
{
    struct relay *relay = context;
    log_warn("%s did not close in time",
             log_count(sessions_count(relay->sessions), "session").text);
    loop_stop(relay->loop);
}

/* The supervisor has the sockets too. */
static void stop_listening(struct relay *relay)
{
    for (unsigned i = 0; i < OPTIONS_LISTEN_MAX; i++) {
        listener_stop(relay->listeners[i]);
        listener_stop(relay->redirects[i]);
    }
}

static void stop(struct relay *relay, const char *why)
{
    const bool drains = relay->state == RELAY_DRAINING;
    relay->state = RELAY_STOPPING;
    upgrade_cancel(&relay->upgrade);
    /* Before the log says so: whoever waits for the line is refused. */
    stop_listening(relay);
    relay_close_listeners(relay);
    log_info("stopping %s: closing %s", why,
             log_count(sessions_count(relay->sessions), "session").text);
    relay->stop.expired = on_close_over;
    loop_timer_start(relay->loop, &relay->stop, CLOSE_SECONDS);
    if (!drains) {
        notify_send("STOPPING=1");
        sessions_drain(relay->sessions, SESSION_END_DRAIN, on_drained, relay);
    }
    sessions_end_all(relay->sessions);
}

static void on_drain_over(void *context)
{
    stop(context, "after --drain-timeout");
}

static void drain(struct relay *relay)
{
    const double seconds = relay->options->drain_timeout_seconds;
    relay->state = RELAY_DRAINING;
    notify_send("STOPPING=1");
    upgrade_cancel(&relay->upgrade);
    log_info("draining on SIGTERM: %s may go on for %g seconds",
             log_count(sessions_count(relay->sessions), "session").text, seconds);
    relay->stop.expired = on_drain_over;
    loop_timer_start(relay->loop, &relay->stop, seconds);
    sessions_drain(relay->sessions, SESSION_END_DRAIN, on_drained, relay);
}

/* Who asks for a second time will not wait. */
static void on_stop_signal(struct relay *relay, int signal_number)
{
    if (relay->state == RELAY_STOPPING) {
        log_info("stopping at once");
        loop_stop(relay->loop);
    } else if (signal_number == SIGTERM && relay->state == RELAY_SERVING &&
               relay->options->drain_timeout_seconds > 0.0) {
        drain(relay);
    } else {
        stop(relay, signal_number == SIGTERM ? "on SIGTERM" : "on SIGINT");
    }
}

void relay_count(struct relay *relay)
{
    sessions_count_overflow(relay->sessions);
    webrtc_count_overflow(relay->webrtc);
    relay->counters->sessions_open = sessions_count(relay->sessions);
    sessions_gauges(relay->sessions, &relay->counters->gauges);
}

void relay_log_stats(struct relay *relay)
{
    relay_count(relay);
    stats_log(&relay->counters->stats, relay->counters->sessions_open);
}

void relay_take_signal(void *context, int signal_number)
{
    struct relay *relay = context;
    if (signal_number == SIGUSR1)
        relay_log_stats(relay);
    else if (signal_number == SIGUSR2)
        relay_begin_upgrade(relay);
    else if (signal_number == SIGHUP)
        relay_reload(relay);
    else
        on_stop_signal(relay, signal_number);
}
