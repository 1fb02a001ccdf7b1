#include "server.h"

#include "descriptors.h"
#include "endpoint.h"
#include "http.h"
#include "listener.h"
#include "log.h"
#include "loop.h"
#include "session.h"
#include "stats.h"
#include "visitors.h"
#include "watchdog.h"
#include "webrtc.h"
#include "websocket.h"

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

struct server {
    const struct options *options;
    struct descriptors descriptors;
    struct stats stats;
    struct lws_protocols protocols[4];
    struct loop *loop;
    struct visitors *visitors;
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
    struct server *server = context;
    loop_stop(server->loop);
}

static void on_drain_over(void *context)
{
    struct server *server = context;
    log_warn("%u sessions did not close in time", sessions_count(server->sessions));
    loop_stop(server->loop);
}

static void close_listeners(struct server *server)
{
    for (unsigned i = 0; i < OPTIONS_LISTEN_MAX; i++) {
        listener_destroy(server->listeners[i]);
        server->listeners[i] = NULL;
    }
}

static void stop(struct server *server, unsigned signal_number)
{
    if (server->stopping) {
        log_info("stopping at once");
        loop_stop(server->loop);
        return;
    }
    server->stopping = true;
    close_listeners(server); /* before the log says so: whoever waits for the line is refused */
    log_info("stopping on %s: closing %u sessions", strsignal((int)signal_number),
             sessions_count(server->sessions));
    loop_timer_start(server->loop, &server->drain, DRAIN_SECONDS);
    sessions_drain(server->sessions, on_drained, server);
}

static void log_stats(struct server *server)
{
    sessions_flush(server->sessions); /* or what is gathered would be in no counter */
    sessions_count_overflow(server->sessions);
    webrtc_count_overflow(server->webrtc);
    stats_log(&server->stats, sessions_count(server->sessions));
}

static void on_signal(void *context, unsigned events)
{
    (void)events;
    struct server *server = context;
    struct signalfd_siginfo info;
    while (read(server->signals.fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGUSR1)
            log_stats(server);
        else
            stop(server, info.ssi_signo);
    }
}

static bool open_signals(struct server *server)
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
    server->signals = (struct loop_watch){.fd = fd, .ready = on_signal, .context = server};
    return fd >= 0 && loop_add(server->loop, &server->signals, LOOP_READABLE);
}

static bool open_library(struct server *server)
{
    server->protocols[0] = http_protocol(&server->http);
    server->protocols[1] = websocket_protocol(&server->websockets);
    server->protocols[2] = loop_protocol;
    lws_set_log_level(log_wants(LOG_DEBUG) ? LLL_ERR | LLL_WARN : 0, on_library_line);
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .protocols = server->protocols,
        .vhost_name = "relay",
        .timeout_secs = HANDSHAKE_SECONDS,
        .keepalive_timeout = HANDSHAKE_SECONDS,
        .pt_serv_buf_size = 16384,
        /* One for each connection that may come: those that send half a request keep theirs until
           their time is up, and nobody should wait for that. */
        .max_http_header_pool = UINT16_MAX,
    };
    server->loop = loop_create(&info);
    return server->loop != NULL;
}

static bool open_webrtc(struct server *server)
{
    const struct options *options = server->options;
    struct webrtc_config config = {
        .local = options->rtc_local,
        .advertised_count = options->rtc_advertised_count,
        .max_sessions = server->descriptors.sessions,
        .max_per_address = options->max_per_address,
        .rate = options->peer_rate,
    };
    char error[256] = "OpenSSL made no certificate";
    struct dtls_identity *identity;
    if (!options->rtc)
        return true;
    memcpy(config.advertised, options->rtc_advertised, sizeof options->rtc_advertised);
    if (!options->rtc_own_port)
        endpoint_set_port(&config.local, listener_port(server->listeners[0]));
    if (options->rtc_certificate)
        identity = dtls_identity_load(options->rtc_certificate, options->rtc_key, error);
    else
        identity = dtls_identity_create();
    if (!identity) {
        log_error("no certificate for WebRTC: %s", error);
        return false;
    }
    server->webrtc = webrtc_create(&config, identity, server->loop, server->sessions, server->http,
                                   &server->stats);
    return server->webrtc != NULL;
}

