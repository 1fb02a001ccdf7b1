/* Which web pages may use the relay. */
#ifndef CAUSEWAY_RELAY_ORIGIN_H
#define CAUSEWAY_RELAY_ORIGIN_H

#include <stdbool.h>

#define ORIGIN_LIST_MAX 64

/* Empty means: only pages of the host that the request was sent to. */
struct origin_list {
    const char *origins[ORIGIN_LIST_MAX];
    unsigned count;
    bool all;
};

/* Adds "scheme://host[:port]" or "*"; the text must outlive the list. False when it has another
   form or the list is full. */
bool origin_list_add(struct origin_list *list, const char *origin);

/* True when a page of `origin` may go on with a request that was sent to `host` (the headers'
   values). An empty origin is allowed: every browser sends the header with a WebSocket and with a
   cross-origin request, so there is no page to be protected from. */
bool origin_allowed(const struct origin_list *list, const char *origin, const char *host);

#endif
