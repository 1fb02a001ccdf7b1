#include "limits/pre_session_limit.h"

#include "limits/address_memory.h"
#include "limits/per_address_limit.h"
#include "os/log.h"
#include "os/loop.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number of connections over which a browser loads a page. */
#define PER_BROWSER 6

/* Seconds in which an address may make as many handshakes as it may have connections; most
   handshakes are forgiven then. */
#define HANDSHAKES_SECONDS 60.0

/* The share of the connections that are closed at once when all places are taken: one in this many,
   the oldest first. */
#define EVICTED_SHARE 16

/* One connection, to which the opaque data of its wsi point. */
struct pre_session {
    struct pre_session_limit *all;
    struct lws *wsi;
    void *owner;
    struct socket_address client;
    char *forwarded;               /* NULL = the header was not read */
    struct address_count *address; /* NULL when the connection does not count */
    bool moved;
    struct pre_session *older;
    struct pre_session *newer;
};

struct pre_session_limit {
    struct per_address_limit *per_address;
    struct address_memory *handshakes; /* the handshakes that each address has made lately */
    const struct lws_vhost *tls;       /* NULL = no vhost has TLS */
    struct tls_turns *turns;           /* the turns of the connections to that vhost */
    struct stats *stats;
    unsigned max;
    unsigned max_per_address;
    unsigned count; /* the connection counts until its descriptor is closed */
    struct pre_session *oldest;
    struct pre_session *newest;
    struct log_limit refused_limit;
    struct log_limit handshakes_limit;
    struct log_limit evicted_limit;
};

void pre_session_limit_set(struct pre_session_limit *all, unsigned max_per_address)
{
    all->max_per_address = PER_BROWSER * max_per_address;
}

struct pre_session_limit *pre_session_limit_create(unsigned max, unsigned max_per_address,
                                                   struct stats *stats)
{
    struct pre_session_limit *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->stats = stats;
    all->max = max;
    pre_session_limit_set(all, max_per_address);
    all->per_address = per_address_limit_create(1024);
    all->handshakes = address_memory_create(HANDSHAKES_SECONDS);
    if (all->per_address && all->handshakes)
        return all;
    pre_session_limit_destroy(all);
    return NULL;
}

void pre_session_limit_destroy(struct pre_session_limit *all)
{
    if (!all)
        return;
    per_address_limit_destroy(all->per_address);
    address_memory_destroy(all->handshakes);
    free(all);
}

void pre_session_limit_set_tls(struct pre_session_limit *all, const struct lws_vhost *vhost,
                               struct tls_turns *turns)
{
    all->tls = vhost;
    all->turns = turns;
}

static void list_remove(struct pre_session *connection)
{
    struct pre_session_limit *all = connection->all;
    *(connection->older ? &connection->older->newer : &all->oldest) = connection->newer;
    *(connection->newer ? &connection->newer->older : &all->newest) = connection->older;
}

static void list_append(struct pre_session *connection)
{
    struct pre_session_limit *all = connection->all;
    connection->older = all->newest;
    connection->newer = NULL;
    *(all->newest ? &all->newest->newer : &all->oldest) = connection;
    all->newest = connection;
}

/* Closes a connection. If libwebsockets does not close it, because it is just becoming a session,
   say, it is found again when it is the oldest again. */
