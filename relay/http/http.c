#include "http/http.h"

#include "http/subprotocol.h"
#include "http/transmission.h"
#include "limits/pre_session_limit.h"
#include "os/log.h"
#include "os/tls.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ROUTES_MAX 16

/* A request must arrive within this many seconds, and then its body within as many. */
#define REQUEST_SECONDS 10

/* Bytes that libwebsockets reads at a time, in a buffer for all connections: as much as TLS has in
   a record. */
#define READ_BYTES 16384

/* Seconds for which a browser does not ask again whether a page may use a route. Browsers keep the
   answer no longer. */
#define PREFLIGHT_SECONDS "7200"

#define METHOD_TEXT "This method is not allowed here."

struct http {
    struct http_config config;
    char hsts[32]; /* "" = none */
    struct log_limit refused_limit;
    struct http_route routes[ROUTES_MAX];
    unsigned route_count;
    struct lws_dll2_owner waiting; /* exchanges whose answers come later */
    uint64_t last_ticket;
};

/* The one request of a connection, see http.h. libwebsockets allocates and zeroes an exchange for
   every connection, so the large parts are apart. */
struct exchange {
    struct http *http; /* NULL before the request */
    struct lws *wsi;
    struct pending *pending; /* a request whose body is still coming */
    struct transmission *transmission;
    struct lws_dll2 place; /* its place in the list of those that wait */
    uint64_t ticket;
    bool head_only;
};

struct pending {
    const struct http_route *route;
    struct http_request request;
    size_t capacity;
    char body[];
};

void http_fill_info(struct lws_context_creation_info *info)
{
    info->timeout_secs = REQUEST_SECONDS;
    info->keepalive_timeout = REQUEST_SECONDS;
    info->pt_serv_buf_size = READ_BYTES;
    /* There is one for each connection that may come: clients that send half a request keep theirs
       until their time is up, and nobody should wait for that. */
    info->max_http_header_pool = UINT16_MAX;
}

struct http *http_create(const struct http_config *config)
{
    struct http *http = calloc(1, sizeof *http);
    if (!http)
        return NULL;
    http->config = *config;
    if (config->hsts_seconds > 0)
        snprintf(http->hsts, sizeof http->hsts, "max-age=%u", config->hsts_seconds);
    return http;
}

void http_destroy(struct http *http)
{
    free(http);
}

struct lws_vhost *http_vhost(const struct http *http)
{
    return http->config.vhost;
}

void http_add_route(struct http *http, const struct http_route *route)
{
    if (http->route_count == ROUTES_MAX)
        return;
    http->routes[http->route_count] = *route;
    http->routes[http->route_count++].methods |= route->methods & HTTP_GET ? HTTP_HEAD : 0;
}

bool http_allows(struct http *http, struct lws *wsi, char origin[HTTP_HEADER_MAX])
{
    if (pages_allow(http->config.pages, wsi, origin))
        return true;
    http->config.stats->sessions_refused_origin++;
    unsigned suppressed;
    if (log_limit_pass(&http->refused_limit, loop_now(), &suppressed))
        log_warn("a page of %s refused: --origin does not name it%s", origin,
                 log_suppressed(suppressed).text);
    return false;
}

/* Sends a response, which it takes over. Like the next functions, it returns the result of the
   callback: below 0 when the connection is to be closed. */
static int transmit(struct http *http, struct lws *wsi, struct exchange *exchange,
                    struct http_response *response)
{
    const bool head_only = exchange && exchange->head_only;
    if (http->hsts[0])
        response_add(response, "strict-transport-security", http->hsts);
    struct transmission *transmission =
        transmission_begin(http->config.loop, wsi, response, head_only);
    if (!transmission)
        return -1;
    if (exchange && !transmission_done(transmission)) {
        exchange->transmission = transmission;
        return 0;
    }
    if (transmission_done(transmission))
        linger(http->config.lingers, lws_get_socket_fd(wsi));
    transmission_end(transmission);
    return -1;
}

