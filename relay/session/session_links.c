#include "session/session_internal.h"

#include <math.h>
#include <string.h>

static void count_refusal(struct sessions *all, enum session_refusal why)
{
    static const char *const reasons[] = {
        [SESSION_REFUSED_FULL] = "--max-sessions is reached",
        [SESSION_REFUSED_ADDRESS] = "its address has --max-sessions-per-address links",
        [SESSION_REFUSED_DRAINING] = "the relay is stopping",
        [SESSION_REFUSED_RESTART] = "another process has taken the relay over",
        [SESSION_REFUSED_BLOCKED] = "the operator has blocked its address",
        [SESSION_REFUSED_MEMORY] = "there is no memory",
        [SESSION_REFUSED_SERVER] = "it asks for no game server that --upstream allows",
    };
    if (why == SESSION_REFUSED_SERVER)
        all->stats->sessions_refused_server++;
    else if (why == SESSION_REFUSED_ADDRESS)
        all->stats->sessions_refused_address++;
    else if (why == SESSION_REFUSED_BLOCKED)
        all->stats->sessions_refused_blocked++;
    else if (why == SESSION_REFUSED_DRAINING || why == SESSION_REFUSED_RESTART)
        all->stats->sessions_refused_draining++;
    else
        all->stats->sessions_refused_full++;
    unsigned held;
    if (log_limit_pass(&all->refused_limit, loop_now(), &held))
        log_warn("session refused: %s%s", reasons[why], log_held(held).text);
}

static struct session_link **place_of(struct session *session, const struct session_link *link)
{
    struct session_link **at = &session->newest;
    while (*at && *at != link)
        at = &(*at)->older;
    return at;
}

static struct session_link *link_over(const struct session *session,
                                      const struct transport *transport)
{
    struct session_link *link = session->newest;
    while (link && link->transport != transport)
        link = link->older;
    return link;
}

/* Has the address count a link. One that follows another of its session there counts in its stead.
 */
static enum session_refusal count_link(struct sessions *all, struct session_link *link,
                                       const struct socket_address *client,
                                       struct address_count **stead)
{
    bool full;
    if (stead && *stead && per_address_limit_counts(*stead, client)) {
        link->address = *stead;
        *stead = NULL;
        return SESSION_REFUSED_NOT;
    }
    link->address =
        per_address_limit_enter(all->per_address, client, all->config.max_per_address, &full);
    if (link->address)
        return SESSION_REFUSED_NOT;
    return full ? SESSION_REFUSED_ADDRESS : SESSION_REFUSED_MEMORY;
}

static void uncount(struct sessions *all, struct address_count **address)
{
    if (*address)
        per_address_limit_leave(all->per_address, *address);
    *address = NULL;
}

void session_set_client(struct session *session, const struct session_link *link,
                        const struct socket_address *client)
{
    session->client = *client;
    session->transport = link->transport;
    socket_address_owner(client, session->owner);
}

static void report(const struct session *session, const char *what, const struct session_link *link,
                   const struct socket_address *client)
{
    char text[SOCKET_ADDRESS_TEXT];
    if (!log_wants(LOG_DEBUG))
        return;
    socket_address_format(client, text);
    log_debug("session %lu: %s%s from %s", session->id, what, link->transport->name, text);
}

static enum session_refusal join(struct session *session, struct session_link *link,
                                 const struct socket_address *client)
{
    struct sessions *all = session->all;
    struct session_link *old = link_over(session, link->transport);
    const bool waited = !session->newest;
    const enum session_refusal why = count_link(all, link, client,
                                                waited ? &session->address
                                                : old  ? &old->address
                                                       : NULL);
    if (why != SESSION_REFUSED_NOT)
        return why;
    uncount(all, &session->address);
    session_set_client(session, link, client);
    link->older = session->newest;
    session->newest = link;
    report(session, waited ? "goes on over " : "also over ", link, client);
    all->stats->links_joined++;
    if (waited) {
        all->stats->sessions_resumed++;
        session_list_remove(session);
        session->unlinked = INFINITY;
        session_step(session);
    }
    if (old) {
        *place_of(session, old) = old->older;
        old->session = NULL;
        old->transport->close(old, &session_farewells[SESSION_END_MOVED], true);
    }
    return SESSION_REFUSED_NOT;
}

