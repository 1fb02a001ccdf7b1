#include "relay.h"

#include "admin/admin.h"
#include "http/descriptors.h"
#include "http/files.h"
#include "http/http.h"
#include "http/websocket.h"
#include "limits/pre_session_limit.h"
#include "limits/tls_turns.h"
#include "os/log.h"
#include "os/loop.h"
#include "os/socket_address.h"
#include "os/tls.h"
#include "process/listeners.h"
#include "process/notify.h"
#include "process/shutdown.h"
#include "process/signals.h"
#include "process/upgrade.h"
#include "process/watchdog.h"
#include "process/worker.h"
#include "rtc/webrtc.h"
#include "session/session.h"
#include "stats/counters.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct relay {
    const struct options *options; /* the options at the start */
    struct options reloaded;       /* the options since a reload; all zero before the first one */
    struct http_pages pages;       /* the pages that those options allow */
    struct descriptors descriptors;
    struct counters own_counters;
    /* the counters of this process, shared with a supervisor if it is a worker */
    struct counters *counters;
    unsigned number; /* the number of this worker, from 1 on; 0 = it is none */
    struct lws_protocols protocols[4];
    struct tls *tls; /* NULL without --tls-certificate */
    struct handshake_budget handshakes;
    struct tls_turns *tls_turns; /* NULL without --tls-certificate */
    struct loop *loop;
    struct pre_session_limit *pre_session_limit;
    struct prefaces *prefaces;
    struct upstreams *upstreams;
    struct sessions *sessions;
    struct websockets *websockets;
    struct webrtc *webrtc; /* NULL without --rtc */
    struct files files;
    struct http *http;
    struct lingers *lingers;
    struct lws_vhost *plain_vhost; /* a vhost without TLS */
    struct listeners listeners;
    struct admin *admin; /* NULL without --admin */
    struct signals signals;
    struct worker worker; /* the channel to the supervisor, if this is a worker */
    struct shutdown shutdown;
    struct upgrade upgrade;
    struct log_limit lost_limit;
};

/* Logs a line of libwebsockets. Most are about mistakes of a client, at the client's pace. */
static void on_library_line(int level, const char *line)
{
    (void)level;
    log_debug("libwebsockets: %.*s", (int)strcspn(line, "\n"), line);
}

static bool open_library(struct relay *relay)
{
    relay->protocols[0] = http_protocol();
    relay->protocols[1] = websocket_protocol(&relay->websockets);
    relay->protocols[2] = loop_protocol;
    lws_set_log_level(log_wants(LOG_DEBUG) ? LLL_ERR | LLL_WARN : 0, on_library_line);
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .protocols = relay->protocols,
        .vhost_name = "relay",
    };
    http_fill_info(&info);
    if (relay->tls) {
        info.options =
            LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT | LWS_SERVER_OPTION_CREATE_VHOST_SSL_CTX;
        info.alpn = "http/1.1";
        info.user = relay->tls;
    }
    relay->loop = loop_create(&info);
    if (relay->loop && relay->tls && relay->number == 0)
        tls_watch(relay->tls, relay->loop, NULL, NULL);
    return relay->loop != NULL;
}

static struct sessions_config sessions_config_of(const struct relay *relay,
                                                 const struct options *options)
{
    return (struct sessions_config){
        .upstreams = relay->upstreams,
        .gate = options->gate,
        .allowance = options->allowance,
        .max_sessions = relay->descriptors.sessions,
        .max_per_address = options->max_per_address,
        .request_timeout_seconds = options->request_timeout_seconds,
        .answer_timeout_seconds = options->answer_timeout_seconds,
        .idle_timeout_seconds = options->idle_timeout_seconds,
        .resume_seconds = options->resume_seconds,
        .worker = relay->number,
    };
}

static struct webrtc_limits webrtc_limits_of(const struct options *options)
{
    return (struct webrtc_limits){
        .max_per_address = options->max_per_address,
        .bytes_per_second = options->peer_bytes_per_second,
        .packets_per_second = options->allowance.packets_per_second,
    };
}

static void apply_proxies(struct relay *relay)
{
    const struct forwarded *forwarded = &relay->pages.forwarded;
    if (!relay->tls)
        prefaces_read_heads(relay->prefaces, &forwarded->trusted, forwarded_name(forwarded),
                            forwarded_once(forwarded));
}

/* Shifts a port, but leaves 0, which means any port. */
static void shift_port(struct socket_address *address, unsigned by)
{
    const unsigned port = socket_address_port(address);
    if (port > 0)
        socket_address_set_port(address, port + by);
}

/* Opens the certificate of WebRTC. If a worker cannot use the file that its supervisor could use at
   the start, it makes a certificate and goes on: that is as safe, since every answer has the
   certificate's hash. */
