#include "session/session.h"

#include "net/address_memory.h"
#include "net/deadlines.h"
#include "net/log.h"
#include "net/per_address_limit.h"
#include "session/upstream.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* Some may be damaged on the way, or come late from an earlier connection. */
#define OFFENCES_MAX 8

/* What an address has opened counts so long, less and less. */
#define OPENED_SECONDS 10.0
/* Those of a household, or of one player who tries again. */
#define OPENED_FEW 8.0

struct session {
    struct sessions *all;
    const struct transport *transport;
    void *link;
    struct address_count *address;
    unsigned char owner[16]; /* of the address */
    struct session *before;  /* neighbours among those that make room */
    struct session *after;
    struct deadline deadline; /* none while it is ending */
    double active; /* when it last came a step on, or a datagram came, from either side */
    unsigned long id;
    bool makes_room;
    bool ending;
    bool evicted;
    enum gate_verdict verdict; /* on the latest of the datagrams that could begin it */
    unsigned offences;         /* datagrams that the gate has not let pass */
    struct allowance allowance;
    struct upstream upstream;
};

struct sessions {
    struct sessions_config config;
    struct loop *loop;
    struct stats *stats;
    struct per_address_limit *per_address;
    struct address_memory *opened;     /* sessions */
    struct address_memory *unanswered; /* datagrams of sessions that were not answered */
    double unanswered_most;            /* that is remembered of one address */
    struct upstream_batch *batch;
    /* Those that make room when all places are taken, the first of them first: those that are
       ending, then those that the game server has not answered, the oldest first. */
    struct session *first;
    struct session *last;
    unsigned count;
    unsigned evicted; /* of these, those that have given up their places */
    unsigned long last_id;
    struct deadlines deadlines;
    struct loop_timer timer;
    double timer_at;
    bool draining;
    void (*drained)(void *context);
    void *drained_context;
    struct log_limit refused_limit;
    struct log_limit room_limit;
    struct log_limit rate_limit;
};

const struct session_farewell session_farewells[] = {
#define SESSION_FAREWELL(NAME, name, code, text, line) [SESSION_END_##NAME] = {code, text},
    SESSION_ENDS(SESSION_FAREWELL)
#undef SESSION_FAREWELL
};

const struct session_farewell *session_refusal_farewell(enum session_refusal why)
{
    return &session_farewells[why == SESSION_REFUSED_DRAINING ? SESSION_END_DRAIN
                                                              : SESSION_END_ROOM];
}

/* Takes it out of those that make room. */
static void list_remove(struct session *session)
{
    struct sessions *all = session->all;
    if (!session->makes_room)
        return;
    *(session->before ? &session->before->after : &all->first) = session->after;
    *(session->after ? &session->after->before : &all->last) = session->before;
    session->makes_room = false;
}

static void list_insert(struct session *session, struct session *before, struct session *after)
{
    struct sessions *all = session->all;
    session->before = before;
    session->after = after;
    *(before ? &before->after : &all->first) = session;
    *(after ? &after->before : &all->last) = session;
    session->makes_room = true;
}

static struct session *session_due(struct deadline *deadline)
{
    return lws_container_of(deadline, struct session, deadline);
}

/* When it ends unless something happens before, and why. Nothing but the next step renews one that
   the game server has not answered. */
static double due(const struct session *session, enum session_end *why)
{
    const struct sessions_config *config = &session->all->config;
    const double idle =
        config->idle_timeout_seconds > 0.0 ? config->idle_timeout_seconds : INFINITY;
    double timeout = idle;
    *why = SESSION_END_IDLE;
    if (!session->allowance.answered && session->verdict == GATE_PASS) {
        timeout = config->answer_timeout_seconds;
        *why = SESSION_END_UNANSWERED;
    } else if (!session->allowance.answered && config->request_timeout_seconds < idle) {
        timeout = config->request_timeout_seconds;
        *why = SESSION_END_SILENT;
    }
    return session->active + timeout;
}

/* One timer serves all. */
static void arm(struct sessions *all, double now)
{
    const struct deadline *first = deadlines_first(&all->deadlines);
    if (!first || first->time >= all->timer_at)
        return;
    all->timer_at = first->time;
    loop_timer_start(all->loop, &all->timer, first->time - now);
}

