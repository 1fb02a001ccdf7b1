#include "net/pre_session_limit.h"

#include "net/log.h"
#include "net/loop.h"
#include "net/per_address_limit.h"

#include <stdlib.h>
#include <unistd.h>

/* Connections over which a browser loads a page. */
#define PER_BROWSER 6

/* Of so many the oldest makes room, all at once. */
#define EVICTED_SHARE 16

/* One connection; the opaque data of its wsi. */
struct visitor {
    struct pre_session_limit *all;
    struct lws *wsi;
    struct address_count *address;
    struct visitor *older;
    struct visitor *newer;
};

struct pre_session_limit {
    struct per_address_limit *addresses;
    struct stats *stats;
    unsigned max;
    unsigned max_per_address;
    unsigned count; /* until the descriptor is closed */
    struct visitor *oldest;
    struct visitor *newest;
    struct log_limit refused_limit;
    struct log_limit evicted_limit;
};

struct pre_session_limit *pre_session_limit_create(unsigned max, unsigned max_per_address,
                                                   struct stats *stats)
{
    struct pre_session_limit *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->stats = stats;
    all->max = max;
    all->max_per_address = PER_BROWSER * max_per_address;
    all->addresses = per_address_limit_create(1024);
    if (all->addresses)
        return all;
    free(all);
    return NULL;
}

void pre_session_limit_destroy(struct pre_session_limit *all)
{
    if (!all)
        return;
    per_address_limit_destroy(all->addresses);
    free(all);
}

static void list_remove(struct visitor *visitor)
{
    struct pre_session_limit *all = visitor->all;
    *(visitor->older ? &visitor->older->newer : &all->oldest) = visitor->newer;
    *(visitor->newer ? &visitor->newer->older : &all->newest) = visitor->older;
}

static void list_append(struct visitor *visitor)
{
    struct pre_session_limit *all = visitor->all;
    visitor->older = all->newest;
    visitor->newer = NULL;
    *(all->newest ? &all->newest->newer : &all->oldest) = visitor;
    all->newest = visitor;
}

/* One that libwebsockets does not close, because it is just becoming a session, say, is found again
   when it is the oldest again. */
static void evict(struct visitor *visitor)
{
    list_remove(visitor);
    list_append(visitor);
    visitor->all->stats->connections_evicted++;
    lws_set_timeout(visitor->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
}

/* Closes up to `left`, the oldest first, of addresses that have more than `most`; gives how many
   are left over. */
static unsigned evict_oldest(struct pre_session_limit *all, unsigned left, unsigned most)
{
    struct visitor *next = all->oldest;
    for (unsigned seen = 0; seen < all->count && left > 0; seen++) {
        struct visitor *visitor = next;
        next = visitor->newer;
        if (addresses_count(visitor->address) > most) {
            evict(visitor);
            left--;
        }
    }
    return left;
}

bool visitors_room(struct pre_session_limit *all)
{
    if (all->count < all->max)
        return true;
    unsigned held;
    if (log_limit_pass(&all->evicted_limit, loop_now(), &held))
        log_warn("%u connections are no sessions: the oldest are closed (%u more times since the "
                 "last such line)",
                 all->count, held);
    unsigned left = 1 + all->max / EVICTED_SHARE;
    left = evict_oldest(all, left, PER_BROWSER);
    evict_oldest(all, left, 0);
    return false;
}

static void leave(struct visitor *visitor)
{
    struct pre_session_limit *all = visitor->all;
    list_remove(visitor);
    all->count--;
    per_address_limit_leave(all->addresses, visitor->address);
    free(visitor);
}

static struct visitor *enter(struct pre_session_limit *all, const struct socket_address *client)
{
    bool full;
    struct visitor *visitor = calloc(1, sizeof *visitor);
    if (!visitor)
        return NULL;
    visitor->all = all;
    visitor->address = per_address_limit_enter(all->addresses, client, all->max_per_address, &full);
    if (!visitor->address) {
        free(visitor);
        return NULL;
    }
    list_append(visitor);
    all->count++;
    return visitor;
}

void pre_session_limit_enter(struct pre_session_limit *all, struct lws_vhost *vhost, int fd,
                             const struct socket_address *client)
{
    struct visitor *visitor = enter(all, client);
    if (!visitor) {
        char text[SOCKET_ADDRESS_TEXT];
        unsigned held;
        socket_address_format(client, text);
        close(fd);
        all->stats->connections_refused++;
        if (log_limit_pass(&all->refused_limit, loop_now(), &held))
            log_warn("connection of %s refused: its address has %u that are no sessions (%u more "
                     "since the last such line)",
                     text, all->max_per_address, held);
        return;
    }
    /* It closes the socket itself when it has no place for it. */
    visitor->wsi = lws_adopt_socket_vhost(vhost, fd);
    if (visitor->wsi)
        lws_set_opaque_user_data(visitor->wsi, visitor);
    else
        leave(visitor);
}

void pre_session_limit_leave(struct lws *wsi)
{
    struct visitor *visitor = lws_get_opaque_user_data(wsi);
    if (!visitor)
        return;
    lws_set_opaque_user_data(wsi, NULL);
    leave(visitor);
}
