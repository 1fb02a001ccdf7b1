#include "session/session_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The number of sessions that the members of a household open within a short time, or one player
   who tries again (hostile.unproven). */
#define OPENED_FEW 8.0

const struct session_farewell session_farewells[] = {
#define SESSION_FAREWELL(NAME, name, code, text, line) [SESSION_END_##NAME] = {code, text},
    SESSION_ENDS(SESSION_FAREWELL)
#undef SESSION_FAREWELL
};

const struct session_farewell *session_refusal_farewell(enum session_refusal why)
{
    static const enum session_end ends[] = {
        [SESSION_REFUSED_FULL] = SESSION_END_EVICTED,
        [SESSION_REFUSED_ADDRESS] = SESSION_END_EVICTED,
        [SESSION_REFUSED_DRAINING] = SESSION_END_DRAIN,
        [SESSION_REFUSED_RESTART] = SESSION_END_RESTART,
        [SESSION_REFUSED_BLOCKED] = SESSION_END_BLOCKED,
        [SESSION_REFUSED_MEMORY] = SESSION_END_EVICTED,
        [SESSION_REFUSED_ELSEWHERE] = SESSION_END_MOVED,
    };
    static const struct session_farewell other_server = {
        SESSION_CODE_SERVER, "this game server is not allowed (--upstream)"};
    return why == SESSION_REFUSED_SERVER ? &other_server : &session_farewells[ends[why]];
}

static void count_refusal(struct sessions *sessions, enum session_refusal why)
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
    if (why == SESSION_REFUSED_ELSEWHERE)
        return; /* the page tries again, and another process may have the session */
    if (why == SESSION_REFUSED_SERVER)
        sessions->stats->sessions_refused_server++;
    else if (why == SESSION_REFUSED_ADDRESS)
        sessions->stats->sessions_refused_address++;
    else if (why == SESSION_REFUSED_BLOCKED)
        sessions->stats->sessions_refused_blocked++;
    else if (why == SESSION_REFUSED_DRAINING || why == SESSION_REFUSED_RESTART)
        sessions->stats->sessions_refused_draining++;
    else
        sessions->stats->sessions_refused_full++;
    unsigned suppressed;
    if (log_limit_pass(&sessions->refused_limit, loop_now(), &suppressed))
        log_warn("session refused: %s%s", reasons[why], log_suppressed(suppressed).text);
}

static struct session_link **place_of(struct session *session, const struct session_link *link)
{
    struct session_link **at = &session->newest;
    while (*at && *at != link)
        at = &(*at)->older;
    return at;
}

/* Returns the link whose place another one takes; NULL when there is none. */
static struct session_link *link_over(const struct session *session,
                                      const struct transport *transport, unsigned subflow)
{
    struct session_link *link = session->newest;
    if (subflow > 0)
        return session->subflows ? session->subflows->each[subflow - 1].link : NULL;
    while (link && (link->transport != transport || link->subflow))
        link = link->older;
    return link;
}

/* Counts a link for its address. A link that replaces another link of its session at that address
   is counted instead of that one. */
static enum session_refusal count_link(struct sessions *sessions, struct session_link *link,
                                       const struct socket_address *client,
                                       struct address_count **stead)
{
    bool full;
    if (stead && *stead && per_address_limit_counts(*stead, client)) {
        link->address = *stead;
        *stead = NULL;
        return SESSION_REFUSED_NOT;
    }
    link->address = per_address_limit_enter(sessions->per_address, client,
                                            sessions->config.max_per_address, &full);
    if (link->address)
        return SESSION_REFUSED_NOT;
    return full ? SESSION_REFUSED_ADDRESS : SESSION_REFUSED_MEMORY;
}

static void uncount(struct sessions *sessions, struct address_count **address)
{
    if (*address)
        per_address_limit_leave(sessions->per_address, *address);
    *address = NULL;
}

static void set_client(struct session *session, const struct session_link *link,
                       const struct socket_address *client)
{
    session->client = *client;
    session->transport = link->transport;
    socket_address_owner(client, session->owner);
}

/* Logs what has become of a link of a session that goes on. */
static void log_change(struct session *session, const char *what, const struct session_link *link)
{
    char why[64];
    snprintf(why, sizeof why, "%s %s", what, link->transport->name);
    session_log_change(session, why);
}

static void report(const struct session *session, const struct session_link *link,
                   const struct socket_address *client)
{
    char text[SOCKET_ADDRESS_TEXT];
    if (!log_wants(LOG_DEBUG))
        return;
    socket_address_format(client, text);
    log_debug("session %lu: %s from %s", session->id, link->transport->name, text);
}

/* Lets a link go that the session no longer needs. */
static void dismiss(struct session *session, struct session_link *link)
{
    *place_of(session, link) = link->older;
    drops_add(&session->drops, &link->drops);
    subflow_close(link->subflow);
    link->session = NULL;
    link->transport->close(link, &session_farewells[SESSION_END_MOVED], true);
}

