#include "limits/tls_turns.h"
#include "os/log.h"
#include "os/tls.h"
#include "relay_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Logs a line of libwebsockets. Most are about mistakes of a client, at the client's pace. */
static void on_library_line(int level, const char *line)
{
    (void)level;
    log_debug("libwebsockets: %.*s", (int)strcspn(line, "\n"), line);
}

static bool open_library(struct relay *relay)
{
    relay->protocols[0] = http_protocol();
    for (unsigned i = 0; i < WEBSOCKET_PROTOCOLS; i++)
        relay->protocols[1 + i] = websocket_protocol(&relay->websockets, i);
    relay->protocols[1 + WEBSOCKET_PROTOCOLS] = loop_protocol;
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

struct sessions_config relay_sessions_config(const struct relay *relay,
                                             const struct options *options)
{
    return (struct sessions_config){
        .upstreams = relay->upstreams,
        .gate = options->gate,
        .allowance = options->allowance,
        .max_sessions = relay->descriptors.sessions,
        .capacity = relay->descriptors.capacity,
        .max_per_address = options->max_per_address,
        .request_timeout_seconds = options->request_timeout_seconds,
        .answer_timeout_seconds = options->answer_timeout_seconds,
        .idle_timeout_seconds = options->idle_timeout_seconds,
        .resume_seconds = options->resume_seconds,
        .records = options->records,
        .worker = relay->number,
    };
}

struct webrtc_limits relay_webrtc_limits(const struct relay *relay, const struct options *options)
{
    return (struct webrtc_limits){
        .max_sessions = relay->descriptors.sessions,
        .max_per_address = options->max_per_address,
        .bytes_per_second = options->peer_bytes_per_second,
        .packets_per_second = options->allowance.packets_per_second,
    };
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

/* Tells a page that there is no WebTransport. Browsers would print any other answer as an error,
   and pages ask each relay. */
static bool tell_none(void *context, const struct http_request *request,
                      struct http_response *response)
{
    (void)context;
    (void)request;
    response->status = HTTP_NO_CONTENT;
    return true;
}

/* Opens WebTransport on the port of WebRTC, and with its addresses. */
static bool open_webtransport(struct relay *relay, const struct webrtc_config *webrtc)
{
    const struct options *options = relay->options;
    struct webtransport_config config = {
        .webrtc = relay->webrtc,
        .advertised_count = webrtc->advertised_count,
        .certificate = options->webtransport_certificate,
        .key = options->webtransport_key,
        .capacity = webrtc->capacity,
        .limits = webrtc->limits,
        .handshakes = webrtc->handshakes,
        .origins = webrtc->origins,
    };
    if (!options->webtransport)
        return true;
    memcpy(config.advertised, webrtc->advertised, sizeof config.advertised);
    relay->webtransport = webtransport_create(&config, relay->loop, relay->sessions, relay->http,
                                              &relay->counters->stats);
    return relay->webtransport != NULL;
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
        .capacity = relay->descriptors.capacity,
        .limits = relay_webrtc_limits(relay, options),
        .handshakes = &relay->handshakes,
        .origins = &relay->pages.origins,
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
    return relay->webrtc != NULL && open_webtransport(relay, &config);
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
    const struct http_route no_webtransport = {.path = WEBTRANSPORT_ROUTE,
                                               .methods = HTTP_POST,
                                               .access = HTTP_PAGES,
                                               .handle = tell_none};
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
    if (!options->webtransport)
        http_add_route(relay->http, &no_webtransport);
    return true;
}

/* A worker hears that other processes have taken over before it accepts a connection that came
   after that: it could only refuse it. */
static bool may_accept(void *context)
{
    struct relay *relay = context;
    return worker_obey(&relay->worker);
}

static bool open_listeners(struct relay *relay, struct startup *startup)
{
    const struct listener_config config = {
        .loop = relay->loop,
        .http = relay->http,
        .pre_sessions = relay->pre_session_limit,
        .proxy_connections = relay->proxy_connections,
        .proxies = &relay->pages.proxies,
        .inherited = &startup->sockets,
        .may_accept = may_accept,
        .context = relay,
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

void relay_count(void *context)
{
    struct relay *relay = context;
    sessions_count_overflow(relay->sessions);
    webrtc_count_overflow(relay->webrtc);
    relay->counters->sessions_open = sessions_count(relay->sessions);
    sessions_gauges(relay->sessions, &relay->counters->gauges);
}

static void look(void *context, struct metrics *out)
{
    struct relay *relay = context;
    const struct options *options =
        relay->reloaded.upstreams.count > 0 ? &relay->reloaded : relay->options;
    relay_count(relay);
    out->counters = *relay->counters;
    out->certificate_expires = tls_expires(relay->tls);
    out->upstreams = &options->upstreams;
    out->processes[0] = getpid();
    out->process_count = 1;
}

static const char *unready(void *context)
{
    const struct relay *relay = context;
    return relay->shutdown.state == SHUTDOWN_SERVING ? NULL : "draining";
}

static void carry_out(void *context, const struct command *command, uint64_t ticket)
{
    struct relay *relay = context;
    struct session_summary *page = calloc(command->limit + 1, sizeof *page);
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

static bool carry_out_listed(void *context, const struct command *command)
{
    const struct relay *relay = context;
    return command_run(relay->sessions, command, NULL).done;
}

/* Each worker reads the list of blocks by itself. Its supervisor does so too, and logs it. */
static bool open_block_list(struct relay *relay)
{
    const struct block_list_config config = {
        .url = relay->options->blocks_from,
        .seconds = relay->options->blocks_interval_seconds,
        .loop = relay->loop,
        .blocks = sessions_blocks(relay->sessions),
        .carry_out = carry_out_listed,
        .context = relay,
        .stats = relay->number == 0 ? &relay->counters->stats : NULL,
    };
    if (!config.url)
        return true;
    relay->block_list = block_list_create(&config);
    return relay->block_list != NULL;
}

bool relay_open(struct relay *relay, struct startup *startup)
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
    if (!open_http(relay))
        return false;
    websockets.http = relay->http;
    relay->pre_session_limit = pre_session_limit_create(
        relay->descriptors.pre_session, options->max_per_address, &relay->counters->stats);
    relay->sessions = sessions_create(&sessions, relay->loop, &relay->counters->stats);
    if (relay->pre_session_limit)
        relay->proxy_connections =
            proxy_connections_create(relay->loop, relay->pre_session_limit, &relay->counters->stats,
                                     relay->tls ? NULL : &relay->pages.proxies);
    if (relay->proxy_connections && relay->sessions)
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
    return open_listeners(relay, startup) && open_webrtc(relay, startup) &&
           open_admin(relay, startup) && open_block_list(relay);
}
