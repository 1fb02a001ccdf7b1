#include "relay.h"

#include "http/http.h"
#include "http/websocket.h"
#include "net/descriptors.h"
#include "net/listener.h"
#include "net/log.h"
#include "net/loop.h"
#include "net/pre_session_limit.h"
#include "net/socket_address.h"
#include "net/stats.h"
#include "net/watchdog.h"
#include "rtc/webrtc.h"
#include "session/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Seconds that the browsers have to answer the close of a stopping relay. */
#define DRAIN_SECONDS 5.0

/* Seconds for a client to send its request. */
#define HANDSHAKE_SECONDS 10

struct relay {
    const struct options *options;
    struct descriptors descriptors;
    struct stats stats;
    struct lws_protocols protocols[4];
    struct loop *loop;
    struct pre_session_limit *pre_session_limit;
    struct prefaces *prefaces;
    struct sessions *sessions;
    struct websockets *websockets;
    struct webrtc *webrtc; /* NULL without --rtc */
    struct http *http;
    struct listener *listeners[OPTIONS_LISTEN_MAX];
    struct loop_watch signals;
    struct loop_timer drain;
    bool stopping;
};

/* Most lines of libwebsockets are about what a client did wrong, at the client's pace. */
static void on_library_line(int level, const char *line)
{
    (void)level;
    log_debug("libwebsockets: %.*s", (int)strcspn(line, "\n"), line);
}

static void on_drained(void *context)
{
    struct relay *relay = context;
    loop_stop(relay->loop);
}

static void on_drain_over(void *context)
{
    struct relay *relay = context;
    log_warn("%u sessions did not close in time", sessions_count(relay->sessions));
    loop_stop(relay->loop);
}

static void close_listeners(struct relay *relay)
{
    for (unsigned i = 0; i < OPTIONS_LISTEN_MAX; i++) {
        listener_destroy(relay->listeners[i]);
        relay->listeners[i] = NULL;
    }
}

static void stop(struct relay *relay, unsigned signal_number)
{
    if (relay->stopping) {
        log_info("stopping at once");
        loop_stop(relay->loop);
        return;
    }
    relay->stopping = true;
    close_listeners(relay); /* before the log says so: whoever waits for the line is refused */
    log_info("stopping on %s: closing %u sessions", strsignal((int)signal_number),
             sessions_count(relay->sessions));
    loop_timer_start(relay->loop, &relay->drain, DRAIN_SECONDS);
    sessions_drain(relay->sessions, SESSION_END_DRAIN, on_drained, relay);
}

static void log_stats(struct relay *relay)
{
    sessions_flush(relay->sessions); /* or what is gathered would be in no counter */
    sessions_count_overflow(relay->sessions);
    webrtc_count_overflow(relay->webrtc);
    stats_log(&relay->stats, sessions_count(relay->sessions));
}

static void on_signal(void *context, unsigned events)
{
    (void)events;
    struct relay *relay = context;
    struct signalfd_siginfo info;
    while (read(relay->signals.fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGUSR1)
            log_stats(relay);
        else
            stop(relay, info.ssi_signo);
    }
}

static bool open_signals(struct relay *relay)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    /* Started with nohup it is to outlive the terminal. */
    struct sigaction hangup;
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    relay->signals = (struct loop_watch){.fd = fd, .ready = on_signal, .context = relay};
    return fd >= 0 && loop_add(relay->loop, &relay->signals, LOOP_READABLE);
}

static bool open_library(struct relay *relay)
{
    relay->protocols[0] = http_protocol(&relay->http);
    relay->protocols[1] = websocket_protocol(&relay->websockets);
    relay->protocols[2] = loop_protocol;
    lws_set_log_level(log_wants(LOG_DEBUG) ? LLL_ERR | LLL_WARN : 0, on_library_line);
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .protocols = relay->protocols,
        .vhost_name = "relay",
        .timeout_secs = HANDSHAKE_SECONDS,
        .keepalive_timeout = HANDSHAKE_SECONDS,
        .pt_serv_buf_size = 16384,
        /* One for each connection that may come: those that send half a request keep theirs until
           their time is up, and nobody should wait for that. */
        .max_http_header_pool = UINT16_MAX,
    };
    relay->loop = loop_create(&info);
    return relay->loop != NULL;
}

static bool open_webrtc(struct relay *relay)
{
    const struct options *options = relay->options;
    struct webrtc_config config = {
        .local = options->rtc_local,
        .advertised_count = options->rtc_advertised_count,
        .max_sessions = relay->descriptors.sessions,
        .max_per_address = options->max_per_address,
        .bytes_per_second = options->peer_bytes_per_second,
    };
    char error[256] = "OpenSSL made no certificate";
    struct dtls_identity *identity;
    if (!options->rtc)
        return true;
    memcpy(config.advertised, options->rtc_advertised, sizeof options->rtc_advertised);
    if (!options->rtc_own_port)
        socket_address_set_port(&config.local, listener_port(relay->listeners[0]));
    if (options->rtc_certificate)
        identity = dtls_identity_load(options->rtc_certificate, options->rtc_key, error);
    else
        identity = dtls_identity_create();
    if (!identity) {
        log_error("no certificate for WebRTC: %s", error);
        return false;
    }
    relay->webrtc =
        webrtc_create(&config, identity, relay->loop, relay->sessions, relay->http, &relay->stats);
    return relay->webrtc != NULL;
}

