#include "http/http.h"

#include "http/download.h"
#include "http/files.h"
#include "http/header.h"
#include "http/reply.h"
#include "http/subprotocol.h"
#include "limits/pre_session_limit.h"
#include "os/linger.h"
#include "os/log.h"
#include "os/tls.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROUTES_MAX  4
#define ORIGIN_TEXT "Pages of this origin are not allowed here."
#define METHOD_TEXT "This method is not allowed here."
#define KEY_TEXT    "A session key is 22 letters, digits, - or _, and there is only one."
#define SERVER_TEXT "A game server is named once, as in 10.0.0.5_7000 or 2001-db8--5_7000."
#define LINE_TEXT   "The first line of the request has no version, or an encoded line break."
#define LENGTH_TEXT "A body needs one Content-Length and no Transfer-Encoding."
/* Seconds for which a browser does not ask again whether a page may use a route. Browsers keep the
   answer no longer. */
#define PREFLIGHT_SECONDS "7200"
/* Seconds for the body of a request to come whole. */
#define BODY_SECONDS 10

struct http {
    char root[PATH_MAX]; /* "" = none */
    const struct http_pages *pages;
    char hsts[32]; /* "" = none */
    struct loop *loop;
    struct lingers *lingers;
    struct log_limit refused_limit;
    struct stats *stats;
    struct http_route routes[ROUTES_MAX];
    unsigned route_count;
};

/* The first lines of a request. */
struct request_head {
    int method;     /* LWSHUMETH_... */
    int64_t length; /* the length of its body; -1 when it does not say */
    char path[PATH_MAX];
};

/* The one request of a connection. There is never a second one: libwebsockets reads requests that
   came together with the one before into buffers that its replies overwrite, and can loop for ever
   over their bodies. So every reply ends its connection. libwebsockets allocates and zeroes an
   exchange for every connection, so the large parts are apart. */
struct exchange {
    struct pending *pending;   /* a request to a route whose body is still coming */
    struct download *download; /* the reply is a file */
};

struct pending {
    const struct http_route *route;
    const char *method;
    char path[256];
    char origin[HTTP_HEADER_MAX];
    char host[HTTP_HEADER_MAX];
    char content_type[128];
    char authorization[HTTP_HEADER_MAX];
    struct http_reply reply;
    size_t size;
    size_t capacity;
    uint8_t body[];
};

struct http *http_create(const char *root, const struct http_pages *pages, struct loop *loop,
                         struct stats *stats)
{
    struct http *http = calloc(1, sizeof *http);
    if (!http)
        return NULL;
    http->loop = loop;
    http->lingers = lingers_create(loop);
    http->pages = pages;
    http->stats = stats;
    struct stat status;
    if (!root && http->lingers)
        return http;
    if (http->lingers && realpath(root, http->root) && stat(http->root, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return http;
        errno = ENOTDIR;
    }
    int error = errno;
    http_destroy(http);
    errno = error;
    return NULL;
}

void http_close(struct http *http)
{
    if (http)
        lingers_close(http->lingers);
}

void http_destroy(struct http *http)
{
    if (!http)
        return;
    lingers_destroy(http->lingers);
    free(http);
}

void http_add_route(struct http *http, const struct http_route *route)
{
    if (http->route_count < ROUTES_MAX)
        http->routes[http->route_count++] = *route;
}

bool http_allows(struct http *http, struct lws *wsi, char origin[HTTP_HEADER_MAX])
{
    if (pages_allow(http->pages, wsi, origin))
        return true;
    http->stats->sessions_refused_origin++;
    unsigned held;
    if (log_limit_pass(&http->refused_limit, loop_now(), &held))
        log_warn("a page of %s refused: --origin does not name it%s", origin, log_held(held).text);
    return false;
}

void http_set_hsts(struct http *http, unsigned seconds)
{
    snprintf(http->hsts, sizeof http->hsts, seconds > 0 ? "max-age=%u" : "", seconds);
}

static bool begin_reply(const struct http *http, struct reply *reply, struct lws *wsi,
                        unsigned status, const char *type, uint64_t size)
{
    return reply_begin(reply, wsi, status, type, size) &&
           (!http->hsts[0] || reply_add(reply, "strict-transport-security:", http->hsts));
}

/* Sends a reply and ends the connection. Like the next functions, it returns what the callback has
   to return. */
static int send_last(struct http *http, struct reply *reply, const void *body, size_t size)
{
    if (reply_send(reply, body, size) && !lws_partial_buffered(reply->wsi))
        linger(http->lingers, lws_get_socket_fd(reply->wsi));
    return -1;
}

static int refuse(struct http *http, struct lws *wsi, unsigned status, const char *text)
{
    struct reply reply;
    size_t size = strlen(text);
    /* A page whose origin is not allowed may read that it is not. */
    if (!begin_reply(http, &reply, wsi, status, "text/plain", size) ||
        !reply_add(&reply, "access-control-allow-origin:", "*"))
        return -1;
    return send_last(http, &reply, text, size);
}

/* Reads how long the body of a request is to be; -1 when the request does not say. Returns 0, or
   the status for a request that could be read in two ways, or that tells its length only as the
   body comes. */
static unsigned read_length(struct lws *wsi, int64_t *out)
{
    char text[64];
    bool told = lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH) > 0;
    *out = -1;
    if (lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_TRANSFER_ENCODING) > 0)
        return told ? HTTP_STATUS_BAD_REQUEST : HTTP_STATUS_LENGTH_REQUIRED;
    if (!told)
        return 0;
    if (!header_copy(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH, text, sizeof text) || text[0] < '0' ||
        text[0] > '9')
        return HTTP_STATUS_BAD_REQUEST;
    char *end;
    *out = strtoll(text, &end, 10); /* a length that does not fit becomes the largest number */
    /* When a request has two lengths, the text has both, with a comma between them. */
    return end[strspn(end, " \t")] == '\0' ? 0 : HTTP_STATUS_BAD_REQUEST;
}