static int refuse(struct http *http, struct lws *wsi, struct exchange *exchange,
                  enum http_status_code status, const char *text)
{
    struct http_response response = HTTP_RESPONSE;
    response_say(&response, status, text);
    /* The response lets a page whose origin is not allowed read that. */
    if (http->config.pages)
        response_add(&response, "access-control-allow-origin", "*");
    return transmit(http, wsi, exchange, &response);
}

/* Adds the headers by which a browser lets the page read the response (CORS). */
static void add_cors(struct http_response *response, const char *origin)
{
    if (!origin[0])
        return;
    response_add(response, "access-control-allow-origin", origin);
    response_add(response, "access-control-allow-methods", "POST, DELETE, OPTIONS");
    response_add(response, "access-control-allow-headers", "content-type, authorization");
    response_add(response, "access-control-max-age", PREFLIGHT_SECONDS);
    response_add(response, "access-control-expose-headers", "location, retry-after");
    response_add(response, "vary", "origin");
}

/* Calls the handler of a request. */
static int answer(struct exchange *exchange, const struct http_route *route,
                  struct http_request *request)
{
    struct http *http = exchange->http;
    struct http_response response = HTTP_RESPONSE;
    request->rest = request->path + strlen(route->path);
    request->ticket = exchange->ticket = ++http->last_ticket;
    lws_dll2_add_tail(&exchange->place, &http->waiting);
    if (!route->handle(route->context, request, &response)) {
        if (!exchange->place.owner) /* it has been answered meanwhile */
            return exchange->transmission ? 0 : -1;
        lws_set_timeout(exchange->wsi, PENDING_TIMEOUT_HTTP_CONTENT, REQUEST_SECONDS);
        return lws_rx_flow_control(exchange->wsi, 0);
    }
    lws_dll2_remove(&exchange->place);
    if (route->access == HTTP_PAGES)
        add_cors(&response, request->origin);
    return transmit(http, exchange->wsi, exchange, &response);
}