static struct dtls_identity *open_identity(const struct relay *relay)
{
    const struct options *options = relay->options;
    struct dtls_identity *identity;
    if (options->rtc_certificate) {
        identity = webrtc_load_identity(options->rtc_certificate, options->rtc_key);
        if (identity || relay->number == 0)
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
        relay->number > 0 ? relay->number - 1 : 0; /* workers have ports of their own */
    struct webrtc_config config = {
        .local = options->rtc_local,
        .inherited = &startup->sockets,
        .advertised_count = options->rtc_advertised_count,
        .max_sessions = relay->descriptors.sessions,
        .limits = webrtc_limits_of(options),
        .handshakes = &relay->handshakes,
        .worker = relay->number,
        .end_other = worker_end_other_rtc,
        .context = &relay->worker,
    };
    if (!options->rtc)
        return true;
    memcpy(config.advertised, options->rtc_advertised, sizeof options->rtc_advertised);
    if (!options->rtc_own_port)
        socket_address_set_port(&config.local, relay->listeners.port);
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

/* Returns the start of the config of a server without TLS. */
static struct http_config plain_http_config(const struct relay *relay)
{
    return (struct http_config){
        .loop = relay->loop, .vhost = relay->plain_vhost, .lingers = relay->lingers};
}

static bool open_http(struct relay *relay)
{
    const struct options *options = relay->options;
    const struct http_config config = {
        .loop = relay->loop,
        .vhost = loop_vhost(relay->loop),
        .lingers = relay->lingers = lingers_create(relay->loop),
        .pages = &relay->pages,
        .stats = &relay->counters->stats,
        .websockets = true,
        .hsts_seconds = options->hsts_seconds,
    };
    if (!files_open(&relay->files, options->root)) {
        log_error("cannot serve files from %s: %s", options->root, strerror(errno));
        return false;
    }
    relay->http = http_create(&config);
    relay->plain_vhost = relay->tls ? http_add_plain_vhost(relay->loop) : config.vhost;
    if (!relay->http || !relay->lingers || !relay->plain_vhost) {
        log_error("no memory");
        return false;
    }
    files_add_route(&relay->files, relay->http);
    return true;
}

static bool open_listeners(struct relay *relay, struct startup *startup)
{
    const struct listener_config config = {
        .loop = relay->loop,
        .http = relay->http,
        .pre_sessions = relay->pre_session_limit,
        .prefaces = relay->prefaces,
        .proxies = &relay->pages.forwarded.trusted,
        .inherited = &startup->sockets,
    };
    const struct http_config redirect = plain_http_config(relay);
    return listeners_open(&relay->listeners, relay->options, &config, &redirect);
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

/* Opens the certificates of TLS. A worker takes those that its supervisor has read, whatever has
   become of the files since. */
static bool open_tls(struct relay *relay)
{
    relay->tls = tls_create(relay->number > 0 ? NULL : &relay->options->tls);
    return relay->tls != NULL;
}

/* Brings the counters up to date. */
static void count(void *context)
{
    struct relay *relay = context;
    sessions_count_overflow(relay->sessions);
    webrtc_count_overflow(relay->webrtc);
    relay->counters->sessions_open = sessions_count(relay->sessions);
    sessions_gauges(relay->sessions, &relay->counters->gauges);
}

static void log_stats(struct relay *relay)
{
    count(relay);
    stats_log(&relay->counters->stats, relay->counters->sessions_open);
}

static void look(void *context, struct metrics *out)
{
    struct relay *relay = context;
    const struct options *options =
        relay->reloaded.upstreams.count > 0 ? &relay->reloaded : relay->options;
    count(relay);
    out->counters = *relay->counters;
    out->upstream = upstream_list_is_single(&options->upstreams) ? options->upstream : NULL;
    out->processes[0] = getpid();
    out->process_count = 1;
}

static const char *unready(void *context)
{
    const struct relay *relay = context;
    if (relay->shutdown.state != SHUTDOWN_SERVING)
        return "draining";
    return sessions_full(relay->sessions) ? "no place left" : NULL;
}

static void carry_out(void *context, const struct command *command, uint64_t ticket)
{
    struct relay *relay = context;
    struct session_facts *page = calloc(command->limit + 1, sizeof *page);
    struct command_result result = {0};
    if (page)
        result = command_run(relay->sessions, command, page);
    admin_answer(relay->admin, ticket, command, &result, page);
    free(page);
}

static bool open_admin(struct relay *relay, struct startup *startup)
{
    const struct admin_config config = {
        .address = relay->options->admin_local,
        .http = plain_http_config(relay),
        .inherited = &startup->sockets,
        .blocks = sessions_blocks(relay->sessions),
        .carry_out = carry_out,
        .look = look,
        .unready = unready,
        .context = relay,
    };
    if (!relay->options->admin || relay->number > 0)
        return true;
    relay->admin = admin_create(&config);
    return relay->admin != NULL;
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
    sessions = sessions_config_of(relay, options);
    if (startup->channel >= 0)
        sessions.secret = startup->secret;
    if (!open_http(relay))
        return false;
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
    apply_proxies(relay);
    return open_listeners(relay, startup) && open_webrtc(relay, startup) &&
           open_admin(relay, startup);
}

static bool send_startup(void *context, int channel)
{
    const struct relay *relay = context;
    return startup_send_hello(channel, sessions_secret(relay->sessions), 0, 0) &&
           listeners_send(&relay->listeners, channel) &&
           (!relay->admin || startup_send_socket(channel, admin_socket(relay->admin))) &&
           (!relay->webrtc || startup_send_socket(channel, webrtc_socket(relay->webrtc)));
}

static bool send_session(void *context, const struct session_state *state, int fd)
{
    return message_send(*(const int *)context, MESSAGE_SESSION, state, sizeof *state, fd);
}

static bool send_sessions(void *context, int channel)
{
    const struct relay *relay = context;
    return startup_send_blocks(channel, sessions_blocks(relay->sessions)) &&
           sessions_export(relay->sessions, send_session, &channel);
}

/* Closes everything that another process has taken over. */
static void leave(void *context)
{
    struct relay *relay = context;
    listeners_close(&relay->listeners);
    admin_close(relay->admin);
    webrtc_leave(relay->webrtc);
    shutdown_leave(&relay->shutdown);
}

static bool take_certificates(struct relay *relay, int copy)
{
    const bool taken = relay->tls && tls_take(relay->tls, copy);
    if (copy >= 0)
        close(copy);
    return taken;
}

static void take_session(struct relay *relay, const struct message *message)
{
    unsigned held;
    if (!sessions_adopt(relay->sessions, message->data, message->size, message->fd) &&
        log_limit_pass(&relay->lost_limit, loop_now(), &held))
        log_warn("a session is lost: there is no place for it, or no file descriptor%s",
                 log_held(held).text);
}

static bool take_message(void *context, const struct message *message)
{
    struct relay *relay = context;
    if (message->type == MESSAGE_CERTIFICATES)
        return take_certificates(relay, message->fd);
    if (message->type == MESSAGE_SESSION)
        take_session(relay, message);
    else if (message->type == MESSAGE_BLOCKS)
        startup_take_blocks(sessions_blocks(relay->sessions), message->data, message->size);
    else
        return false;
    return true;
}

static void adopt(void *context, const struct message *message)
{
    take_message(context, message);
}

static bool become_worker(struct relay *relay, struct startup *startup)
{
    const struct worker_config config = {
        .loop = relay->loop,
        .sessions = relay->sessions,
        .webrtc = relay->webrtc,
        .stats = &relay->counters->stats,
        .count = count,
        .adopt = adopt,
        .leave = leave,
        .context = relay,
    };
    return worker_start(&relay->worker, &config, startup);
}

/* Waits until the predecessor has given everything. Nothing may be served before, because the
   predecessor still serves. */
static bool take_over(struct relay *relay, struct startup *startup)
{
    const struct upgrade_owner owner = {send_startup, send_sessions, leave, relay};
    upgrade_init(&relay->upgrade, relay->loop, relay->options->argv, &owner);
    if (startup->channel < 0)
        return true;
    if (!upgrade_take_over(startup->channel, take_message, relay)) {
        log_error("the process that started this one has gone");
        return false;
    }
    if (startup->worker > 0)
        return become_worker(relay, startup);
    log_info("took over %s", log_count(sessions_count(relay->sessions), "session").text);
    return true;
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
static unsigned share(unsigned whole, const struct startup *startup)
{
    const unsigned workers = startup->worker > 0 ? startup->workers : 1;
    return (whole + workers - 1) / workers;
}

static void apply(struct relay *relay, const struct options *options)
{
    const struct sessions_config sessions = sessions_config_of(relay, options);
    const struct webrtc_limits webrtc = webrtc_limits_of(options);
    log_set_level(options->log_level);
    log_set_format(options->log_format);
    loop_gather(relay->loop, options->coalesce_us * 1e-6);
    relay->pages = options->pages;
    apply_proxies(relay);
    upstreams_set(relay->upstreams, &options->upstreams);
    pre_session_limit_set(relay->pre_session_limit, options->max_per_address);
    webrtc_set_limits(relay->webrtc, &webrtc);
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
    /* A worker gets them from its supervisor. */
    if (relay->number == 0 && !tls_reload(relay->tls, &options.tls)) {
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
        descriptors_divide(share(options->max_sessions, startup), &relay->descriptors) &&
        open_parts(relay, startup) && take_over(relay, startup);
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
    webrtc_turn(relay->webrtc);
    relay->counters->sessions_open = sessions_count(relay->sessions);
    watchdog_turn();
}

void relay_run(struct relay *relay)
{
    loop_gather(relay->loop, relay->options->coalesce_us * 1e-6);
    if (relay->options->watchdog_seconds > 0 && !watchdog_start(relay->options->watchdog_seconds))
        log_warn("no watchdog: %s", strerror(errno));
    if (relay->number == 0) /* a worker is told by its supervisor */
        notify_open(relay->loop);
    notify_send("READY=1");
    loop_run(relay->loop, on_turn, relay);
    notify_close();
    watchdog_stop();
    if (relay->number > 0)
        count(relay);
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
    shutdown_cancel(&relay->shutdown);
    loop_timer_stop(&relay->worker.timer);
    prefaces_destroy(relay->prefaces);
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