/* It has come a step on: it is open, it has asked, or it has been answered. */
static void step(struct session *session)
{
    enum session_end why;
    session->active = loop_now();
    deadlines_set(&session->all->deadlines, &session->deadline, due(session, &why));
    arm(session->all, session->active);
}

/* Datagrams do not move deadlines: a session that is found to be due too early gets a new one. */
static void on_timer(void *context)
{
    struct sessions *all = context;
    const double now = loop_now();
    struct deadline *first;
    all->timer_at = INFINITY;
    while ((first = deadlines_first(&all->deadlines)) && first->time <= now) {
        struct session *session = session_due(first);
        enum session_end why;
        const double time = due(session, &why);
        if (time <= now)
            session_end(session, why);
        else
            deadlines_set(&all->deadlines, first, time);
    }
    arm(all, now);
}

static unsigned sessions_of_one_address(const struct sessions_config *config)
{
    const bool limited = config->max_per_address > 0;
    return limited && config->max_per_address < config->max_sessions ? config->max_per_address
                                                                     : config->max_sessions;
}

struct sessions *sessions_create(const struct sessions_config *config, struct loop *loop,
                                 struct stats *stats)
{
    struct sessions *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->config = *config;
    all->loop = loop;
    all->stats = stats;
    all->timer.expired = on_timer;
    all->timer.context = all;
    all->timer_at = INFINITY;
    all->per_address = per_address_limit_create(config->max_sessions);
    all->opened = address_memory_create(OPENED_SECONDS);
    all->unanswered = address_memory_create(ALLOWANCE_UNANSWERED / ALLOWANCE_UNANSWERED_REFILL);
    all->unanswered_most = ALLOWANCE_UNANSWERED * sessions_of_one_address(config);
    all->batch = upstream_batch_create(loop, stats, &all->config.upstream);
    if (!deadlines_reserve(&all->deadlines, config->max_sessions) || !all->per_address ||
        !all->opened || !all->unanswered || !all->batch) {
        sessions_destroy(all);
        return NULL;
    }
    return all;
}

void sessions_destroy(struct sessions *all)
{
    if (!all)
        return;
    loop_timer_stop(&all->timer);
    deadlines_free(&all->deadlines);
    per_address_limit_destroy(all->per_address);
    address_memory_destroy(all->opened);
    address_memory_destroy(all->unanswered);
    upstream_batch_destroy(all->batch);
    free(all);
}

unsigned sessions_count(const struct sessions *all)
{
    return all->count;
}

void sessions_flush(struct sessions *all)
{
    upstream_batch_flush(all->batch);
}

void sessions_count_overflow(struct sessions *all)
{
    for (size_t i = 0; i < all->deadlines.count; i++)
        upstream_count_overflow(&session_due(all->deadlines.heap[i])->upstream);
}

void sessions_drain(struct sessions *all, void (*drained)(void *context), void *context)
{
    all->draining = true;
    all->drained = drained;
    all->drained_context = context;
    if (all->count == 0) {
        drained(context);
        return;
    }
    struct deadline *first;
    while ((first = deadlines_first(&all->deadlines)))
        session_end(session_due(first), SESSION_END_DRAIN);
}

static void count_refusal(struct sessions *all, enum session_refusal why)
{
    static const char *const reasons[] = {
        [SESSION_REFUSED_FULL] = "--max-sessions is reached",
        [SESSION_REFUSED_ADDRESS] = "its address has --max-sessions-per-address sessions",
        [SESSION_REFUSED_DRAINING] = "the relay is stopping",
        [SESSION_REFUSED_MEMORY] = "there is no memory",
    };
    if (why == SESSION_REFUSED_ADDRESS)
        all->stats->sessions_refused_address++;
    else if (why == SESSION_REFUSED_DRAINING)
        all->stats->sessions_refused_draining++;
    else
        all->stats->sessions_refused_full++;
    unsigned held;
    if (log_limit_pass(&all->refused_limit, loop_now(), &held))
        log_warn("session refused: %s (%u more since the last such line)", reasons[why], held);
}

