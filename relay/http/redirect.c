#include "http/redirect.h"

#include "http/header.h"
#include "http/reply.h"
#include "net/pre_session_limit.h"

#include <string.h>

#define HTTPS_PORT 443

/* libwebsockets has no name for it. */
#define PERMANENT_REDIRECT 308

/* The host without its port; false when it is none that a browser sends. */
static bool read_host(struct lws *wsi, char *host, size_t capacity)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789.-_:[]";
    if (!header_copy(wsi, WSI_TOKEN_HOST, host, capacity) || host[strspn(host, allowed)] != '\0')
        return false;
    char *port = strrchr(host, ':');
    if (port && !strchr(port, ']'))
        *port = '\0';
    return host[0] != '\0';
}

/* Its reply ends the connection. */
static int on_request(struct lws *wsi, unsigned port)
{
    struct reply reply;
    char host[HTTP_HEADER_MAX];
    char query[HTTP_HEADER_MAX];
    char target[PATH_MAX];
    char port_text[16] = "";
    char *path;
    int path_size;
    if (lws_http_get_uri_and_method(wsi, &path, &path_size) < 0 ||
        !read_host(wsi, host, sizeof host) ||
        !header_copy(wsi, WSI_TOKEN_HTTP_URI_ARGS, query, sizeof query))
        return -1;
    if (port != HTTPS_PORT)
        snprintf(port_text, sizeof port_text, ":%u", port);
    const int size = snprintf(target, sizeof target, "https://%s%s%.*s%s%s", host, port_text,
                              path_size, path, query[0] ? "?" : "", query);
    if (size > 0 && (size_t)size < sizeof target &&
        reply_begin(&reply, wsi, PERMANENT_REDIRECT, "text/plain", 0) &&
        reply_add(&reply, "location:", target))
        reply_send(&reply, NULL, 0);
    return -1;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t size)
{
    (void)user;
    (void)in;
    (void)size;
    const struct lws_protocols *protocol = wsi ? lws_get_protocol(wsi) : NULL;
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        return on_request(wsi, *(const unsigned *)protocol->user);
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return -1;
    case LWS_CALLBACK_WSI_DESTROY:
        pre_session_limit_leave(wsi);
        return 0;
    default:
        return 0;
    }
}

struct lws_protocols redirect_protocol(unsigned *port)
{
    return (struct lws_protocols){
        .name = "(redirect)",
        .callback = on_event,
        .user = port,
    };
}