/* Decides about a request for a WebSocket. Returns 0 to let the upgrade go on. */
static int on_upgrade(struct http *http, struct lws *wsi, const char *upgrade)
{
    char protocols[HTTP_HEADER_MAX];
    struct subprotocol_wishes wishes;
    enum subprotocol subprotocol = SUBPROTOCOL_MISSING;
    int64_t length;
    if (!header_line_whole(wsi))
        return refuse(http, wsi, HTTP_STATUS_BAD_REQUEST, LINE_TEXT);
    if (!pages_know_client(http->pages, wsi))
        return -1;
    unsigned status = read_length(wsi, &length);
    if (status != 0)
        return refuse(http, wsi, status, LENGTH_TEXT);
    if (strcasecmp(upgrade, "websocket") == 0 &&
        header_copy(wsi, WSI_TOKEN_PROTOCOL, protocols, sizeof protocols))
        subprotocol = subprotocol_read(protocols, &wishes);
    if (subprotocol == SUBPROTOCOL_BAD_KEY)
        return refuse(http, wsi, HTTP_STATUS_BAD_REQUEST, KEY_TEXT);
    if (subprotocol == SUBPROTOCOL_BAD_SERVER)
        return refuse(http, wsi, HTTP_STATUS_BAD_REQUEST, SERVER_TEXT);
    if (subprotocol == SUBPROTOCOL_MISSING)
        return refuse(http, wsi, HTTP_STATUS_BAD_REQUEST,
                      "This is for WebSockets with the subprotocol " WEBSOCKET_SUBPROTOCOL ".");
    return 0;
}

/* Sends a file, whose descriptor it takes over. */
static int send_file(struct http *http, struct lws *wsi, struct exchange *exchange,
                     const struct file *file)
{
    struct reply reply;
    /* no-cache: a browser keeps the file but asks each time whether it has changed. */
    bool begun = begin_reply(http, &reply, wsi, HTTP_STATUS_OK, file->type, (uint64_t)file->size) &&
                 reply_add(&reply, "etag:", file->etag) &&
                 reply_add(&reply, "cache-control:", "no-cache") &&
                 reply_add(&reply, "x-content-type-options:", "nosniff");
    if (!begun || file->size == 0 || lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0) {
        close(file->fd);
        return begun ? send_last(http, &reply, NULL, 0) : -1;
    }
    size_t head = reply_head(&reply);
    exchange->download =
        download_begin(http->loop, wsi, reply.bytes + LWS_PRE, head, file->fd, file->size);
    return exchange->download ? 0 : -1;
}

/* Tells the client that the file which it knows has not changed. */
static int send_unchanged(struct http *http, struct lws *wsi, const struct file *file)
{
    struct reply reply;
    close(file->fd);
    if (!begin_reply(http, &reply, wsi, HTTP_STATUS_NOT_MODIFIED, NULL, 0) ||
        !reply_add(&reply, "etag:", file->etag))
        return -1;
    return send_last(http, &reply, NULL, 0);
}

static int redirect(struct http *http, struct lws *wsi, const char *path)
{
    struct reply reply;
    char target[PATH_MAX];
    int size = snprintf(target, sizeof target, "%s/", path);
    if (size < 0 || (size_t)size >= sizeof target ||
        !begin_reply(http, &reply, wsi, HTTP_STATUS_MOVED_PERMANENTLY, "text/plain", 0) ||
        !reply_add(&reply, "location:", target))
        return -1;
    return send_last(http, &reply, NULL, 0);
}

