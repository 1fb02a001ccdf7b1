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

/* In this many seconds an address may make as many handshakes as it may have connections. Two
   thirds of the earlier handshakes are forgotten after that time. */
#define HANDSHAKES_SECONDS 60.0

/* The share of the connections that are closed at once when all places are taken: one in this many,
   the oldest first. */
#define EVICTED_SHARE 16

/* One connection, to which the opaque data of its wsi point. */
struct pre_session {
    struct pre_session_limit *limit;
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
    unsigned reserved;
    struct pre_session *oldest;
    struct pre_session *newest;
    struct log_limit refused_limit;
    struct log_limit handshakes_limit;
    struct log_limit evicted_limit;
};

void pre_session_limit_set(struct pre_session_limit *limit, unsigned max_per_address)
{
    limit->max_per_address = PER_BROWSER * max_per_address;
}

struct pre_session_limit *pre_session_limit_create(unsigned max, unsigned max_per_address,
                                                   struct stats *stats)
{
    struct pre_session_limit *limit = calloc(1, sizeof *limit);
    if (!limit)
        return NULL;
    limit->stats = stats;
    limit->max = max;
    pre_session_limit_set(limit, max_per_address);
    limit->per_address = per_address_limit_create(1024);
    limit->handshakes = address_memory_create(HANDSHAKES_SECONDS);
    if (limit->per_address && limit->handshakes)
        return limit;
    pre_session_limit_destroy(limit);
    return NULL;
}

void pre_session_limit_destroy(struct pre_session_limit *limit)
{
    if (!limit)
        return;
    per_address_limit_destroy(limit->per_address);
    address_memory_destroy(limit->handshakes);
    free(limit);
}

void pre_session_limit_set_tls(struct pre_session_limit *limit, const struct lws_vhost *vhost,
                               struct tls_turns *turns)
{
    limit->tls = vhost;
    limit->turns = turns;
}

static void list_remove(struct pre_session *connection)
{
    struct pre_session_limit *limit = connection->limit;
    *(connection->older ? &connection->older->newer : &limit->oldest) = connection->newer;
    *(connection->newer ? &connection->newer->older : &limit->newest) = connection->older;
}

static void list_append(struct pre_session *connection)
{
    struct pre_session_limit *limit = connection->limit;
    connection->older = limit->newest;
    connection->newer = NULL;
    *(limit->newest ? &limit->newest->newer : &limit->oldest) = connection;
    limit->newest = connection;
}

/* Closes a connection. If libwebsockets does not close it, because it is just becoming a session,
   say, it is found again when it is the oldest again. */
static void evict(struct pre_session *connection)
{
    list_remove(connection);
    list_append(connection);
    connection->limit->stats->connections_evicted++;
    lws_set_timeout(connection->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
}

static unsigned held_by_its_address(const struct pre_session *connection)
{
    return connection->address ? per_address_limit_count(connection->address) : 1;
}

/* Closes up to `left` connections, the oldest first, of addresses that have more than `most`.
   Returns how many are left over. */
static unsigned evict_oldest(struct pre_session_limit *limit, unsigned left, unsigned most)
{
    struct pre_session *next = limit->oldest;
    for (unsigned seen = 0; seen < limit->count && left > 0; seen++) {
        struct pre_session *connection = next;
        next = connection->newer;
        if (held_by_its_address(connection) > most) {
            evict(connection);
            left--;
        }
    }
    return left;
}

unsigned pre_session_limit_count(const struct pre_session_limit *limit)
{
    return limit->count;
}

bool pre_session_limit_room(struct pre_session_limit *limit)
{
    if (limit->count + limit->reserved < limit->max)
        return true;
    unsigned suppressed;
    if (log_limit_pass(&limit->evicted_limit, loop_now(), &suppressed))
        log_warn("%u connections are no sessions: the oldest are closed%s", limit->count,
                 log_suppressed(suppressed).text);
    unsigned left = 1 + limit->max / EVICTED_SHARE;
    left = evict_oldest(limit, left, PER_BROWSER);
    evict_oldest(limit, left, 0);
    return false;
}

bool pre_session_limit_reserve(struct pre_session_limit *limit)
{
    return ++limit->reserved <= limit->max / 2;
}

void pre_session_limit_unreserve(struct pre_session_limit *limit)
{
    limit->reserved--;
}

static void uncount(struct pre_session *connection)
{
    if (connection->address)
        per_address_limit_leave(connection->limit->per_address, connection->address);
    connection->address = NULL;
}

static void leave(struct pre_session *connection)
{
    list_remove(connection);
    connection->limit->count--;
    uncount(connection);
    free(connection->forwarded);
    free(connection);
}

static bool count(struct pre_session *connection)
{
    struct pre_session_limit *limit = connection->limit;
    bool full;
    connection->address = per_address_limit_enter(limit->per_address, &connection->client,
                                                  limit->max_per_address, &full);
    return connection->address != NULL;
}

static struct pre_session *enter(struct pre_session_limit *limit,
                                 const struct pre_session_start *start)
{
    struct pre_session *connection = calloc(1, sizeof *connection);
    if (!connection)
        return NULL;
    connection->limit = limit;
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
    limit->count++;
    return connection;
}

static void report_refused(struct pre_session_limit *limit, const struct socket_address *client)
{
    char text[SOCKET_ADDRESS_TEXT];
    unsigned suppressed;
    socket_address_format(client, text);
    limit->stats->connections_refused++;
    if (log_limit_pass(&limit->refused_limit, loop_now(), &suppressed))
        log_warn("connection of %s refused: its address has %u that are no sessions%s", text,
                 limit->max_per_address, log_suppressed(suppressed).text);
}

/* Returns whether a client may make one more TLS handshake, which is remembered then. *made is the
   number of handshakes that it has made lately. */
static bool may_shake_hands(struct pre_session_limit *limit, const struct socket_address *client,
                            double *made)
{
    unsigned char owner[16];
    char text[SOCKET_ADDRESS_TEXT];
    unsigned suppressed;
    socket_address_owner(client, owner);
    *made = address_memory_count(limit->handshakes, owner, loop_now());
    if (limit->max_per_address == 0 || *made < limit->max_per_address) {
        address_memory_add(limit->handshakes, owner, loop_now());
        return true;
    }
    limit->stats->handshakes_refused++;
    socket_address_format(client, text);
    if (log_limit_pass(&limit->handshakes_limit, loop_now(), &suppressed))
        log_warn("connection of %s refused: its address has made %u TLS handshakes lately%s", text,
                 limit->max_per_address, log_suppressed(suppressed).text);
    return false;
}

void pre_session_limit_enter(struct pre_session_limit *limit, int fd,
                             const struct pre_session_start *start)
{
    double made = 0.0;
    if (start->vhost == limit->tls && start->counting == PRE_SESSION_COUNTED &&
        !may_shake_hands(limit, &start->client, &made)) {
        close(fd);
        return;
    }
    struct pre_session *connection = enter(limit, start);
    if (!connection) {
        close(fd);
        report_refused(limit, &start->client);
        return;
    }
    /* libwebsockets closes the socket itself when it has no place for the connection. */
    connection->wsi = lws_adopt_socket_vhost(start->vhost, fd);
    if (!connection->wsi) {
        leave(connection);
        return;
    }
    lws_set_opaque_user_data(connection->wsi, connection);
    if (start->vhost == limit->tls)
        tls_turns_enter(limit->turns, connection->wsi, made < PER_BROWSER);
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
    report_refused(connection->limit, client);
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