/* Who opens one session after another must not have that of a newcomer ended before the game server
   could answer him. */
static bool crowds_out(const struct sessions *all, const struct session *newest,
                       const struct session *oldest)
{
    const double now = loop_now();
    const double opened = address_memory_count(all->opened, newest->owner, now);
    return !oldest->ending && opened > OPENED_FEW &&
           opened > address_memory_count(all->opened, oldest->owner, now);
}

/* A place for one more. Those whom the game server has answered keep theirs. */
static bool make_room(struct sessions *all, const struct session *newest)
{
    struct session *session = all->first;
    if (all->count - all->evicted < all->config.max_sessions)
        return true;
    if (!session || crowds_out(all, newest, session))
        return false;
    unsigned held;
    if (log_limit_pass(&all->room_limit, loop_now(), &held))
        log_warn(
            "session %lu ended for another: --max-sessions is reached, and the game server has "
            "not answered it (%u more since the last such line)",
            session->id, held);
    list_remove(session);
    session->evicted = true;
    all->evicted++;
    if (session->ending)
        session->transport->close(session->link, SESSION_END_ROOM);
    else
        session_end(session, SESSION_END_ROOM);
    return true;
}

static enum session_refusal admit(struct sessions *all, const struct socket_address *client,
                                  struct session **out)
{
    if (all->draining)
        return SESSION_REFUSED_DRAINING;
    bool full;
    struct address_count *address =
        per_address_limit_enter(all->per_address, client, all->config.max_per_address, &full);
    if (!address)
        return full ? SESSION_REFUSED_ADDRESS : SESSION_REFUSED_MEMORY;
    struct session *session = calloc(1, sizeof *session);
    if (session)
        socket_address_owner(client, session->owner);
    if (!session || !make_room(all, session)) {
        per_address_limit_leave(all->per_address, address);
        free(session);
        return session ? SESSION_REFUSED_FULL : SESSION_REFUSED_MEMORY;
    }
    session->address = address;
    address_memory_add(all->opened, session->owner, loop_now());
    session->verdict = GATE_NO_REQUEST;
    *out = session;
    return SESSION_REFUSED_NOT;
}

static void on_upstream_datagram(void *context, const uint8_t *data, size_t size)
{
    struct session *session = context;
    if (session->ending) {
        session->all->stats->dropped_closing++;
        return;
    }
    if (!session->allowance.answered) {
        allowance_answered(&session->allowance);
        list_remove(session);
        step(session);
    }
    session->transport->send(session->link, data, size);
}

static void on_upstream_flush(void *context)
{
    struct session *session = context;
    if (session->ending)
        return;
    session->active = loop_now();
    session->transport->flush(session->link);
}

struct session *session_open(struct sessions *all, const struct transport *transport, void *link,
                             const struct socket_address *client, enum session_refusal *why)
{
    struct session *session = NULL;
    *why = admit(all, client, &session);
    if (!session) {
        count_refusal(all, *why);
        return NULL;
    }
    session->all = all;
    session->transport = transport;
    session->link = link;
    session->id = ++all->last_id;
    allowance_init(&session->allowance);
    upstream_init(&session->upstream, all->batch, on_upstream_datagram, on_upstream_flush, session);
    list_insert(session, all->last, NULL);
    step(session);
    all->count++;
    all->stats->sessions_opened++;
    if (log_wants(LOG_DEBUG)) {
        char text[SOCKET_ADDRESS_TEXT];
        socket_address_format(client, text);
        log_debug("session %lu: %s from %s", session->id, transport->name, text);
    }
    return session;
}