void http_answer(struct http *http, uint64_t ticket, struct http_response *response)
{
    for (struct lws_dll2 *at = lws_dll2_get_head(&http->waiting); at; at = at->next) {
        struct exchange *exchange = lws_container_of(at, struct exchange, place);
        if (exchange->ticket != ticket)
            continue;
        lws_dll2_remove(&exchange->place);
        if (transmit(http, exchange->wsi, exchange, response) < 0)
            lws_set_timeout(exchange->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
        return;
    }
    response_free(response);
}

static bool leads_to(const char *route, const char *path)
{
    const size_t size = strlen(route);
    return route[size - 1] == '/' ? strncmp(path, route, size) == 0 : strcmp(path, route) == 0;
}

/* Finds the route of a request. *place is any route with the same path, or NULL. */
static const struct http_route *find_route(const struct http *http,
                                           const struct http_request *request,
                                           const struct http_route **place)
{
    const struct http_route *found = NULL;
    *place = NULL;
    for (const struct http_route *at = http->routes; at < http->routes + http->route_count; at++) {
        const size_t longest = *place ? strlen((*place)->path) : 0;
        if (!leads_to(at->path, request->path) || strlen(at->path) < longest)
            continue;
        if (strlen(at->path) > longest)
            found = NULL;
        *place = at;
        if (at->methods & request->method)
            found = at;
    }
    return found;
}

/* Returns whether a host is an address. An attacker's page can make any name lead here (DNS
   rebinding), but no address. */
static bool is_address(const char *host)
{
    static const char local[] = "localhost";
    struct socket_address address;
    bool has_port;
    if (strncasecmp(host, local, sizeof local - 1) == 0)
        host = host[sizeof local - 1] == ':' || !host[sizeof local - 1] ? "127.0.0.1" : "";
    return socket_address_parse(host, &address, &has_port);
}

/* Returns NULL when the client may ask at this place, or why it may not. */
static const char *why_forbidden(struct http *http, struct lws *wsi, enum http_access access,
                                 struct http_request *request)
{
    if (access == HTTP_PAGES && !http_allows(http, wsi, request->origin))
        return "Pages of this origin are not allowed here.";
    if (access == HTTP_NO_PAGES && (request->origin[0] || !is_address(request->host)))
        return "Pages may not ask this: no Origin header is allowed, and the host must be an IP "
               "address or localhost.";
    return NULL;
}

/* Waits for the body of a request. */
static int await_body(struct exchange *exchange, const struct http_route *route,
                      const struct http_request *request)
{
    struct pending *pending = malloc(sizeof *pending + route->body_max + 1);
    if (!pending)
        return -1;
    pending->route = route;
    pending->request = *request;
    pending->request.size = 0;
    pending->capacity = route->body_max;
    exchange->pending = pending;
    /* The body comes in later callbacks, also when it is empty. libwebsockets would wait as long as
       some of it still comes. */
    lws_set_timer_usecs(exchange->wsi, REQUEST_SECONDS * LWS_USEC_PER_SEC);
    return 0;
}

/* Checks a request that has been read, and has it answered, at once or when its body has come. */
static int route_request(struct exchange *exchange, struct http_request *request)
{
    struct http *http = exchange->http;
    struct lws *wsi = exchange->wsi;
    const struct http_route *place;
    const struct http_route *route = find_route(http, request, &place);
    if (!place)
        return refuse(http, wsi, exchange, HTTP_NOT_FOUND, "There is no such page.");
    const char *why = why_forbidden(http, wsi, place->access, request);
    if (why)
        return refuse(http, wsi, exchange, HTTP_FORBIDDEN, why);
    if (!route && place->access == HTTP_PAGES && request->method == HTTP_OPTIONS) {
        struct http_response response = HTTP_RESPONSE;
        response.status = HTTP_NO_CONTENT;
        add_cors(&response, request->origin);
        return transmit(http, wsi, exchange, &response);
    }
    if (!route)
        return refuse(http, wsi, exchange, HTTP_METHOD_NOT_ALLOWED, METHOD_TEXT);
    if (route->body_max == HTTP_BODY_UNREAD)
        return answer(exchange, route, request);
    if (request->length > (int64_t)route->body_max)
        return refuse(http, wsi, exchange, HTTP_CONTENT_TOO_LARGE, "The body is too long.");
    if (request->method != HTTP_POST)
        return answer(exchange, route, request);
    if (request->length < 0)
        return refuse(http, wsi, exchange, HTTP_LENGTH_REQUIRED, "A POST needs a Content-Length.");
    return await_body(exchange, route, request);
}

static int on_request(struct http *http, struct lws *wsi, struct exchange *exchange)
{
    struct http_request request;
    const char *why;
    exchange->http = http;
    exchange->wsi = wsi;
    exchange->head_only = lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0;
    const enum http_status_code status = request_read(wsi, &request, &why);
    if (status != HTTP_OK)
        return refuse(http, wsi, exchange, status, why);
    if (http->config.pages && !pages_know_client(http->config.pages, wsi))
        return -1;
    request.client = *pre_session_limit_client(wsi);
    request.body = "";
    request.size = 0;
    return route_request(exchange, &request);
}

/* Checks the list of subprotocols of a WebSocket. Returns NULL, or why it is refused. */
static const char *check_subprotocols(struct lws *wsi, const char *upgrade)
{
    char protocols[HTTP_HEADER_MAX];
    struct subprotocol_wishes wishes;
    enum subprotocol subprotocol = SUBPROTOCOL_MISSING;
    if (strcasecmp(upgrade, "websocket") == 0 &&
        header_copy(wsi, WSI_TOKEN_PROTOCOL, protocols, sizeof protocols))
        subprotocol = subprotocol_read(protocols, &wishes);
    switch (subprotocol) {
    case SUBPROTOCOL_OK:
        return NULL;
    case SUBPROTOCOL_BAD_KEY:
        return "A session key is 22 letters, digits, - or _, and there is only one.";
    case SUBPROTOCOL_BAD_SERVER:
        return "A game server is named once, as in 10.0.0.5_7000 or 2001-db8--5_7000.";
    case SUBPROTOCOL_BAD_SUBFLOW:
        return "The subprotocol of a subflow has a number from 1 to 4, and is the only one.";
    default:
        return "This is for WebSockets with the subprotocol " WEBSOCKET_SUBPROTOCOL ".";
    }
}

/* Decides about a request for a WebSocket. Returns 0 to let the upgrade go on. */
static int on_upgrade(struct http *http, struct lws *wsi, const char *upgrade)
{
    int64_t length;
    const char *why = "There are no WebSockets here.";
    if (!http->config.websockets)
        return refuse(http, wsi, NULL, HTTP_BAD_REQUEST, why);
    enum http_status_code status = request_check(wsi, &length, &why);
    if (status == HTTP_OK && !pages_know_client(http->config.pages, wsi))
        return -1;
    if (status == HTTP_OK && (why = check_subprotocols(wsi, upgrade)))
        status = HTTP_BAD_REQUEST;
    return status == HTTP_OK ? 0 : refuse(http, wsi, NULL, status, why);
}

static int on_body(struct exchange *exchange, const void *data, size_t size)
{
    struct pending *pending = exchange->pending;
    if (!pending || size > pending->capacity - pending->request.size)
        return -1;
    if (size > 0)
        memcpy(pending->body + pending->request.size, data, size);
    pending->request.size += size;
    return 0;
}

static int on_whole_body(struct exchange *exchange)
{
    struct pending *pending = exchange->pending;
    if (!pending)
        return -1;
    exchange->pending = NULL;
    pending->body[pending->request.size] = '\0';
    pending->request.body = pending->body;
    const int result = answer(exchange, pending->route, &pending->request);
    free(pending);
    return result;
}

static void end_exchange(struct exchange *exchange)
{
    if (exchange->transmission) {
        if (transmission_done(exchange->transmission))
            linger(exchange->http->config.lingers, lws_get_socket_fd(exchange->wsi));
        transmission_end(exchange->transmission);
    }
    lws_dll2_remove(&exchange->place);
    free(exchange->pending);
    *exchange = (struct exchange){0};
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t size)
{
    struct exchange *exchange = user;
    struct http *http = wsi ? pre_session_limit_owner(wsi) : NULL;
    switch (reason) {
    case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS:
        return tls_serve(lws_get_vhost_user(in), user) && tls_turns_serve(user) ? 0 : -1;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return http ? on_upgrade(http, wsi, in) : -1;
    case LWS_CALLBACK_HTTP:
        return http ? on_request(http, wsi, exchange) : -1;
    case LWS_CALLBACK_RAW_ADOPT: /* a CONNECT */
        return http ? refuse(http, wsi, NULL, HTTP_METHOD_NOT_ALLOWED, METHOD_TEXT) : -1;
    case LWS_CALLBACK_HTTP_BODY:
        return on_body(exchange, in, size);
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        return on_whole_body(exchange);
    case LWS_CALLBACK_TIMER:
        /* The timer is left armed, since taking it back would let it fire at once: it may find that
           all has come. */
        return exchange && exchange->pending ? -1 : 0;
    case LWS_CALLBACK_WSI_DESTROY:
        pre_session_limit_leave(wsi);
        return 0;
    case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
        if (exchange)
            end_exchange(exchange);
        return 0;
    default:
        return 0;
    }
}

struct lws_protocols http_protocol(void)
{
    /* The name is not a token, so no client can ask for it as a subprotocol. */
    return (struct lws_protocols){
        .name = "(http)",
        .callback = on_event,
        .per_session_data_size = sizeof(struct exchange),
    };
}

struct lws_vhost *http_add_plain_vhost(struct loop *loop)
{
    static struct lws_protocols protocols[2];
    protocols[0] = http_protocol();
    struct lws_context_creation_info info = {
        /* Among vhosts with the same port, libwebsockets chooses the one that a request's Host
           names. */
        .port = CONTEXT_PORT_NO_LISTEN,
        .protocols = protocols,
        .vhost_name = "plain",
    };
    http_fill_info(&info);
    return loop_add_vhost(loop, &info);
}