static void evict(struct pre_session *connection)
{
    list_remove(connection);
    list_append(connection);
    connection->all->stats->connections_evicted++;
    lws_set_timeout(connection->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
}

static unsigned held_by_its_address(const struct pre_session *connection)
{
    return connection->address ? per_address_limit_count(connection->address) : 1;
}

/* Closes up to `left` connections, the oldest first, of addresses that have more than `most`.
   Returns how many are left over. */
static unsigned evict_oldest(struct pre_session_limit *all, unsigned left, unsigned most)
{
    struct pre_session *next = all->oldest;
    for (unsigned seen = 0; seen < all->count && left > 0; seen++) {
        struct pre_session *connection = next;
        next = connection->newer;
        if (held_by_its_address(connection) > most) {
            evict(connection);
            left--;
        }
    }
    return left;
}

unsigned pre_session_limit_count(const struct pre_session_limit *all)
{
    return all->count;
}

bool pre_session_limit_room(struct pre_session_limit *all)
{
    if (all->count < all->max)
        return true;
    unsigned held;
    if (log_limit_pass(&all->evicted_limit, loop_now(), &held))
        log_warn("%u connections are no sessions: the oldest are closed%s", all->count,
                 log_held(held).text);
    unsigned left = 1 + all->max / EVICTED_SHARE;
    left = evict_oldest(all, left, PER_BROWSER);
    evict_oldest(all, left, 0);
    return false;
}

static void uncount(struct pre_session *connection)
{
    if (connection->address)
        per_address_limit_leave(connection->all->per_address, connection->address);
    connection->address = NULL;
}

static void leave(struct pre_session *connection)
{
    list_remove(connection);
    connection->all->count--;
    uncount(connection);
    free(connection->forwarded);
    free(connection);
}

static bool count(struct pre_session *connection)
{
    struct pre_session_limit *all = connection->all;
    bool full;
    connection->address =
        per_address_limit_enter(all->per_address, &connection->client, all->max_per_address, &full);
    return connection->address != NULL;
}

static struct pre_session *enter(struct pre_session_limit *all,
                                 const struct pre_session_start *start)
{
    struct pre_session *connection = calloc(1, sizeof *connection);
    if (!connection)
        return NULL;
    connection->all = all;
    connection->owner = start->owner;
    connection->client = start->client;
    connection->forwarded = start->forwarded ? strdup(start->forwarded) : NULL;
    if ((start->forwarded && !connection->forwarded) ||
        (start->counting == PRE_SESSION_COUNTED && !count(connection))) {
        free(connection->forwarded);
        free(connection);
        return NULL;
    }
    list_append(connection);
    all->count++;
    return connection;
}

static void report_refused(struct pre_session_limit *all, const struct socket_address *client)
{
    char text[SOCKET_ADDRESS_TEXT];
    unsigned held;
    socket_address_format(client, text);
    all->stats->connections_refused++;
    if (log_limit_pass(&all->refused_limit, loop_now(), &held))
        log_warn("connection of %s refused: its address has %u that are no sessions%s", text,
                 all->max_per_address, log_held(held).text);
}

/* Returns whether a client may make one more TLS handshake, which is remembered then. *made is the
   number of handshakes that it has made lately. */
static bool may_shake_hands(struct pre_session_limit *all, const struct socket_address *client,
                            double *made)
{
    unsigned char owner[16];
    char text[SOCKET_ADDRESS_TEXT];
    unsigned held;
    socket_address_owner(client, owner);
    *made = address_memory_count(all->handshakes, owner, loop_now());
    if (all->max_per_address == 0 || *made < all->max_per_address) {
        address_memory_add(all->handshakes, owner, loop_now());
        return true;
    }
    all->stats->handshakes_refused++;
    socket_address_format(client, text);
    if (log_limit_pass(&all->handshakes_limit, loop_now(), &held))
        log_warn("connection of %s refused: its address has made %u TLS handshakes lately%s", text,
                 all->max_per_address, log_held(held).text);
    return false;
}

void pre_session_limit_enter(struct pre_session_limit *all, int fd,
                             const struct pre_session_start *start)
{
    double made = 0.0;
    if (start->vhost == all->tls && start->counting == PRE_SESSION_COUNTED &&
        !may_shake_hands(all, &start->client, &made)) {
        close(fd);
        return;
    }
    struct pre_session *connection = enter(all, start);
    if (!connection) {
        close(fd);
        report_refused(all, &start->client);
        return;
    }
    /* libwebsockets closes the socket itself when it has no place for the connection. */
    connection->wsi = lws_adopt_socket_vhost(start->vhost, fd);
    if (!connection->wsi) {
        leave(connection);
        return;
    }
    lws_set_opaque_user_data(connection->wsi, connection);
    if (start->vhost == all->tls)
        tls_turns_enter(all->turns, connection->wsi, made < PER_BROWSER);
}

void *pre_session_limit_owner(struct lws *wsi)
{
    const struct pre_session *connection = lws_get_opaque_user_data(wsi);
    return connection ? connection->owner : NULL;
}

const struct socket_address *pre_session_limit_client(struct lws *wsi)
{
    const struct pre_session *connection = lws_get_opaque_user_data(wsi);
    return connection ? &connection->client : NULL;
}

const char *pre_session_limit_forwarded(struct lws *wsi)
{
    const struct pre_session *connection = lws_get_opaque_user_data(wsi);
    return connection ? connection->forwarded : NULL;
}

bool pre_session_limit_move(struct lws *wsi, const struct socket_address *client)
{
    struct pre_session *connection = lws_get_opaque_user_data(wsi);
    if (!connection)
        return true;
    uncount(connection);
    connection->client = *client;
    connection->moved = true;
    if (count(connection))
        return true;
    report_refused(connection->all, client);
    return false;
}

bool pre_session_limit_moved(struct lws *wsi)
{
    const struct pre_session *connection = lws_get_opaque_user_data(wsi);
    return connection && connection->moved;
}

void pre_session_limit_leave(struct lws *wsi)
{
    struct pre_session *connection = lws_get_opaque_user_data(wsi);
    if (!connection)
        return;
    lws_set_opaque_user_data(wsi, NULL);
    leave(connection);
}
