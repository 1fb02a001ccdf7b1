#include "relay.h"

#include "http/redirect.h"
#include "os/log.h"
#include "os/socket_address.h"
#include "process/notify.h"
#include "process/watchdog.h"
#include "relay_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds for a client to send its request. */
#define HANDSHAKE_SECONDS 10

/* Most lines of libwebsockets are about what a client did wrong, at the client's pace. */
static void on_library_line(int level, const char *line)
{
    (void)level;
    log_debug("libwebsockets: %.*s", (int)strcspn(line, "\n"), line);
}

void relay_close_listeners(struct relay *relay)
{
    for (unsigned i = 0; i < OPTIONS_LISTEN_MAX; i++) {
        listener_destroy(relay->listeners[i]);
        relay->listeners[i] = NULL;
        listener_destroy(relay->redirects[i]);
        relay->redirects[i] = NULL;
    }
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
    if (relay->tls) {
        info.options =
            LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT | LWS_SERVER_OPTION_CREATE_VHOST_SSL_CTX;
        info.alpn = "http/1.1";
        info.user = relay->tls;
    }
    relay->loop = loop_create(&info);
    if (relay->loop && relay->tls && relay->worker == 0)
        tls_watch(relay->tls, relay->loop, NULL, NULL);
    return relay->loop != NULL;
}

/* Plain HTTP, where a vhost with TLS cannot be asked. */
static struct lws_vhost *open_redirect_vhost(struct relay *relay)
{
    relay->redirect_protocols[0] = redirect_protocol(&relay->redirect_port);
    struct lws_context_creation_info info = {
        /* Of vhosts with the same port, a request is served by the one that its Host names. */
        .port = CONTEXT_PORT_NO_LISTEN,
        .protocols = relay->redirect_protocols,
        .vhost_name = "redirect",
        .timeout_secs = HANDSHAKE_SECONDS,
        .keepalive_timeout = HANDSHAKE_SECONDS,
    };
    return loop_add_vhost(relay->loop, &info);
}

/* Unless it is any. */
static void shift_port(struct socket_address *address, unsigned by)
{
    const unsigned port = socket_address_port(address);
    if (port > 0)
        socket_address_set_port(address, port + by);
}

/* A worker whose supervisor could use the file at the start goes on without it: a new certificate
   is as safe, since every answer has its hash. */
static struct dtls_identity *open_identity(const struct relay *relay)
{
    const struct options *options = relay->options;
    struct dtls_identity *identity;
    if (options->rtc_certificate) {
        identity = webrtc_load_identity(options->rtc_certificate, options->rtc_key);
        if (identity || relay->worker == 0)
            return identity;
        log_warn("WebRTC gets a certificate made anew instead");
    }
    identity = dtls_identity_create();
    if (!identity)
        log_error("no certificate for WebRTC: OpenSSL made none");
    return identity;
}

static bool open_webrtc(struct relay *relay, struct startup *startup)
{
    const struct options *options = relay->options;
    const unsigned before =
        relay->worker > 0 ? relay->worker - 1 : 0; /* workers with ports of theirs */
    struct webrtc_config config = {
        .local = options->rtc_local,
        .inherited = &startup->sockets,
        .advertised_count = options->rtc_advertised_count,
        .max_sessions = relay->descriptors.sessions,
        .limits = relay_webrtc_limits(options),
        .handshakes = &relay->handshakes,
        .worker = relay->worker,
        .end_other = relay_end_other_rtc,
        .context = relay,
    };
    if (!options->rtc)
        return true;
    memcpy(config.advertised, options->rtc_advertised, sizeof options->rtc_advertised);
    if (!options->rtc_own_port)
        socket_address_set_port(&config.local, listener_port(relay->listeners[0]));
    shift_port(&config.local, before);
    for (unsigned i = 0; i < config.advertised_count; i++)
        shift_port(&config.advertised[i], before);
    struct dtls_identity *identity = open_identity(relay);
    if (!identity)
        return false;
    relay->webrtc = webrtc_create(&config, identity, relay->loop, relay->sessions, relay->http,
                                  &relay->counters->stats);
    return relay->webrtc != NULL;
}

