#include "os/log.h"
#include "os/tls.h"
#include "process/notify.h"
#include "process/watchdog.h"
#include "relay_internal.h"
#include "stats/counters.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void log_stats(struct relay *relay)
{
    relay_count(relay);
    stats_log(&relay->counters->stats, relay->counters->sessions_open);
}

/* Logs where the relay listens. It comes last, so that a program which waits for these lines finds
   everything open. */
static void announce(const struct relay *relay)
{
    if (relay->number > 0)
        return; /* the supervisor does it for all workers */
    admin_announce(relay->admin);
    listeners_announce(&relay->listeners);
}

/* Returns the share of this process in a number that all workers may have together. */
static unsigned share(const struct relay *relay, unsigned whole)
{
    return (whole + relay->workers - 1) / relay->workers;
}

/* Takes the share in another --max-sessions, as far as there is room. */
static void take_max_sessions(struct relay *relay, unsigned whole)
{
    const unsigned capacity = relay->descriptors.capacity;
    relay->descriptors.sessions = share(relay, whole);
    if (relay->descriptors.sessions <= capacity)
        return;
    relay->descriptors.sessions = capacity;
    log_warn("max-sessions is %u for now: restart the relay for more", capacity * relay->workers);
}

static void apply(struct relay *relay, const struct options *options)
{
    take_max_sessions(relay, options->max_sessions);
    const struct sessions_config sessions = relay_sessions_config(relay, options);
    const struct webrtc_limits webrtc = relay_webrtc_limits(relay, options);
    log_set_level(options->log_level);
    log_set_format(options->log_format);
    loop_gather(relay->loop, options->coalesce_us * 1e-6);
    relay->pages = options->pages;
    upstreams_set(relay->upstreams, &options->upstreams);
    pre_session_limit_set(relay->pre_session_limit, options->max_per_address);
    webrtc_set_limits(relay->webrtc, &webrtc);
    webtransport_set_limits(relay->webtransport, &webrtc);
    sessions_set_limits(relay->sessions, &sessions);
}

static void reload(struct relay *relay)
{
    struct options old = relay->reloaded;
    struct options options;
    struct options_error error;
    const int copy = worker_take_options(&relay->worker);
    const bool loaded =
        options_load(relay->options->argc, relay->options->argv, copy, &options, &error);
    if (copy >= 0)
        close(copy);
    if (!loaded) {
        log_error("not reloaded: %s", error.text);
        return;
    }
    /* A worker gets those of TLS from its supervisor. */
    if (!webtransport_reload(relay->webtransport, options.webtransport_certificate,
                             options.webtransport_key) ||
        (relay->number == 0 && !tls_reload(relay->tls, &options.tls))) {
        log_error("not reloaded");
        options_free(&options);
        return;
    }
    relay->reloaded = options;
    apply(relay, &relay->reloaded);
    options_free(&old);
    log_info("reloaded the options");
    const char *name = NULL;
    while ((name = options_next_fixed(relay->options, &relay->reloaded, name)))
        log_warn("%s has changed: restart the relay to apply it", name);
}

static void begin_upgrade(struct relay *relay)
{
    if (relay->number > 0)
        log_warn("no upgrade: this is a worker; tell its supervisor");
    else if (relay->shutdown.state == SHUTDOWN_SERVING)
        upgrade_begin(&relay->upgrade);
    else
        log_warn("no upgrade: this process is stopping");
}

static void take_signal(void *context, int signal_number)
{
    struct relay *relay = context;
    if (signal_number == SIGUSR1) {
        log_stats(relay);
    } else if (signal_number == SIGUSR2) {
        begin_upgrade(relay);
    } else if (signal_number == SIGHUP) {
        notify_reloading();
        reload(relay);
        notify_send("READY=1");
    } else {
        shutdown_signal(&relay->shutdown, signal_number);
    }
}

/* Makes the sockets refuse connections. The supervisor has them too: if they were only closed here,
   they would go on to collect connections. */