static enum session_refusal join(struct session *session, struct session_link *link,
                                 const struct link_request *request)
{
    struct sessions *sessions = session->sessions;
    const struct socket_address *client = &request->client;
    struct session_link *old = link_over(session, link->transport, request->subflow);
    const bool waited = !session->newest;
    const enum session_refusal why = count_link(sessions, link, client,
                                                waited ? &session->address
                                                : old  ? &old->address
                                                       : NULL);
    if (why != SESSION_REFUSED_NOT)
        return why;
    uncount(sessions, &session->address);
    set_client(session, link, client);
    link->older = session->newest;
    session->newest = link;
    log_change(session, waited ? "goes on over" : "also over", link);
    sessions->stats->links_joined++;
    if (waited) {
        sessions->stats->sessions_resumed++;
        eviction_remove(&session->eviction);
        session->unlinked = INFINITY;
        session_step(session);
    }
    if (old)
        dismiss(session, old);
    if (request->subflow > 0)
        subflow_open(session->subflows, request->subflow, link);
    session_record(session, true);
    return SESSION_REFUSED_NOT;
}

void session_link_lead(struct session_link *link, const struct socket_address *client)
{
    struct session *session = link->session;
    *place_of(session, link) = link->older;
    link->older = session->newest;
    session->newest = link;
    set_client(session, link, client);
}

/* Returns why a link cannot be a subflow of a session: there is no other link, or the game server
   has not answered the session, so that it has proven nothing. */
static enum session_refusal refuse_subflow(struct session *session)
{
    if (!session || !session->allowance.answered || session->ending || !session->newest)
        return SESSION_REFUSED_ELSEWHERE;
    if (!session->subflows)
        session->subflows = subflows_create();
    return session->subflows ? SESSION_REFUSED_NOT : SESSION_REFUSED_MEMORY;
}

/* Returns whether an address has opened too many sessions lately to push out this one. An address
   that opens one session after another must not end that of a newcomer before the game server could
   answer it, nor that of a player before the player is back. */
static bool crowds_out(const struct sessions *sessions, const unsigned char owner[16],
                       const struct session *session)
{
    const double now = loop_now();
    const double opened = address_memory_count(sessions->opened, owner, now);
    return !session->ending && opened > OPENED_FEW &&
           opened > address_memory_count(sessions->opened, session->owner, now);
}

static const char *why_it_goes(const struct session *session)
{
    if (session_is_silent(session))
        return "the game server no longer speaks to it";
    return session->newest ? "the game server has not answered it" : "it has no link";
}

/* Finds a place for one more session of the owner of an address. A player may still come back to a
   session that waits, but not to one that the game server has left, as when its player goes on in
   another. So the latter gives way first. Returns false when none gives way, as while there are
   more sessions than a reload has left places for. */
static bool make_place(struct sessions *sessions, const unsigned char owner[16])
{
    const unsigned taken = sessions_places_taken(sessions);
    struct eviction_entry *first = eviction_first(&sessions->eviction);
    struct session *session = first ? lws_container_of(first, struct session, eviction) : NULL;
    if (taken < sessions->config.max_sessions)
        return true;
    if (taken > sessions->config.max_sessions || !session || crowds_out(sessions, owner, session))
        return false;
    unsigned suppressed;
    if (log_limit_pass(&sessions->evicted_limit, loop_now(), &suppressed))
        log_warn("session %lu ended for another: --max-sessions is reached, and %s%s", session->id,
                 why_it_goes(session), log_suppressed(suppressed).text);
    eviction_remove(&session->eviction);
    session->evicted = true;
    sessions->evicted++;
    if (session->ending)
        session_close_links(session, session_refusal_farewell(SESSION_REFUSED_FULL), true);
    else
        session_end(session, SESSION_END_EVICTED);
    return true;
}

/* Begins a session for a link. From now on its place counts for the link's address. */
static struct session *begin_session(struct sessions *sessions, struct session_link *link,
                                     const struct socket_address *client,
                                     const struct socket_address *server, enum session_refusal *why)
{
    unsigned char owner[16];
    *why = SESSION_REFUSED_FULL;
    socket_address_owner(client, owner);
    if (!make_place(sessions, owner))
        return NULL;
    *why = SESSION_REFUSED_MEMORY;
    struct session *session = session_create(sessions, owner);
    if (!session)
        return NULL;
    *why = SESSION_REFUSED_NOT;
    session->newest = link;
    session->server = *server;
    set_client(session, link, client);
    session->opened = loop_now();
    address_memory_add(sessions->opened, session->owner, loop_now());
    eviction_append(&sessions->eviction, EVICTION_UNPROVEN, &session->eviction);
    session_step(session);
    sessions->count++;
    sessions->stats->sessions_opened++;
    return session;
}

