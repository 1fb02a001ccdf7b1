#include "visitors.h"

#include "addresses.h"
#include "log.h"
#include "loop.h"

#include <stdlib.h>
#include <unistd.h>

#define PER_SESSION 6

/* One connection; the opaque data of its wsi. */
struct visitor {
    struct visitors *all;
    struct address_count *address;
};

struct visitors {
    struct addresses *addresses;
    struct stats *stats;
    unsigned limit;
    struct log_limit refused_limit;
};

struct visitors *visitors_create(unsigned max_per_address, struct stats *stats)
{
    struct visitors *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->stats = stats;
    all->limit = PER_SESSION * max_per_address;
    all->addresses = addresses_create(1024);
    if (all->addresses)
        return all;
    free(all);
    return NULL;
}

void visitors_destroy(struct visitors *all)
{
    if (!all)
        return;
    addresses_destroy(all->addresses);
    free(all);
}

static void leave(struct visitor *visitor)
{
    addresses_leave(visitor->all->addresses, visitor->address);
    free(visitor);
}

static struct visitor *enter(struct visitors *all, const struct endpoint *client)
{
    bool full;
    struct visitor *visitor = calloc(1, sizeof *visitor);
    if (!visitor)
        return NULL;
    visitor->all = all;
    visitor->address = addresses_enter(all->addresses, client, all->limit, &full);
    if (visitor->address)
        return visitor;
    free(visitor);
    return NULL;
}

void visitors_enter(struct visitors *all, struct lws_vhost *vhost, int fd,
                    const struct endpoint *client)
{
    struct visitor *visitor = enter(all, client);
    if (!visitor) {
        char text[ENDPOINT_TEXT];
        unsigned held;
        endpoint_format(client, text);
        close(fd);
        all->stats->connections_refused++;
        if (log_limit_pass(&all->refused_limit, loop_now(), &held))
            log_warn("connection of %s refused: its address has %u that are no sessions (%u more "
                     "since the last such line)",
                     text, all->limit, held);
        return;
    }
    /* It closes the socket itself when it has no place for it. */
    struct lws *wsi = lws_adopt_socket_vhost(vhost, fd);
    if (wsi)
        lws_set_opaque_user_data(wsi, visitor);
    else
        leave(visitor);
}

void visitors_leave(struct lws *wsi)
{
    struct visitor *visitor = lws_get_opaque_user_data(wsi);
    if (!visitor)
        return;
    lws_set_opaque_user_data(wsi, NULL);
    leave(visitor);
}
