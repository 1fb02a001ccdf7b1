#include "http.h"

#include "files.h"
#include "log.h"
#include "loop.h"
#include "visitors.h"
#include "websocket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define ROUTES_MAX 4
#define HEADER_MAX 512
/* For the body of a request to come whole. */
#define BODY_SECONDS 10

struct http {
    char root[PATH_MAX]; /* "" = none */
    const struct origin_list *origins;
    struct log_limit refused_limit;
    struct stats *stats;
    struct http_route routes[ROUTES_MAX];
    unsigned route_count;
};

/* A request to a route whose body is still coming. Allocated and zeroed by libwebsockets for every
   connection, so the large parts are apart. */
struct exchange {
    struct pending *pending;
};

struct pending {
    const struct http_route *route;
    const char *method;
    char path[256];
    char origin[HEADER_MAX];
    char host[HEADER_MAX];
    char content_type[128];
    char authorization[HEADER_MAX];
    struct http_reply reply;
    bool too_long;
    size_t size;
    uint8_t body[];
};

struct http *http_create(const char *root, const struct origin_list *origins, struct stats *stats)
{
    struct http *http = calloc(1, sizeof *http);
    if (!http)
        return NULL;
    http->origins = origins;
    http->stats = stats;
    struct stat status;
    if (!root)
        return http;
    if (realpath(root, http->root) && stat(http->root, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return http;
        errno = ENOTDIR;
    }
    free(http);
    return NULL;
}

void http_destroy(struct http *http)
{
    free(http);
}

void http_add_route(struct http *http, const struct http_route *route)
{
    if (http->route_count < ROUTES_MAX)
        http->routes[http->route_count++] = *route;
}

/* The value of a header, "" when there is none; false when it is longer than the buffer. */
static bool header(struct lws *wsi, enum lws_token_indexes token, char *out, size_t capacity)
{
    out[0] = '\0';
    return lws_hdr_total_length(wsi, token) == 0 ||
           lws_hdr_copy(wsi, out, (int)capacity, token) >= 0;
}

/* Checks the Origin header; a refusal is counted and logged. */
static bool allowed(struct http *http, struct lws *wsi, char origin[HEADER_MAX])
{
    char host[HEADER_MAX];
    if (header(wsi, WSI_TOKEN_ORIGIN, origin, HEADER_MAX) &&
        header(wsi, WSI_TOKEN_HOST, host, sizeof host) &&
        origin_allowed(http->origins, origin, host))
        return true;
    http->stats->sessions_refused_origin++;
    unsigned held;
    if (log_limit_pass(&http->refused_limit, loop_now(), &held))
        log_warn(
            "a page of %s refused: --origin does not name it (%u more since the last such line)",
            origin, held);
    return false;
}

static bool has_subprotocol(const char *list)
{
    size_t size = strlen(WEBSOCKET_SUBPROTOCOL);
    while (*list) {
        list += strspn(list, ", \t");
        size_t token = strcspn(list, ", \t");
        if (token == size && memcmp(list, WEBSOCKET_SUBPROTOCOL, size) == 0)
            return true;
        list += token;
    }
    return false;
}

/* Ends the transaction with a status and no more; for use in a callback's return. */
static int finish(struct lws *wsi, unsigned status)
{
    if (lws_return_http_status(wsi, status, NULL) != 0 || lws_http_transaction_completed(wsi) != 0)
        return -1;
    return 0;
}

/* 0 lets the upgrade go on; above 0 the refusal has been sent. */
static int on_upgrade(struct http *http, struct lws *wsi, const char *upgrade)
{
    char origin[HEADER_MAX];
    char protocols[HEADER_MAX];
    unsigned status = 0;
    if (strcasecmp(upgrade, "websocket") != 0 ||
        !header(wsi, WSI_TOKEN_PROTOCOL, protocols, sizeof protocols) ||
        !has_subprotocol(protocols))
        status = HTTP_STATUS_BAD_REQUEST;
    else if (!allowed(http, wsi, origin))
        status = HTTP_STATUS_FORBIDDEN;
    if (status == 0)
        return 0;
    return lws_return_http_status(wsi, status, NULL) != 0 ? -1 : 1;
}

static int serve_file(struct http *http, struct lws *wsi, const char *path)
{
    struct file file;
    enum file_result found = http->root[0] ? file_find(http->root, path, &file) : FILE_MISSING;
    if (found == FILE_MISSING)
        return finish(wsi, HTTP_STATUS_NOT_FOUND);

    unsigned char buffer[LWS_PRE + PATH_MAX + 512];
    unsigned char *start = buffer + LWS_PRE;
    unsigned char *at = start;
    unsigned char *end = buffer + sizeof buffer - 1;
    if (found == FILE_DIRECTORY) {
        char target[PATH_MAX];
        int size = snprintf(target, sizeof target, "%s/", path);
        if (size < 0 || (size_t)size >= sizeof target ||
            lws_http_redirect(wsi, HTTP_STATUS_MOVED_PERMANENTLY, (unsigned char *)target, size,
                              &at, end) < 0)
            return -1;
        return lws_http_transaction_completed(wsi) ? -1 : 0;
    }
    char known[128];
    if (header(wsi, WSI_TOKEN_HTTP_IF_NONE_MATCH, known, sizeof known) &&
        strstr(known, file.etag)) {
        if (lws_add_http_header_status(wsi, HTTP_STATUS_NOT_MODIFIED, &at, end) ||
            lws_add_http_header_by_name(
                wsi, (const unsigned char *)"etag:", (const unsigned char *)file.etag,
                (int)strlen(file.etag), &at, end) ||
            lws_finalize_write_http_header(wsi, start, &at, end))
            return -1;
        return lws_http_transaction_completed(wsi) ? -1 : 0;
    }
    /* no-cache: a browser keeps the file but asks each time whether it has changed. */
    int size = snprintf(
        (char *)start, (size_t)(end - start),
        "etag: %s\r\ncache-control: no-cache\r\nx-content-type-options: nosniff\r\n", file.etag);
    int result = lws_serve_http_file(wsi, file.path, file.type, (const char *)start, size);
    if (result < 0 || (result > 0 && lws_http_transaction_completed(wsi)))
        return -1;
    return 0;
}

static bool add(struct lws *wsi, const char *name, const char *value, unsigned char **at,
                unsigned char *end)
{
    return lws_add_http_header_by_name(wsi, (const unsigned char *)name,
                                       (const unsigned char *)value, (int)strlen(value), at,
                                       end) == 0;
}

static int send_reply(struct lws *wsi, const struct http_reply *reply, const char *origin)
{
    unsigned char buffer[LWS_PRE + 2048 + HTTP_REPLY_MAX];
    unsigned char *start = buffer + LWS_PRE;
    unsigned char *at = start;
    unsigned char *end = start + 2048;
    if (lws_add_http_common_headers(wsi, reply->status,
                                    reply->content_type ? reply->content_type : "text/plain",
                                    reply->size, &at, end) ||
        !add(wsi, "cache-control:", "no-store", &at, end))
        return -1;
    if (reply->location[0] && !add(wsi, "location:", reply->location, &at, end))
        return -1;
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%u", reply->retry_after);
    if (reply->retry_after > 0 && !add(wsi, "retry-after:", seconds, &at, end))
        return -1;
    if (origin[0] &&
        (!add(wsi, "access-control-allow-origin:", origin, &at, end) ||
         !add(wsi, "access-control-allow-methods:", "POST, DELETE, OPTIONS", &at, end) ||
         !add(wsi, "access-control-allow-headers:", "content-type, authorization", &at, end) ||
         !add(wsi, "access-control-expose-headers:", "location, retry-after", &at, end) ||
         !add(wsi, "vary:", "origin", &at, end)))
        return -1;
    if (lws_finalize_http_header(wsi, &at, end))
        return -1;
    size_t size = (size_t)(at - start);
    memcpy(at, reply->body, reply->size);
    size += reply->size;
    if (lws_write(wsi, start, size, LWS_WRITE_HTTP_HEADERS) < (int)size)
        return -1;
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int answer(struct lws *wsi, struct exchange *exchange)
{
    struct pending *pending = exchange->pending;
    pending->reply.status = pending->too_long ? HTTP_STATUS_REQ_ENTITY_TOO_LARGE : HTTP_STATUS_OK;
    if (!pending->too_long) {
        struct http_request request = {
            .method = pending->method,
            .path = pending->path,
            .content_type = pending->content_type,
            .authorization = pending->authorization,
            .host = pending->host,
            .body = pending->body,
            .size = pending->size,
            .client.size = sizeof request.client.address,
            .local.size = sizeof request.local.address,
        };
        int fd = lws_get_socket_fd(wsi);
        getpeername(fd, (struct sockaddr *)&request.client.address, &request.client.size);
        getsockname(fd, (struct sockaddr *)&request.local.address, &request.local.size);
        pending->route->handle(pending->route->context, &request, &pending->reply);
    }
    /* Completing the transaction may drop the exchange. */
    exchange->pending = NULL;
    int result = send_reply(wsi, &pending->reply, pending->origin);
    free(pending);
    return result;
}

static const struct http_route *find_route(const struct http *http, const char *path)
{
    for (unsigned i = 0; i < http->route_count; i++) {
        size_t size = strlen(http->routes[i].path);
        if (strncmp(path, http->routes[i].path, size) == 0 &&
            (path[size] == '\0' || path[size] == '/'))
            return &http->routes[i];
    }
    return NULL;
}

static int begin_exchange(struct http *http, struct lws *wsi, struct exchange *exchange,
                          const struct http_route *route, int method, const char *path)
{
    char origin[HEADER_MAX];
    if (!allowed(http, wsi, origin))
        return finish(wsi, HTTP_STATUS_FORBIDDEN);
    if (method == LWSHUMETH_OPTIONS) {
        struct http_reply reply = {.status = HTTP_STATUS_NO_CONTENT};
        return send_reply(wsi, &reply, origin);
    }
    if (method != LWSHUMETH_POST && method != LWSHUMETH_DELETE)
        return finish(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED);
    free(exchange->pending);
    struct pending *pending = calloc(1, sizeof *pending + route->body_max);
    exchange->pending = pending;
    if (!pending || strlen(path) >= sizeof pending->path ||
        !header(wsi, WSI_TOKEN_HTTP_CONTENT_TYPE, pending->content_type,
                sizeof pending->content_type) ||
        !header(wsi, WSI_TOKEN_HTTP_AUTHORIZATION, pending->authorization,
                sizeof pending->authorization) ||
        !header(wsi, WSI_TOKEN_HOST, pending->host, sizeof pending->host))
        return -1;
    strcpy(pending->path, path);
    strcpy(pending->origin, origin);
    pending->route = route;
    pending->method = method == LWSHUMETH_POST ? "POST" : "DELETE";
    if (method == LWSHUMETH_DELETE)
        return answer(wsi, exchange);
    /* Its body comes in later callbacks, also when it is empty. libwebsockets would wait for as
       long as some of it comes. */
    lws_set_timer_usecs(wsi, BODY_SECONDS * LWS_USEC_PER_SEC);
    return 0;
}

static int on_request(struct http *http, struct lws *wsi, struct exchange *exchange)
{
    char *uri;
    int size;
    char path[PATH_MAX];
    int method = lws_http_get_uri_and_method(wsi, &uri, &size);
    if (method < 0 || size <= 0 || (size_t)size >= sizeof path)
        return -1;
    memcpy(path, uri, (size_t)size);
    path[size] = '\0';
    const struct http_route *route = find_route(http, path);
    if (route)
        return begin_exchange(http, wsi, exchange, route, method, path);
    if (method != LWSHUMETH_GET && method != LWSHUMETH_HEAD)
        return finish(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED);
    return serve_file(http, wsi, path);
}

static void on_body(struct exchange *exchange, const void *data, size_t size)
{
    struct pending *pending = exchange->pending;
    if (!pending || size == 0)
        return;
    if (size > pending->route->body_max - pending->size) {
        pending->too_long = true;
        return;
    }
    memcpy(pending->body + pending->size, data, size);
    pending->size += size;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t size)
{
    struct exchange *exchange = user;
    const struct lws_protocols *protocol = wsi ? lws_get_protocol(wsi) : NULL;
    struct http *http = protocol && protocol->user ? *(struct http **)protocol->user : NULL;
    switch (reason) {
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return on_upgrade(http, wsi, in);
    case LWS_CALLBACK_HTTP:
        return on_request(http, wsi, exchange);
    case LWS_CALLBACK_HTTP_BODY:
        on_body(exchange, in, size);
        return 0;
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        return exchange->pending ? answer(wsi, exchange) : 0;
    case LWS_CALLBACK_HTTP_FILE_COMPLETION:
        return lws_http_transaction_completed(wsi) ? -1 : 0;
    case LWS_CALLBACK_TIMER:
        /* Taking the timer back would let it fire at once: it may find that all has come. */
        return exchange && exchange->pending ? -1 : 0;
    case LWS_CALLBACK_WSI_DESTROY:
        visitors_leave(wsi);
        return 0;
    case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
    case LWS_CALLBACK_CLOSED_HTTP:
        if (exchange) {
            free(exchange->pending);
            exchange->pending = NULL;
        }
        return 0;
    default:
        return 0;
    }
}

struct lws_protocols http_protocol(struct http **http)
{
    /* Not a token, so no client can ask for it as a subprotocol. */
    return (struct lws_protocols){
        .name = "(http)",
        .callback = on_event,
        .per_session_data_size = sizeof(struct exchange),
        .user = http,
    };
}