static bool open_each(const char *const *texts, unsigned count,
                      const struct listener_config *config, struct listener **out)
{
    for (unsigned i = 0; i < count; i++) {
        out[i] = listener_create(texts[i], config);
        if (!out[i])
            return false;
    }
    return true;
}

static bool open_listeners(struct relay *relay, struct startup *startup)
{
    const struct options *options = relay->options;
    struct listener_config config = {
        .loop = relay->loop,
        .vhost = loop_vhost(relay->loop),
        .pre_sessions = relay->pre_session_limit,
        .prefaces = relay->prefaces,
        .proxies = &relay->pages.forwarded.trusted,
        .inherited = &startup->sockets,
    };
    if (!open_each(options->listen, options->listen_count, &config, relay->listeners))
        return false;
    if (options->http_redirect_count == 0)
        return true;
    relay->redirect_port = listener_port(relay->listeners[0]);
    config.vhost = open_redirect_vhost(relay);
    return config.vhost && open_each(options->http_redirect, options->http_redirect_count, &config,
                                     relay->redirects);
}

static bool open_upstreams(struct relay *relay)
{
    static const struct socket_address none;
    const struct upstream_list *list = &relay->options->upstreams;
    struct socket_address only;
    char text[SOCKET_ADDRESS_TEXT];
    const struct upstream_rule *unknown;
    const char *error;
    relay->upstreams = upstreams_create(list, relay->loop, &unknown, &error);
    if (!relay->upstreams) {
        if (unknown)
            log_error("cannot resolve the upstream %s:%u: %s", unknown->name, unknown->first_port,
                      error);
        else
            log_error("no memory");
        return false;
    }
    if (upstreams_choose(relay->upstreams, &none, &only)) {
        socket_address_format(&only, text);
        log_info("forwarding to game server %s", text);
    } else {
        log_info("forwarding to the game servers that pages ask for, if --upstream allows them");
    }
    return true;
}

/* A worker has what its supervisor has read, whatever has become of the files. */
static bool open_tls(struct relay *relay)
{
    relay->tls = tls_create(relay->worker > 0 ? NULL : &relay->options->tls);
    return relay->tls != NULL;
}

static bool open_parts(struct relay *relay, struct startup *startup)
{
    const struct options *options = relay->options;
    struct sessions_config sessions;
    struct websockets_config websockets = {
        .queue_bytes = options->queue_bytes,
        .queue_age_seconds = options->queue_age_seconds,
        .ping_interval_seconds = options->ping_interval_seconds,
    };
    if (options->tls.certificate_count > 0 && !open_tls(relay))
        return false;
    if (!open_library(relay) || !signals_open(&relay->signals, relay->loop)) {
        log_error("cannot set up the event loop: %s", strerror(errno));
        return false;
    }
    if (!open_upstreams(relay))
        return false;
    sessions = relay_sessions_config(relay, options);
    if (startup->channel >= 0)
        sessions.secret = startup->secret;
    relay->http = http_create(options->root, &relay->pages, relay->loop, &relay->counters->stats);
    if (!relay->http) {
        log_error("cannot serve files from %s: %s", options->root, strerror(errno));
        return false;
    }
    http_set_hsts(relay->http, options->hsts_seconds);
    websockets.http = relay->http;
    relay->pre_session_limit = pre_session_limit_create(
        relay->descriptors.pre_session, options->max_per_address, &relay->counters->stats);
    relay->sessions = sessions_create(&sessions, relay->loop, &relay->counters->stats);
    if (relay->pre_session_limit)
        relay->prefaces =
            prefaces_create(relay->loop, relay->pre_session_limit, &relay->counters->stats);
    if (relay->prefaces && relay->sessions)
        relay->websockets =
            websockets_create(&websockets, relay->loop, relay->sessions, &relay->counters->stats);
    if (relay->tls)
        relay->tls_turns =
            tls_turns_create(relay->loop, &relay->handshakes, &relay->counters->stats);
    if (!relay->websockets || (relay->tls && !relay->tls_turns)) {
        log_error("no memory");
        return false;
    }
    if (relay->tls)
        pre_session_limit_set_tls(relay->pre_session_limit, loop_vhost(relay->loop),
                                  relay->tls_turns);
    relay_heed_proxies(relay);
    return open_listeners(relay, startup) && open_webrtc(relay, startup) &&
           relay_open_admin(relay, startup);
}

