#include "http/fetch.h"

#include "os/lookup.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROTOCOL "(fetch)"

/* Bytes that libwebsockets reads at a time. */
#define READ_BYTES 4096

struct fetch {
    struct lws_context *context;
    struct lws_vhost *vhost;
    struct fetch_request request;
    char url[FETCH_URL_MAX]; /* lws_parse_uri cuts it into host and path */
    char path[FETCH_URL_MAX + 1];
    char host[FETCH_URL_MAX]; /* with the port, as the header wants it */
    const char *name;
    int port;
    bool secure;
    char *body; /* the request's, NULL = none left to send */
    struct lookup lookup;
    struct loop_timer timer;
    struct lws *wsi;
    int status;
    size_t size;
    char answer[FETCH_BODY_MAX + 1];
};

/* Reads fetch->url, which it changes. */
static bool read_url(struct fetch *fetch)
{
    const char *scheme;
    const char *path;
    if (lws_parse_uri(fetch->url, &scheme, &fetch->name, &fetch->port, &path) != 0 ||
        !fetch->name[0])
        return false;
    fetch->secure = strcmp(scheme, "https") == 0;
    snprintf(fetch->path, sizeof fetch->path, "/%s", path);
    snprintf(fetch->host, sizeof fetch->host, strchr(fetch->name, ':') ? "[%s]:%d" : "%s:%d",
             fetch->name, fetch->port);
    return fetch->secure || strcmp(scheme, "http") == 0;
}

bool fetch_takes(const char *url)
{
    struct fetch fetch;
    if (strlen(url) >= sizeof fetch.url)
        return false;
    strcpy(fetch.url, url);
    return read_url(&fetch);
}

static void free_fetch(struct fetch *fetch)
{
    lookup_cancel(&fetch->lookup);
    loop_timer_stop(&fetch->timer);
    free(fetch->body);
    free(fetch);
}

void fetch_cancel(struct fetch *fetch)
{
    if (!fetch)
        return;
    if (fetch->wsi) {
        lws_set_opaque_user_data(fetch->wsi, NULL);
        lws_set_timeout(fetch->wsi, PENDING_TIMEOUT_KILLED_BY_PARENT, LWS_TO_KILL_ASYNC);
    }
    free_fetch(fetch);
}

static void finish(struct fetch *fetch, const char *error)
{
    char status[48];
    const struct fetch_request request = fetch->request;
    if (!error && fetch->status != 200 && fetch->status != 201) {
        snprintf(status, sizeof status, "it answers with the status %d", fetch->status);
        error = status;
    }
    const struct fetch_answer answer = {
        .error = error,
        .body = fetch->answer,
        .size = fetch->size,
    };
    request.answered(request.context, &answer);
    fetch_cancel(fetch);
}

static void on_time_out(void *context)
{
    finish(context, "no answer in time");
}

/* Adds the headers of a body. */
static int add_headers(struct fetch *fetch, unsigned char **at, unsigned char *end)
{
    const char *type = fetch->request.type;
    if (!fetch->body)
        return 0;
    lws_client_http_body_pending(fetch->wsi, 1);
    return lws_add_http_header_by_token(fetch->wsi, WSI_TOKEN_HTTP_CONTENT_TYPE,
                                        (const unsigned char *)type, (int)strlen(type), at, end) ||
           lws_add_http_header_content_length(fetch->wsi, strlen(fetch->body), at, end);
}

static int send_body(struct fetch *fetch)
{
    const size_t size = fetch->body ? strlen(fetch->body) : 0;
    char *bytes = malloc(LWS_PRE + size);
    if (!bytes)
        return -1;
    if (size > 0)
        memcpy(bytes + LWS_PRE, fetch->body, size);
    lws_client_http_body_pending(fetch->wsi, 0);
    const int sent =
        lws_write(fetch->wsi, (unsigned char *)bytes + LWS_PRE, size, LWS_WRITE_HTTP_FINAL);
    free(bytes);
    return sent == (int)size ? 0 : -1;
}

static int read_some(struct lws *wsi)
{
    char bytes[LWS_PRE + READ_BYTES];
    char *at = bytes + LWS_PRE;
    int size = READ_BYTES;
    return lws_http_client_read(wsi, &at, &size);
}