static bool open_listeners(struct relay *relay)
{
    const struct options *options = relay->options;
    const struct listener_config config = {
        .loop = relay->loop,
        .pre_sessions = relay->pre_session_limit,
        .prefaces = relay->prefaces,
        .proxies = &options->pages.forwarded.trusted,
    };
    for (unsigned i = 0; i < options->listen_count; i++) {
        relay->listeners[i] = listener_create(options->listen[i], &config);
        if (!relay->listeners[i])
            return false;
    }
    return true;
}

static bool open_parts(struct relay *relay)
{
    const struct options *options = relay->options;
    struct sessions_config sessions = {
        .gate = options->gate,
        .allowance = options->allowance,
        .max_sessions = relay->descriptors.sessions,
        .max_per_address = options->max_per_address,
        .request_timeout_seconds = options->request_timeout_seconds,
        .answer_timeout_seconds = options->answer_timeout_seconds,
        .idle_timeout_seconds = options->idle_timeout_seconds,
        .resume_seconds = options->resume_seconds,
    };
    struct websockets_config websockets = {
        .queue_bytes = options->queue_bytes,
        .queue_age_seconds = options->queue_age_seconds,
        .ping_interval_seconds = options->ping_interval_seconds,
    };
    const char *error;
    if (!socket_address_resolve(options->upstream, &sessions.upstream, &error)) {
        log_error("cannot resolve the upstream %s: %s", options->upstream, error);
        return false;
    }
    if (!open_library(relay) || !open_signals(relay)) {
        log_error("cannot set up the event loop: %s", strerror(errno));
        return false;
    }
    relay->http = http_create(options->root, &options->pages, relay->loop, &relay->stats);
    if (!relay->http) {
        log_error("cannot serve files from %s: %s", options->root, strerror(errno));
        return false;
    }
    websockets.http = relay->http;
    relay->pre_session_limit = pre_session_limit_create(relay->descriptors.pre_session,
                                                        options->max_per_address, &relay->stats);
    relay->sessions = sessions_create(&sessions, relay->loop, &relay->stats);
    if (relay->pre_session_limit)
        relay->prefaces = prefaces_create(relay->loop, relay->pre_session_limit, &relay->stats);
    if (relay->prefaces && relay->sessions)
        relay->websockets =
            websockets_create(&websockets, relay->loop, relay->sessions, &relay->stats);
    if (!relay->websockets) {
        log_error("no memory");
        return false;
    }
    char text[SOCKET_ADDRESS_TEXT];
    socket_address_format(&sessions.upstream, text);
    log_info("forwarding to game server %s", text);
    return open_listeners(relay) && open_webrtc(relay);
}

/* Whoever waits for these lines finds all that was asked for. */
static void announce(const struct relay *relay)
{
    for (unsigned i = 0; i < relay->options->listen_count; i++)
        listener_announce(relay->listeners[i]);
}

struct relay *relay_create(const struct options *options)
{
    struct relay *relay = calloc(1, sizeof *relay);
    if (!relay)
        return NULL;
    relay->options = options;
    log_count_dropped(&relay->stats.log_lines_dropped);
    relay->drain.expired = on_drain_over;
    relay->drain.context = relay;
    relay->signals.fd = -1;
    if (descriptors_divide(options->max_sessions, &relay->descriptors) && open_parts(relay)) {
        announce(relay);
        return relay;
    }
    relay_destroy(relay);
    return NULL;
}

static void on_turn(void *context)
{
    struct relay *relay = context;
    sessions_flush(relay->sessions);
    webrtc_turn(relay->webrtc);
    watchdog_turn();
}

void relay_run(struct relay *relay)
{
    if (relay->options->watchdog_seconds > 0 && !watchdog_start(relay->options->watchdog_seconds))
        log_warn("no watchdog: %s", strerror(errno));
    loop_run(relay->loop, on_turn, relay);
    watchdog_stop();
    log_stats(relay);
}

void relay_destroy(struct relay *relay)
{
    if (!relay)
        return;
    close_listeners(relay);
    loop_timer_stop(&relay->drain);
    prefaces_destroy(relay->prefaces);
    webrtc_destroy(relay->webrtc);
    http_close(relay->http);
    /* Closing what is still connected closes its sessions, which need the rest. */
    loop_destroy(relay->loop);
    websockets_destroy(relay->websockets);
    sessions_destroy(relay->sessions);
    pre_session_limit_destroy(relay->pre_session_limit);
    http_destroy(relay->http);
    if (relay->signals.fd >= 0)
        close(relay->signals.fd);
    log_count_dropped(NULL);
    free(relay);
}