static enum session_refusal begin(struct sessions *all, struct session_link *link,
                                  const struct link_request *request)
{
    const struct socket_address *client = &request->client;
    struct socket_address server;
    const struct upstream_rule *rule =
        upstreams_choose(all->config.upstreams, &request->server, &server);
    if (!rule)
        return SESSION_REFUSED_SERVER;
    if (all->draining)
        return all->draining_why == SESSION_END_RESTART ? SESSION_REFUSED_RESTART
                                                        : SESSION_REFUSED_DRAINING;
    enum session_refusal why = count_link(all, link, client, NULL);
    if (why != SESSION_REFUSED_NOT)
        return why;
    link->session = session_begin(all, link, client, &server, &why);
    if (!link->session) {
        uncount(all, &link->address);
        return why;
    }
    upstream_tell_client(&link->session->upstream, rule->client_header, &link->session->client);
    session_index_add(all->index, &link->session->entry, &request->hash);
    report(link->session, "", link, client);
    return SESSION_REFUSED_NOT;
}

/* Finds the session with this hash, also when another process had it. */
static struct session *find(struct sessions *all, const struct session_hash *hash)
{
    struct session_index_entry *entry = session_index_find(all->index, hash);
    if (!entry && hash->given) {
        sessions_look_up(all, hash);
        entry = session_index_find(all->index, hash);
    }
    return entry ? lws_container_of(entry, struct session, entry) : NULL;
}

bool session_server_allowed(struct sessions *all, const struct link_request *request)
{
    struct socket_address server;
    if (upstreams_choose(all->config.upstreams, &request->server, &server) ||
        find(all, &request->hash))
        return true;
    count_refusal(all, SESSION_REFUSED_SERVER);
    return false;
}

enum session_refusal session_link_open(struct sessions *all, struct session_link *link,
                                       const struct transport *transport,
                                       const struct link_request *request)
{
    const bool blocked = blocks_hold(&all->blocks, &request->client, loop_now());
    struct session *session = blocked ? NULL : find(all, &request->hash);
    *link = (struct session_link){.session = session, .all = all, .transport = transport};
    const enum session_refusal why = blocked   ? SESSION_REFUSED_BLOCKED
                                     : session ? join(session, link, &request->client)
                                               : begin(all, link, request);
    if (why != SESSION_REFUSED_NOT) {
        link->session = NULL;
        count_refusal(all, why);
    }
    return why;
}

void session_close_links(struct session *session, const struct session_farewell *farewell,
                         bool at_once)
{
    for (struct session_link *link = session->newest; link; link = link->older)
        link->transport->close(link, farewell, at_once);
}

/* Its last link is gone. Only one that the game server has answered is worth its place. */
static bool waits(const struct session *session, enum session_parting parting)
{
    return session->entry.listed && session->allowance.answered && parting != SESSION_LINK_CLOSED &&
           session->all->config.resume_seconds > 0.0;
}

static void wait(struct session *session, struct address_count **address)
{
    session->address = *address;
    *address = NULL;
    session->unlinked = loop_now();
    if (!session->published)
        session_publish(session); /* the others were too busy to hear of it */
    session_list_append(&session->all->waiting, session);
    session_hurry(session);
    session->all->stats->sessions_unlinked++;
    log_debug("session %lu: without a link", session->id);
}

double session_rtt(const struct session *session)
{
    for (const struct session_link *link = session->newest; link; link = link->older) {
        const double rtt = link->transport->rtt(link);
        if (!isnan(rtt))
            return rtt;
    }
    return (double)session->rtt;
}

void session_link_close(struct session_link *link, enum session_parting parting)
{
    struct session *session = link->session;
    if (session) {
        session->rtt = (float)session_rtt(session);
        *place_of(session, link) = link->older;
        link->session = NULL;
        if (parting == SESSION_LINK_AWAY)
            session_set_away(session, true);
        if (!session->newest && waits(session, parting))
            wait(session, &link->address);
        else if (!session->newest)
            session_free(session);
    }
    if (link->all)
        uncount(link->all, &link->address);
}