static bool open_parts(struct server *server)
{
    const struct options *options = server->options;
    struct sessions_config sessions = {
        .gate = options->gate,
        .allowance = options->allowance,
        .max_sessions = server->descriptors.sessions,
        .max_per_address = options->max_per_address,
        .request_timeout = options->request_timeout,
        .answer_timeout = options->answer_timeout,
        .idle_timeout = options->idle_timeout,
    };
    struct websockets_config websockets = {
        .queue_bytes = options->queue_bytes,
        .queue_age = options->queue_age,
        .ping_interval = options->ping_interval,
    };
    const char *error;
    if (!endpoint_resolve(options->upstream, &sessions.upstream, &error)) {
        log_error("cannot resolve the upstream %s: %s", options->upstream, error);
        return false;
    }
    if (!open_library(server) || !open_signals(server)) {
        log_error("cannot set up the event loop: %s", strerror(errno));
        return false;
    }
    server->http = http_create(options->root, &options->origins, server->loop, &server->stats);
    if (!server->http) {
        log_error("cannot serve files from %s: %s", options->root, strerror(errno));
        return false;
    }
    server->visitors =
        visitors_create(server->descriptors.visitors, options->max_per_address, &server->stats);
    server->sessions = sessions_create(&sessions, server->loop, &server->stats);
    if (server->visitors && server->sessions)
        server->websockets =
            websockets_create(&websockets, server->loop, server->sessions, &server->stats);
    if (!server->websockets) {
        log_error("no memory");
        return false;
    }
    char text[ENDPOINT_TEXT];
    endpoint_format(&sessions.upstream, text);
    log_info("forwarding to game server %s", text);
    for (unsigned i = 0; i < options->listen_count; i++) {
        server->listeners[i] = listener_create(options->listen[i], server->loop, server->visitors);
        if (!server->listeners[i])
            return false;
    }
    if (!open_webrtc(server))
        return false;
    /* Whoever waits for these lines finds all that was asked for. */
    for (unsigned i = 0; i < options->listen_count; i++)
        listener_announce(server->listeners[i]);
    return true;
}

struct server *server_create(const struct options *options)
{
    struct server *server = calloc(1, sizeof *server);
    if (!server)
        return NULL;
    server->options = options;
    log_count_dropped(&server->stats.log_lines_dropped);
    server->drain.expired = on_drain_over;
    server->drain.context = server;
    server->signals.fd = -1;
    if (descriptors_divide(options->max_sessions, &server->descriptors) && open_parts(server))
        return server;
    server_destroy(server);
    return NULL;
}

static void on_turn(void *context)
{
    struct server *server = context;
    sessions_flush(server->sessions);
    webrtc_turn(server->webrtc);
    watchdog_turn();
}

void server_run(struct server *server)
{
    if (server->options->watchdog > 0.0 && !watchdog_start(server->options->watchdog))
        log_warn("no watchdog: %s", strerror(errno));
    loop_run(server->loop, on_turn, server);
    watchdog_stop();
    log_stats(server);
}

void server_destroy(struct server *server)
{
    if (!server)
        return;
    close_listeners(server);
    loop_timer_stop(&server->drain);
    webrtc_destroy(server->webrtc);
    http_close(server->http);
    /* Closing what is still connected closes its sessions, which need the rest. */
    loop_destroy(server->loop);
    websockets_destroy(server->websockets);
    sessions_destroy(server->sessions);
    visitors_destroy(server->visitors);
    http_destroy(server->http);
    if (server->signals.fd >= 0)
        close(server->signals.fd);
    log_count_dropped(NULL);
    free(server);
}
