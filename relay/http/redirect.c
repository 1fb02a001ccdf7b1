#include "http/redirect.h"

#include "http/header.h"
#include "http/reply.h"
#include "limits/pre_session_limit.h"

#include <string.h>

#define HTTPS_PORT 443

/* The status 308, for which libwebsockets has no name. */
#define PERMANENT_REDIRECT 308

/* Reads the host of a request, without its port. Returns false when it is none that a browser
   sends. */
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

/* The address to which a request is sent; all zero at first. */
struct target {
    char text[PATH_MAX];
    size_t size;
    bool cut; /* the address did not fit */
};

static void put(struct target *target, const char *text)
{
    const size_t size = strlen(text);
    if (size >= sizeof target->text - target->size) {
        target->cut = true;
        return;
    }
    memcpy(target->text + target->size, text, size);
    target->size += size;
}

/* Adds a text that libwebsockets has decoded, encoded again. */
static void put_encoded(struct target *target, const char *text, size_t size)
{
    static const char kept[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789-._~!$'()*+,;=:@/";
    for (size_t i = 0; i < size; i++) {
        char character[4] = {text[i]};
        if (!text[i] || !strchr(kept, text[i]))
            snprintf(character, sizeof character, "%%%02X", (unsigned)(unsigned char)text[i]);
        put(target, character);
    }
}

/* Adds the query. Each parameter is read by itself, because a value may have had an & in it. */
static void put_query(struct target *target, struct lws *wsi)
{
    char parameter[HTTP_HEADER_MAX];
    int size;
    /* A parameter that is too long looks like the end of the query. */
    target->cut =
        target->cut || lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_URI_ARGS) >= (int)sizeof parameter;
    for (int i = 0; (size = lws_hdr_copy_fragment(wsi, parameter, sizeof parameter,
                                                  WSI_TOKEN_HTTP_URI_ARGS, i)) >= 0;
         i++) {
        put(target, i == 0 ? "?" : "&");
        put_encoded(target, parameter, (size_t)size);
    }
}

/* Redirects a request. The reply ends the connection. */
static int on_request(struct lws *wsi, unsigned port)
{
    struct reply reply;
    struct target target = {0};
    char host[HTTP_HEADER_MAX];
    char port_text[16] = "";
    char *path;
    int path_size;
    if (lws_http_get_uri_and_method(wsi, &path, &path_size) < 0 ||
        !read_host(wsi, host, sizeof host))
        return -1;
    if (port != HTTPS_PORT)
        snprintf(port_text, sizeof port_text, ":%u", port);
    put(&target, "https://");
    put(&target, host);
    put(&target, port_text);
    put_encoded(&target, path, (size_t)path_size);
    put_query(&target, wsi);
    if (!target.cut && reply_begin(&reply, wsi, PERMANENT_REDIRECT, "text/plain", 0) &&
        reply_add(&reply, "location:", target.text))
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
    /* This is a CONNECT. libwebsockets would keep the connection for ever. */
    case LWS_CALLBACK_RAW_ADOPT:
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
