#include "http/redirect.h"

#include <string.h>

#define HTTPS_PORT 443

/* Returns the length of the host of a request, without its port; 0 when no browser would send
   it. */
static size_t host_size(const char *host)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789.-_:[]";
    const char *colon = strrchr(host, ':');
    if (host[strspn(host, allowed)] != '\0')
        return 0;
    return colon && !strchr(colon, ']') ? (size_t)(colon - host) : strlen(host);
}

static bool redirect(void *context, const struct http_request *request,
                     struct http_response *response)
{
    const unsigned port = *(const unsigned *)context;
    const size_t host = host_size(request->host);
    struct text *head = &response->head;
    if (host == 0 || request->long_query) {
        response_say(response, HTTP_BAD_REQUEST, "There is no address to which this can be sent.");
        return true;
    }
    response->status = HTTP_PERMANENT_REDIRECT;
    response->type = "text/plain";
    response->cache = NULL;
    text_add(head, "location: https://%.*s", (int)host, request->host);
    if (port != HTTPS_PORT)
        text_add(head, ":%u", port);
    request_encode(head, request->path, strlen(request->path));
    text_add(head, "%s%s\r\n", request->query[0] ? "?" : "", request->query);
    return true;
}

void redirect_add_route(struct http *http, unsigned *port)
{
    const struct http_route route = {.path = "/",
                                     .methods = HTTP_ANY,
                                     .body_max = HTTP_BODY_UNREAD,
                                     .handle = redirect,
                                     .context = port};
    http_add_route(http, &route);
}
