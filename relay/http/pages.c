#include "http/pages.h"

#include "limits/pre_session_limit.h"

/* Bytes of the longest value that names the addresses of a chain of proxies. */
#define FORWARDED_MAX 1024

/* Reads the header in which the proxies say who the client is. libwebsockets may hide it, so
   libwebsockets is asked only behind TLS. */
static bool value_of(const struct forwarded *forwarded, struct lws *wsi, char value[FORWARDED_MAX])
{
    const char *read = pre_session_limit_forwarded(wsi);
    if (read)
        return snprintf(value, FORWARDED_MAX, "%s", read) < FORWARDED_MAX;
    return forwarded->header == FORWARDED_X_FORWARDED_FOR
               ? header_copy(wsi, WSI_TOKEN_X_FORWARDED_FOR, value, FORWARDED_MAX)
               : header_copy_named(wsi, forwarded_name(forwarded), value, FORWARDED_MAX);
}

bool pages_know_client(const struct http_pages *pages, struct lws *wsi)
{
    const struct forwarded *forwarded = &pages->forwarded;
    const struct socket_address *peer = pre_session_limit_client(wsi);
    char value[FORWARDED_MAX];
    if (!peer || !prefix_list_holds(&forwarded->trusted, peer))
        return true;
    if (!value_of(forwarded, wsi, value))
        return false;
    const struct socket_address client = forwarded_client(forwarded, peer, value);
    return pre_session_limit_move(wsi, &client);
}

/* Finds the host that the client asked for. A proxy may name its own host to the relay, and not say
   which one it was asked for: then the result is "". */
static bool host_of(const struct http_pages *pages, struct lws *wsi, char *host, size_t capacity)
{
    char value[FORWARDED_MAX];
    if (!pre_session_limit_moved(wsi))
        return header_copy(wsi, WSI_TOKEN_HOST, host, capacity);
    if (pages->forwarded.header == FORWARDED_X_FORWARDED_FOR)
        return header_copy_named(wsi, "x-forwarded-host:", host, capacity);
    if (!value_of(&pages->forwarded, wsi, value))
        return false;
    forwarded_host(value, host, capacity);
    return true;
}

bool pages_allow(const struct http_pages *pages, struct lws *wsi, char origin[HTTP_HEADER_MAX])
{
    const struct origin_list *origins = &pages->origins;
    char host[HTTP_HEADER_MAX];
    if (!header_copy(wsi, WSI_TOKEN_ORIGIN, origin, HTTP_HEADER_MAX) ||
        !host_of(pages, wsi, host, sizeof host))
        return false;
    const bool untold = pre_session_limit_moved(wsi) && host[0] == '\0';
    return origin_allowed(origins, origin, host) || (origins->count == 0 && untold);
}