static int serve_file(struct http *http, struct lws *wsi, struct exchange *exchange,
                      const char *path)
{
    struct file file;
    enum file_result found = http->root[0] ? file_find(http->root, path, &file) : FILE_MISSING;
    if (found == FILE_MISSING)
        return refuse(http, wsi, HTTP_STATUS_NOT_FOUND, "There is no such file.");
    if (found == FILE_BUSY)
        return refuse(http, wsi, HTTP_STATUS_SERVICE_UNAVAILABLE, "Too many files are open.");
    if (found == FILE_DIRECTORY)
        return redirect(http, wsi, path);
    char known[128];
    if (header_copy(wsi, WSI_TOKEN_HTTP_IF_NONE_MATCH, known, sizeof known) &&
        strstr(known, file.etag))
        return send_unchanged(http, wsi, &file);
    return send_file(http, wsi, exchange, &file);
}

static int send_reply(struct http *http, struct lws *wsi, const struct http_reply *reply,
                      const char *origin)
{
    struct reply out;
    if (!begin_reply(http, &out, wsi, reply->status, reply->content_type, reply->size) ||
        !reply_add(&out, "cache-control:", "no-store"))
        return -1;
    if (reply->location[0] && !reply_add(&out, "location:", reply->location))
        return -1;
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%u", reply->retry_after);
    if (reply->retry_after > 0 && !reply_add(&out, "retry-after:", seconds))
        return -1;
    if (origin[0] &&
        (!reply_add(&out, "access-control-allow-origin:", origin) ||
         !reply_add(&out, "access-control-allow-methods:", "POST, DELETE, OPTIONS") ||
         !reply_add(&out, "access-control-allow-headers:", "content-type, authorization") ||
         !reply_add(&out, "access-control-max-age:", PREFLIGHT_SECONDS) ||
         !reply_add(&out, "access-control-expose-headers:", "location, retry-after") ||
         !reply_add(&out, "vary:", "origin")))
        return -1;
    return send_last(http, &out, reply->body, reply->size);
}

