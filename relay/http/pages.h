/* The pages that may ask, and the clients behind their requests when proxies are in front. */
#ifndef CAUSEWAY_RELAY_PAGES_H
#define CAUSEWAY_RELAY_PAGES_H

#include "http/forwarded.h"
#include "http/origin.h"
#include "http/request.h"

#include <libwebsockets.h>
#include <stdbool.h>

struct http_pages {
    struct origin_list origins;
    struct prefix_list proxies; /* the proxies that are believed */
};

/* Counts the connection of a request for the client that a trusted proxy names. Returns false when
   that client has too many, or the header is too long. */
bool pages_know_client(const struct http_pages *pages, struct lws *wsi);

/* Returns whether the page of a request may make it. Copies the page's origin; "" for none. */
bool pages_allow(const struct http_pages *pages, struct lws *wsi, char origin[HTTP_HEADER_MAX]);

#endif
