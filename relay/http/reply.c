#include "http/reply.h"

#include <string.h>

static unsigned char *head_limit(struct reply *reply)
{
    return reply->bytes + LWS_PRE + REPLY_HEAD_MAX;
}

bool reply_begin(struct reply *reply, struct lws *wsi, unsigned status, const char *type,
                 uint64_t size)
{
    reply->wsi = wsi;
    reply->end = reply->bytes + LWS_PRE;
    /* Without a length, libwebsockets adds that the connection closes. */
    if (!type)
        return lws_add_http_common_headers(wsi, status, NULL, LWS_ILLEGAL_HTTP_CONTENT_LEN,
                                           &reply->end, head_limit(reply)) == 0;
    return lws_add_http_common_headers(wsi, status, type, size, &reply->end, head_limit(reply)) ==
               0 &&
           reply_add(reply, "connection:", "close");
}

bool reply_add(struct reply *reply, const char *name, const char *value)
{
    return lws_add_http_header_by_name(reply->wsi, (const unsigned char *)name,
                                       (const unsigned char *)value, (int)strlen(value),
                                       &reply->end, head_limit(reply)) == 0;
}

size_t reply_head(struct reply *reply)
{
    if (lws_finalize_http_header(reply->wsi, &reply->end, head_limit(reply)))
        return 0;
    return (size_t)(reply->end - reply->bytes) - LWS_PRE;
}

bool reply_send(struct reply *reply, const void *body, size_t size)
{
    size_t all = reply_head(reply);
    if (all == 0)
        return false;
    if (size > 0 && lws_hdr_total_length(reply->wsi, WSI_TOKEN_HEAD_URI) == 0) {
        memcpy(reply->end, body, size);
        all += size;
    }
    return lws_write(reply->wsi, reply->bytes + LWS_PRE, all, LWS_WRITE_HTTP_HEADERS) == (int)all;
}