static int answer(struct http *http, struct lws *wsi, struct exchange *exchange)
{
    struct pending *pending = exchange->pending;
    struct http_request request = {
        .method = pending->method,
        .path = pending->path,
        .content_type = pending->content_type,
        .authorization = pending->authorization,
        .host = pending->host,
        .origin = pending->origin,
        .body = pending->body,
        .size = pending->size,
        .client = *pre_session_limit_client(wsi),
        .local.size = sizeof request.local.address,
    };
    int fd = lws_get_socket_fd(wsi);
    getsockname(fd, (struct sockaddr *)&request.local.address, &request.local.size);
    pending->reply.status = HTTP_STATUS_OK;
    pending->route->handle(pending->route->context, &request, &pending->reply);
    exchange->pending = NULL;
    int result = send_reply(http, wsi, &pending->reply, pending->origin);
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

/* Keeps the parts of a POST or DELETE that its handler needs. Returns NULL when a header is too
   long or there is no memory. */
static struct pending *pending_create(const struct http_route *route, struct lws *wsi,
                                      const struct request_head *head, const char *origin)
{
    bool has_body = head->method == LWSHUMETH_POST;
    size_t capacity = has_body ? route->body_max : 0;
    struct pending *pending = calloc(1, sizeof *pending + capacity);
    if (!pending)
        return NULL;
    if (strlen(head->path) >= sizeof pending->path ||
        !header_copy(wsi, WSI_TOKEN_HTTP_CONTENT_TYPE, pending->content_type,
                     sizeof pending->content_type) ||
        !header_copy(wsi, WSI_TOKEN_HTTP_AUTHORIZATION, pending->authorization,
                     sizeof pending->authorization) ||
        !header_copy(wsi, WSI_TOKEN_HOST, pending->host, sizeof pending->host)) {
        free(pending);
        return NULL;
    }
    strcpy(pending->path, head->path);
    strcpy(pending->origin, origin);
    pending->route = route;
    pending->capacity = capacity;
    pending->method = has_body ? "POST" : "DELETE";
    return pending;
}

static int begin_exchange(struct http *http, struct lws *wsi, struct exchange *exchange,
                          const struct http_route *route, const struct request_head *head)
{
    char origin[HTTP_HEADER_MAX];
    if (!http_allows(http, wsi, origin))
        return refuse(http, wsi, HTTP_STATUS_FORBIDDEN, ORIGIN_TEXT);
    if (head->method == LWSHUMETH_OPTIONS) {
        struct http_reply reply = {.status = HTTP_STATUS_NO_CONTENT};
        return send_reply(http, wsi, &reply, origin);
    }
    if (head->method != LWSHUMETH_POST && head->method != LWSHUMETH_DELETE)
        return refuse(http, wsi, HTTP_STATUS_METHOD_NOT_ALLOWED, METHOD_TEXT);
    if (head->method == LWSHUMETH_POST && head->length < 0)
        return refuse(http, wsi, HTTP_STATUS_LENGTH_REQUIRED, LENGTH_TEXT);
    if (head->method == LWSHUMETH_POST && head->length > (int64_t)route->body_max) {
        struct http_reply reply = {.status = HTTP_STATUS_REQ_ENTITY_TOO_LARGE};
        return send_reply(http, wsi, &reply, origin);
    }
    exchange->pending = pending_create(route, wsi, head, origin);
    if (!exchange->pending)
        return -1;
    if (head->method == LWSHUMETH_DELETE)
        return answer(http, wsi, exchange);
    /* The body comes in later callbacks, also when it is empty. libwebsockets would wait as long as
       some of it still comes. */
    lws_set_timer_usecs(wsi, BODY_SECONDS * LWS_USEC_PER_SEC);
    return 0;
}

static int on_request(struct http *http, struct lws *wsi, struct exchange *exchange)
{
    char *uri;
    int size;
    struct request_head head;
    if (!header_line_whole(wsi))
        return refuse(http, wsi, HTTP_STATUS_BAD_REQUEST, LINE_TEXT);
    if (!pages_know_client(http->pages, wsi))
        return -1;
    head.method = lws_http_get_uri_and_method(wsi, &uri, &size);
    if (head.method < 0 || size <= 0 || (size_t)size >= sizeof head.path)
        return -1;
    memcpy(head.path, uri, (size_t)size);
    head.path[size] = '\0';
    unsigned status = read_length(wsi, &head.length);
    if (status != 0)
        return refuse(http, wsi, status, LENGTH_TEXT);
    const struct http_route *route = find_route(http, head.path);
    if (route)
        return begin_exchange(http, wsi, exchange, route, &head);
    if (head.method != LWSHUMETH_GET && head.method != LWSHUMETH_HEAD)
        return refuse(http, wsi, HTTP_STATUS_METHOD_NOT_ALLOWED, METHOD_TEXT);
    if (head.length > 0)
        return refuse(http, wsi, HTTP_STATUS_REQ_ENTITY_TOO_LARGE, "Files take no body.");
    return serve_file(http, wsi, exchange, head.path);
}

static int on_body(struct exchange *exchange, const void *data, size_t size)
{
    struct pending *pending = exchange->pending;
    if (!pending || size > pending->capacity - pending->size)
        return -1;
    if (size > 0)
        memcpy(pending->body + pending->size, data, size);
    pending->size += size;
    return 0;
}

static void end_exchange(struct http *http, struct lws *wsi, struct exchange *exchange)
{
    if (exchange->download && download_end(exchange->download))
        linger(http->lingers, lws_get_socket_fd(wsi));
    free(exchange->pending);
    *exchange = (struct exchange){0};
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t size)
{
    struct exchange *exchange = user;
    const struct lws_protocols *protocol = wsi ? lws_get_protocol(wsi) : NULL;
    struct http *http = protocol && protocol->user ? *(struct http **)protocol->user : NULL;
    switch (reason) {
    case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS:
        return tls_serve(lws_get_vhost_user(in), user) && tls_turns_serve(user) ? 0 : -1;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return on_upgrade(http, wsi, in);
    case LWS_CALLBACK_HTTP:
        return on_request(http, wsi, exchange);
    case LWS_CALLBACK_RAW_ADOPT:
        /* This is a CONNECT. libwebsockets would keep the connection for ever, and read whatever
           comes. */
        return refuse(http, wsi, HTTP_STATUS_METHOD_NOT_ALLOWED, METHOD_TEXT);
    case LWS_CALLBACK_HTTP_BODY:
        return on_body(exchange, in, size);
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        return exchange->pending ? answer(http, wsi, exchange) : -1;
    case LWS_CALLBACK_TIMER:
        /* The timer is left armed, since taking it back would let it fire at once: it may find that
           all has come. */
        return exchange && exchange->pending ? -1 : 0;
    case LWS_CALLBACK_WSI_DESTROY:
        pre_session_limit_leave(wsi);
        return 0;
    case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
        if (exchange)
            end_exchange(http, wsi, exchange);
        return 0;
    default:
        return 0;
    }
}

struct lws_protocols http_protocol(struct http **http)
{
    /* The name is not a token, so no client can ask for it as a subprotocol. */
    return (struct lws_protocols){
        .name = "(http)",
        .callback = on_event,
        .per_session_data_size = sizeof(struct exchange),
        .user = http,
    };
}