static enum session_refusal begin(struct sessions *sessions, struct session_link *link,
                                  const struct link_request *request)
{
    const struct socket_address *client = &request->client;
    struct socket_address server;
    const struct upstream_rule *rule =
        upstreams_choose(sessions->config.upstreams, &request->server, &server);
    if (!rule)
        return SESSION_REFUSED_SERVER;
    if (sessions->draining)
        return sessions->draining_why == SESSION_END_RESTART ? SESSION_REFUSED_RESTART
                                                             : SESSION_REFUSED_DRAINING;
    enum session_refusal why = count_link(sessions, link, client, NULL);
    if (why != SESSION_REFUSED_NOT)
        return why;
    link->session = begin_session(sessions, link, client, &server, &why);
    if (!link->session) {
        uncount(sessions, &link->address);
        return why;
    }
    upstream_tell_client(&link->session->upstream, rule->client_header, &link->session->client);
    session_index_add(sessions->index, &link->session->entry, &request->hash);
    report(link->session, link, client);
    return SESSION_REFUSED_NOT;
}

/* Finds the session for which a link is, also when another process had it. */
static struct session *find(struct sessions *sessions, const struct link_request *request)
{
    const struct session_hash *hash = &request->hash;
    struct session_index_entry *entry = session_index_find(sessions->index, hash);
    if (!entry && hash->given && request->subflow == 0) {
        sessions_look_up(sessions, hash);
        entry = session_index_find(sessions->index, hash);
    }
    return entry ? lws_container_of(entry, struct session, entry) : NULL;
}

bool session_server_allowed(struct sessions *sessions, const struct link_request *request)
{
    struct socket_address server;
    if (upstreams_choose(sessions->config.upstreams, &request->server, &server) ||
        find(sessions, request))
        return true;
    count_refusal(sessions, SESSION_REFUSED_SERVER);
    return false;
}

enum session_refusal session_link_open(struct sessions *sessions, struct session_link *link,
                                       const struct transport *transport,
                                       const struct link_request *request)
{
    const bool blocked = blocks_hold(&sessions->blocks, &request->client, loop_now());
    struct session *session = blocked ? NULL : find(sessions, request);
    *link = (struct session_link){.session = session, .sessions = sessions, .transport = transport};
    enum session_refusal why = blocked                ? SESSION_REFUSED_BLOCKED
                               : request->subflow > 0 ? refuse_subflow(session)
                                                      : SESSION_REFUSED_NOT;
    if (why == SESSION_REFUSED_NOT)
        why = session ? join(session, link, request) : begin(sessions, link, request);
    if (why != SESSION_REFUSED_NOT) {
        link->session = NULL;
        count_refusal(sessions, why);
    }
    return why;
}

void session_close_links(struct session *session, const struct session_farewell *farewell,
                         bool at_once)
{
    for (struct session_link *link = session->newest; link; link = link->older)
        link->transport->close(link, farewell, at_once);
}

void session_update_subflows(struct session *session)
{
    if (session->subflows)
        session->sessions->stats->subflow_datagrams += subflows_update(session->subflows);
}

bool session_link_receive(struct session_link *link, const uint8_t *data, size_t size)
{
    struct session *session = link->session;
    if (!link->subflow || size > SUBFLOW_MESSAGE_MAX)
        return session_receive(session, data, size);
    if (!subflow_take_header(link->subflow, data, size))
        return session_receive(session, data, 0);
    session_update_subflows(session);
    if (size > SUBFLOW_HEADER_SIZE)
        return session_receive(session, data + SUBFLOW_HEADER_SIZE, size - SUBFLOW_HEADER_SIZE);
    /* It only confirms, but has to be read as well. */
    return allowance_take(&session->allowance, &session->sessions->config.allowance, size,
                          loop_now());
}

/* Returns whether a session may wait for its next link. Only one that the game server has answered
   is worth its place. */
static bool may_wait(const struct session *session, enum session_parting parting)
{
    return session->entry.listed && session->allowance.answered && parting != SESSION_LINK_CLOSED &&
           session->sessions->config.resume_seconds > 0.0;
}

static void wait_for_link(struct session *session, struct address_count **address)
{
    session->address = *address;
    *address = NULL;
    session->unlinked = loop_now();
    if (!session->published)
        session_publish(session); /* the supervisor was too busy to take the session before */
    eviction_append(&session->sessions->eviction, EVICTION_UNLINKED, &session->eviction);
    session_hurry(session);
    session->sessions->stats->sessions_unlinked++;
}

/* Lets the subflows go when there is no other link any more: how that ended tells what becomes of
   the session. */
static void dismiss_subflows(struct session *session)
{
    struct session_link *link = session->newest;
    while (link && link->subflow)
        link = link->older;
    while (!link && session->newest)
        dismiss(session, session->newest);
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
        drops_add(&session->drops, &link->drops);
        subflow_close(link->subflow);
        link->session = NULL;
        dismiss_subflows(session);
        if (parting == SESSION_LINK_AWAY)
            session_set_away(session, true);
        const bool goes_on = session->newest || may_wait(session, parting);
        if (!session->newest && goes_on)
            wait_for_link(session, &link->address);
        if (goes_on)
            session_record(session, true);
        else
            session_free(session);
        if (goes_on && parting != SESSION_LINK_CLOSED && !session->ending)
            log_change(session, session->newest ? "lost" : "has no link after", link);
    }
    if (link->sessions)
        uncount(link->sessions, &link->address);
}
