#include "http/header.h"

#include <string.h>

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

bool header_line_whole(struct lws *wsi)
{
    return lws_hdr_total_length(wsi, WSI_TOKEN_HTTP) > 0;
}
