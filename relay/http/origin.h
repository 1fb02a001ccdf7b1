/* The list of the web pages that may use the relay. */
#ifndef CAUSEWAY_RELAY_ORIGIN_H
#define CAUSEWAY_RELAY_ORIGIN_H

#include <stdbool.h>

#define ORIGIN_LIST_MAX 64

/* An empty list allows only pages of the host to which the request was sent. */
struct origin_list {
    const char *origins[ORIGIN_LIST_MAX];
    unsigned count;
    bool any;
};

/* Adds "scheme://host[:port]" or "*". The text must outlive the list. Returns false when it has
   another form or the list is full. */
bool origin_list_add(struct origin_list *list, const char *origin);

/* Returns true when a page of `origin` may make a request to `host` (the values of the two
   headers). An empty origin is allowed: every browser sends the header with a WebSocket and with a
   cross-origin request, so no foreign page is behind a request without it. */
bool origin_allowed(const struct origin_list *list, const char *origin, const char *host);

/* Returns true unless pages of an origin that was allowed once no longer are, because a reload has
   removed it from the list. */
bool origin_remains(const struct origin_list *list, const char *origin);

#endif