static void stop_listening(void *context)
{
    struct relay *relay = context;
    listeners_stop(&relay->listeners);
    listeners_close(&relay->listeners);
}

struct relay *relay_create(const struct options *options, struct startup *startup)
{
    struct relay *relay = calloc(1, sizeof *relay);
    if (!relay)
        return NULL;
    relay->options = options;
    relay->pages = options->pages;
    relay->number = startup->worker;
    relay->workers = startup->worker > 0 ? startup->workers : 1;
    worker_init(&relay->worker);
    relay->counters = &relay->own_counters;
    if (relay->number > 0 && !(relay->counters = counters_open(startup->counters))) {
        log_error("no memory for counters: %s", strerror(errno));
        free(relay);
        return NULL;
    }
    log_count_dropped(&relay->counters->stats.log_lines_dropped);
    relay->signals = (struct signals){.watch.fd = -1, .take = take_signal, .context = relay};
    const bool opened =
        descriptors_divide(share(relay, options->max_sessions), &relay->descriptors) &&
        relay_open(relay, startup) && relay_take_over(relay, startup);
    startup_close(startup);
    if (opened) {
        relay->shutdown = (struct shutdown){
            .loop = relay->loop,
            .sessions = relay->sessions,
            .pre_sessions = relay->pre_session_limit,
            .upgrade = &relay->upgrade,
            .drain_seconds = options->drain_timeout_seconds,
            .stop_listening = stop_listening,
            .context = relay,
        };
        announce(relay);
        return relay;
    }
    relay_destroy(relay);
    return NULL;
}

static void on_turn(void *context)
{
    struct relay *relay = context;
    webtransport_turn(relay->webtransport);
    webrtc_turn(relay->webrtc);
    relay->counters->sessions_open = sessions_count(relay->sessions);
    watchdog_turn();
    liveness_turn(&relay->liveness);
}

void relay_run(struct relay *relay)
{
    loop_gather(relay->loop, relay->options->coalesce_us * 1e-6);
    if (relay->options->watchdog_seconds > 0 && !watchdog_start(relay->options->watchdog_seconds))
        log_warn("no watchdog: %s", strerror(errno));
    relay->liveness = (struct liveness){.loop = relay->loop, .counters = relay->counters};
    if (relay->number == 0) /* a worker is told by its supervisor */
        notify_open(relay->loop);
    notify_send("READY=1");
    loop_run(relay->loop, on_turn, relay);
    notify_close();
    liveness_stop(&relay->liveness);
    watchdog_stop();
    if (relay->number > 0)
        relay_count(relay);
    else
        log_stats(relay);
}

void relay_destroy(struct relay *relay)
{
    if (!relay)
        return;
    upgrade_cancel(&relay->upgrade);
    listeners_close(&relay->listeners);
    admin_close(relay->admin);
    block_list_destroy(relay->block_list);
    shutdown_cancel(&relay->shutdown);
    loop_timer_stop(&relay->worker.timer);
    proxy_connections_destroy(relay->proxy_connections);
    webtransport_destroy(relay->webtransport);
    webrtc_destroy(relay->webrtc);
    lingers_close(relay->lingers);
    upstreams_destroy(relay->upstreams);
    /* Connections that are still open close their sessions, which need the rest. */
    loop_destroy(relay->loop);
    tls_turns_destroy(relay->tls_turns);
    tls_destroy(relay->tls);
    websockets_destroy(relay->websockets);
    sessions_destroy(relay->sessions);
    pre_session_limit_destroy(relay->pre_session_limit);
    admin_destroy(relay->admin);
    listeners_free(&relay->listeners);
    http_destroy(relay->http);
    lingers_destroy(relay->lingers);
    signals_close(&relay->signals);
    options_free(&relay->reloaded);
    log_count_dropped(NULL);
    /* This comes after the sessions: the worker withdraws those that end here. */
    worker_close(&relay->worker);
    if (relay->number > 0)
        counters_destroy(relay->counters);
    free(relay);
}