static int take_some(struct fetch *fetch, const char *bytes, size_t size)
{
    if (size > FETCH_BODY_MAX - fetch->size) {
        finish(fetch, "its answer is longer than 64 KiB");
        return -1;
    }
    memcpy(fetch->answer + fetch->size, bytes, size);
    fetch->size += size;
    return 0;
}

/* Parts a request from a connection that is ending by itself. */
static void forget(struct fetch *fetch, struct lws *wsi)
{
    lws_set_opaque_user_data(wsi, NULL);
    fetch->wsi = NULL;
}

static int on_http(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                   size_t size)
{
    struct fetch *fetch = lws_get_opaque_user_data(wsi);
    (void)user;
    if (!fetch) /* it was cancelled, or this is about the vhost */
        return 0;
    fetch->wsi = wsi;
    switch (reason) {
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER: {
        unsigned char **at = in;
        return add_headers(fetch, at, *at + size);
    }
    case LWS_CALLBACK_CLIENT_HTTP_WRITEABLE:
        return send_body(fetch);
    case LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP:
        fetch->status = (int)lws_http_client_http_response(wsi);
        return 0;
    case LWS_CALLBACK_RECEIVE_CLIENT_HTTP:
        return read_some(wsi);
    case LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ:
        return take_some(fetch, in, size);
    case LWS_CALLBACK_COMPLETED_CLIENT_HTTP:
        finish(fetch, NULL);
        return -1;
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        forget(fetch, wsi);
        finish(fetch, in ? in : "it cannot be reached");
        return 0;
    case LWS_CALLBACK_CLOSED_CLIENT_HTTP:
    case LWS_CALLBACK_WSI_DESTROY: /* some ends have no other event, such as a timeout */
        forget(fetch, wsi);
        finish(fetch, "its answer has no end");
        return 0;
    default:
        return 0;
    }
}

static void connect_to(struct fetch *fetch, const char *address)
{
    const struct lws_client_connect_info info = {
        .context = fetch->context,
        .vhost = fetch->vhost,
        .address = address,
        .port = fetch->port,
        .path = fetch->path,
        .host = fetch->host,
        .method = fetch->body ? "POST" : "GET",
        .local_protocol_name = PROTOCOL,
        .alpn = "http/1.1",
        .ssl_connection = (fetch->secure ? LCCSCF_USE_SSL : 0) | LCCSCF_HTTP_NO_FOLLOW_REDIRECT,
        .opaque_user_data = fetch,
    };
    struct lws *wsi = lws_client_connect_via_info(&info);
    if (wsi && lws_get_opaque_user_data(wsi) == fetch) /* else the callback has ended it */
        fetch->wsi = wsi;
}

static void on_address(void *context, const struct lookup_answer *answer)
{
    struct fetch *fetch = context;
    char text[INET6_ADDRSTRLEN];
    if (answer->error) {
        finish(fetch, answer->error);
        return;
    }
    getnameinfo(&answer->addresses[0].address.any, answer->addresses[0].size, text, sizeof text,
                NULL, 0, NI_NUMERICHOST);
    connect_to(fetch, text);
}

struct lws_vhost *fetch_add_vhost(struct loop *loop)
{
    static const struct lws_protocols protocols[] = {{.name = PROTOCOL, .callback = on_http}, {0}};
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .protocols = protocols,
        .vhost_name = "fetch",
        .options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
    };
    return loop_add_vhost(loop, &info);
}

struct fetch *fetch_begin(struct loop *loop, struct lws_vhost *vhost,
                          const struct fetch_request *request)
{
    struct fetch *fetch = calloc(1, sizeof *fetch);
    if (!fetch)
        return NULL;
    fetch->context = loop_context(loop);
    fetch->vhost = vhost;
    fetch->request = *request;
    fetch->lookup = (struct lookup){.watch.fd = -1, .answered = on_address, .context = fetch};
    fetch->timer = (struct loop_timer){.expired = on_time_out, .context = fetch};
    fetch->body = request->body ? strdup(request->body) : NULL;
    snprintf(fetch->url, sizeof fetch->url, "%s", request->url);
    if (!read_url(fetch) || !lookup_begin(&fetch->lookup, loop, fetch->name)) {
        free_fetch(fetch);
        return NULL;
    }
    loop_timer_start(loop, &fetch->timer, FETCH_SECONDS);
    return fetch;
}