/* Whoever waits for these lines finds all that was asked for. */
static void announce(const struct relay *relay)
{
    if (relay->worker > 0)
        return; /* the supervisor does, for all */
    const struct options *options = relay->options;
    admin_announce(relay->admin);
    for (unsigned i = 0; i < options->http_redirect_count; i++)
        listener_announce(relay->redirects[i], "redirecting from");
    for (unsigned i = 0; i < options->listen_count; i++)
        listener_announce(relay->listeners[i], "listening on");
}

/* Of what all workers have together. */
static unsigned share(unsigned whole, const struct startup *startup)
{
    const unsigned workers = startup->worker > 0 ? startup->workers : 1;
    return (whole + workers - 1) / workers;
}

struct relay *relay_create(const struct options *options, struct startup *startup)
{
    struct relay *relay = calloc(1, sizeof *relay);
    if (!relay)
        return NULL;
    relay->options = options;
    relay->pages = options->pages;
    relay->worker = startup->worker;
    relay->supervisor.fd = -1;
    relay->counters = &relay->own_counters;
    if (relay->worker > 0 && !(relay->counters = counters_open(startup->counters))) {
        log_error("no memory for counters: %s", strerror(errno));
        free(relay);
        return NULL;
    }
    log_count_dropped(&relay->counters->stats.log_lines_dropped);
    relay->stop.context = relay;
    relay->signals = (struct signals){.watch.fd = -1, .take = relay_take_signal, .context = relay};
    relay->copy = -1;
    const bool opened =
        descriptors_divide(share(options->max_sessions, startup), &relay->descriptors) &&
        open_parts(relay, startup) && relay_take_over(relay, startup);
    startup_close(startup);
    if (opened) {
        announce(relay);
        return relay;
    }
    relay_destroy(relay);
    return NULL;
}

static void on_turn(void *context)
{
    struct relay *relay = context;
    webrtc_turn(relay->webrtc);
    relay->counters->sessions_open = sessions_count(relay->sessions);
    watchdog_turn();
}

void relay_run(struct relay *relay)
{
    loop_gather(relay->loop, relay->options->coalesce_us * 1e-6);
    if (relay->options->watchdog_seconds > 0 && !watchdog_start(relay->options->watchdog_seconds))
        log_warn("no watchdog: %s", strerror(errno));
    if (relay->worker == 0) /* or its supervisor tells */
        notify_open(relay->loop);
    notify_send("READY=1");
    loop_run(relay->loop, on_turn, relay);
    notify_close();
    watchdog_stop();
    if (relay->worker > 0)
        relay_count(relay);
    else
        relay_log_stats(relay);
}

void relay_destroy(struct relay *relay)
{
    if (!relay)
        return;
    upgrade_cancel(&relay->upgrade);
    relay_close_listeners(relay);
    admin_destroy(relay->admin);
    loop_timer_stop(&relay->stop);
    loop_timer_stop(&relay->look);
    loop_timer_stop(&relay->count);
    prefaces_destroy(relay->prefaces);
    webrtc_destroy(relay->webrtc);
    http_close(relay->http);
    upstreams_destroy(relay->upstreams);
    /* Closing what is still connected closes its sessions, which need the rest. */
    loop_destroy(relay->loop);
    tls_turns_destroy(relay->tls_turns);
    tls_destroy(relay->tls);
    websockets_destroy(relay->websockets);
    sessions_destroy(relay->sessions);
    pre_session_limit_destroy(relay->pre_session_limit);
    http_destroy(relay->http);
    signals_close(&relay->signals);
    options_free(&relay->reloaded);
    if (relay->copy >= 0)
        close(relay->copy);
    directory_filter_close(&relay->filter);
    log_count_dropped(NULL);
    if (relay->supervisor.fd >= 0)
        close(relay->supervisor.fd);
    if (relay->worker > 0)
        counters_destroy(relay->counters);
    free(relay);
}