void session_end(struct session *session, enum session_end why)
{
    static const char *const lines[] = {
#define SESSION_END_LINE(NAME, name, code, text, line) [SESSION_END_##NAME] = line,
        SESSION_ENDS(SESSION_END_LINE)
#undef SESSION_END_LINE
    };
    static const char *const verdicts[] = {
        [GATE_PASS] = "it sent what is no packet of a secure connection",
        [GATE_NO_REQUEST] = "it did not begin with the request of a secure connection",
        [GATE_PROTOCOL] = "it asked for a protocol that --protocol-id does not name",
        [GATE_EXPIRED] = "its connect token has expired",
    };
    struct sessions *all = session->all;
    if (session->ending)
        return;
    session->ending = true;
    switch (why) {
#define SESSION_END_COUNT(NAME, name, code, text, line)                                            \
    case SESSION_END_##NAME:                                                                       \
        all->stats->sessions_ended_##name++;                                                       \
        break;
        SESSION_ENDS(SESSION_END_COUNT)
#undef SESSION_END_COUNT
    }
    log_debug("session %lu: ended: %s", session->id,
              why == SESSION_END_PROTOCOL ? verdicts[session->verdict] : lines[why]);
    deadlines_remove(&all->deadlines, &session->deadline);
    if (!session->evicted) {
        list_remove(session);
        list_insert(session, NULL, all->first);
    }
    upstream_close(&session->upstream);
    session->transport->close(session->link, why);
}

/* Nothing has been opened or sent for a session before the gate lets a datagram pass. */
static bool passes(struct session *session, const uint8_t *data, size_t size)
{
    const struct gate *gate = &session->all->config.gate;
    if (session->verdict == GATE_PASS)
        return gate_passes(gate, data, size);
    session->verdict = gate_opens(gate, data, size, (uint64_t)time(NULL));
    if (session->verdict != GATE_PASS)
        return false;
    step(session);
    return true;
}

/* Whoever ends sessions and begins others gets no more to the game server than who keeps as many as
   his address may have. */
static bool address_may_ask(struct session *session, double now)
{
    struct sessions *all = session->all;
    if (address_memory_count(all->unanswered, session->owner, now) > all->unanswered_most - 1.0)
        return false;
    address_memory_add(all->unanswered, session->owner, now);
    return true;
}

static bool within_allowance(struct session *session, size_t size)
{
    struct sessions *all = session->all;
    const double now = loop_now();
    unsigned held;
    if (session->allowance.answered)
        session->active = now;
    if (allowance_take(&session->allowance, &all->config.allowance, size, now) &&
        (session->allowance.answered || address_may_ask(session, now)))
        return true;
    if (!session->allowance.answered) {
        all->stats->dropped_unanswered++;
        return false;
    }
    all->stats->dropped_upstream_rate++;
    if (log_limit_pass(&all->rate_limit, now, &held))
        log_warn("session %lu sends more than --upstream-packets or --upstream-bytes: dropped (%u "
                 "more since the last such line)",
                 session->id, held);
    return false;
}

void sessions_discard(struct sessions *all, size_t size)
{
    if (size == 0 || size > SESSION_DATAGRAM_MAX)
        return;
    all->stats->client_datagrams++;
    all->stats->client_bytes += size;
    all->stats->dropped_ended++;
}

bool session_receive(struct session *session, const uint8_t *data, size_t size)
{
    struct stats *stats = session->all->stats;
    if (session->ending) {
        sessions_discard(session->all, size);
        return false;
    }
    if (size == 0 || size > SESSION_DATAGRAM_MAX) {
        session_end(session, size == 0 ? SESSION_END_EMPTY : SESSION_END_OVERSIZE);
        return false;
    }
    stats->client_datagrams++;
    stats->client_bytes += size;
    if (!passes(session, data, size)) {
        stats->dropped_protocol++;
        if (++session->offences >= OFFENCES_MAX)
            session_end(session, SESSION_END_PROTOCOL);
        return !session->ending;
    }
    if (!within_allowance(session, size))
        return false;
    if (!upstream_send(&session->upstream, data, size)) {
        session_end(session, SESSION_END_RESOURCES);
        return false;
    }
    return true;
}

void session_close(struct session *session)
{
    struct sessions *all = session->all;
    if (!session->ending) {
        all->stats->sessions_ended_client++;
        log_debug("session %lu: ended by its browser", session->id);
    }
    upstream_close(&session->upstream);
    list_remove(session);
    deadlines_remove(&all->deadlines, &session->deadline);
    per_address_limit_leave(all->per_address, session->address);
    all->evicted -= session->evicted;
    all->count--;
    free(session);
    if (all->draining && all->count == 0)
        all->drained(all->drained_context);
}

unsigned long session_id(const struct session *session)
{
    return session->id;
}
