#include "http/request.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

bool header_copy(struct lws *wsi, enum lws_token_indexes token, char *out, size_t capacity)
{
    out[0] = '\0';
    return lws_hdr_total_length(wsi, token) == 0 ||
           lws_hdr_copy(wsi, out, (int)capacity, token) >= 0;
}

bool header_copy_named(struct lws *wsi, const char *name, char *out, size_t capacity)
{
    const int size = (int)strlen(name);
    out[0] = '\0';
    return lws_hdr_custom_length(wsi, name, size) <= 0 ||
           lws_hdr_custom_copy(wsi, out, (int)capacity, name, size) >= 0;
}

static enum http_status_code refuse(enum http_status_code status, const char *reason,
                                    const char **why)
{
    *why = reason;
    return status;
}

/* Returns false when the line of the request did not come to its end, the version. libwebsockets
   decodes a path before it looks for the end of the line. So a %0A in the path ends the line, and
   the rest would be a header of the client's making, before those of a proxy, which has seen
   nothing but a path. */
static bool is_line_whole(struct lws *wsi)
{
    char version[16];
    return header_copy(wsi, WSI_TOKEN_HTTP, version, sizeof version) &&
           strncmp(version, "HTTP/1.", 7) == 0;
}

/* Reads how long the body is to be. Returns HTTP_OK, or the status for a request that could be read
   in two ways, or that tells its length only as the body comes. */
static enum http_status_code read_length(struct lws *wsi, int64_t *out)
{
    char text[64];
    const bool has_length = lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH) > 0;
    *out = -1;
    if (lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_TRANSFER_ENCODING) > 0)
        return has_length ? HTTP_BAD_REQUEST : HTTP_LENGTH_REQUIRED;
    if (!has_length)
        return HTTP_OK;
    if (!header_copy(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH, text, sizeof text) || text[0] < '0' ||
        text[0] > '9')
        return HTTP_BAD_REQUEST;
    char *end;
    *out = strtoll(text, &end, 10); /* a length that does not fit becomes the largest number */
    /* When a request has two lengths, the text has both, with a comma between them. */
    return end[strspn(end, " \t")] == '\0' ? HTTP_OK : HTTP_BAD_REQUEST;
}

enum http_status_code request_check(struct lws *wsi, int64_t *length, const char **why)
{
    if (!is_line_whole(wsi))
        return refuse(HTTP_BAD_REQUEST,
                      "The first line of the request has no version, or an encoded line break.",
                      why);
    return refuse(read_length(wsi, length),
                  "A body needs one Content-Length and no Transfer-Encoding.", why);
}

static enum http_method method_of(int number)
{
    switch (number) {
    case LWSHUMETH_GET:
        return HTTP_GET;
    case LWSHUMETH_HEAD:
        return HTTP_HEAD;
    case LWSHUMETH_POST:
        return HTTP_POST;
    case LWSHUMETH_DELETE:
        return HTTP_DELETE;
    case LWSHUMETH_OPTIONS:
        return HTTP_OPTIONS;
    default:
        return HTTP_OTHER;
    }
}

static bool read_path(struct lws *wsi, struct http_request *out)
{
    char *path;
    int size;
    const int method = lws_http_get_uri_and_method(wsi, &path, &size);
    if (method < 0 || size <= 0 || (size_t)size >= sizeof out->path || path[0] != '/')
        return false;
    out->method = method_of(method);
    memcpy(out->path, path, (size_t)size);
    out->path[size] = '\0';
    return true;
}

void request_encode(struct text *out, const char *part, size_t size)
{
    static const char kept[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789-._~!$'()*+,;=:@/";
    for (size_t i = 0; i < size; i++) {
        const bool keep = part[i] && strchr(kept, part[i]);
        text_add(out, keep ? "%c" : "%%%02X", (unsigned char)part[i]);
    }
}

/* Reads the query. libwebsockets has decoded it, so each parameter is read by itself, because a
   value may have had an & in it. */
static void read_query(struct lws *wsi, struct http_request *out)
{
    char parameter[HTTP_HEADER_MAX];
    struct text query = {0};
    int size;
    /* A parameter that is too long looks like the end of the query. */
    out->long_query = lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_URI_ARGS) >= (int)sizeof parameter;
    for (int i = 0;
         !out->long_query && (size = lws_hdr_copy_fragment(wsi, parameter, sizeof parameter,
                                                           WSI_TOKEN_HTTP_URI_ARGS, i)) >= 0;
         i++) {
        text_add(&query, "%s", i > 0 ? "&" : "");
        request_encode(&query, parameter, (size_t)size);
    }
    if (query.failed || query.size >= sizeof out->query)
        out->long_query = true;
    snprintf(out->query, sizeof out->query, "%s",
             query.size > 0 && !out->long_query ? query.bytes : "");
    text_free(&query);
}

enum http_status_code request_read(struct lws *wsi, struct http_request *out, const char **why)
{
    const enum http_status_code status = request_check(wsi, &out->length, why);
    if (status != HTTP_OK)
        return status;
    if (!read_path(wsi, out))
        return refuse(HTTP_BAD_REQUEST, "The path is malformed.", why);
    if (!header_copy(wsi, WSI_TOKEN_HTTP_CONTENT_TYPE, out->content_type,
                     sizeof out->content_type) ||
        !header_copy(wsi, WSI_TOKEN_HOST, out->host, sizeof out->host) ||
        !header_copy(wsi, WSI_TOKEN_ORIGIN, out->origin, sizeof out->origin))
        return refuse(HTTP_HEADERS_TOO_LARGE, "A header is too long.", why);
    if (!header_copy(wsi, WSI_TOKEN_HTTP_IF_NONE_MATCH, out->known_etag, sizeof out->known_etag))
        out->known_etag[0] = '\0';
    read_query(wsi, out);
    out->local.size = sizeof out->local.address;
    getsockname(lws_get_socket_fd(wsi), &out->local.address.any, &out->local.size);
    return HTTP_OK;
}
