#include "http/pages.h"

#include "limits/pre_session_limit.h"

/* Reads the header in which the proxies name the client. It was read before libwebsockets could
   hide it, except behind TLS, where only libwebsockets can read it. */
static bool read_forwarded(struct lws *wsi, char value[FORWARDED_MAX])
{
    const char *read = pre_session_limit_forwarded(wsi);
    if (read)
        return snprintf(value, FORWARDED_MAX, "%s", read) < FORWARDED_MAX;
    return header_copy(wsi, WSI_TOKEN_X_FORWARDED_FOR, value, FORWARDED_MAX);
}

bool pages_know_client(const struct http_pages *pages, struct lws *wsi)
{
    const struct socket_address *peer = pre_session_limit_client(wsi);
    char value[FORWARDED_MAX];
    if (!peer || !prefix_list_holds(&pages->proxies, peer))
        return true;
    if (!read_forwarded(wsi, value))
        return false;
    const struct socket_address client = forwarded_client(&pages->proxies, peer, value);
    return pre_session_limit_move(wsi, &client);
}

/* Finds the host that the client asked for. A proxy may name its own host to the relay, and not say
   which one it was asked for: then the result is "". */
static bool read_host(struct lws *wsi, char *host, size_t capacity)
{
    if (pre_session_limit_moved(wsi))
        return header_copy_named(wsi, "x-forwarded-host:", host, capacity);
    return header_copy(wsi, WSI_TOKEN_HOST, host, capacity);
}

bool pages_allow(const struct http_pages *pages, struct lws *wsi, char origin[HTTP_HEADER_MAX])
{
    const struct origin_list *origins = &pages->origins;
    char host[HTTP_HEADER_MAX];
    if (!header_copy(wsi, WSI_TOKEN_ORIGIN, origin, HTTP_HEADER_MAX) ||
        !read_host(wsi, host, sizeof host))
        return false;
    const bool untold = pre_session_limit_moved(wsi) && host[0] == '\0';
    return origin_allowed(origins, origin, host) || (origins->count == 0 && untold);
}
