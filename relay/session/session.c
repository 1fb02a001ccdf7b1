#include "session/session_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A session ends when the gate has refused this many of its datagrams. Some may have been damaged
   on the way, or come late from an earlier connection. */
#define OFFENCES_MAX 8

/* A game server may be away for this many seconds, as when it is restarted, before players who ask
   for it learn that it is down. */
#define DOWN_SECONDS 3.0

/* After this many seconds, a third of what a session counted for the address that has opened it is
   left. */
#define OPENED_SECONDS 10.0

/* The lines about changes: at most so many at once, and then so many a second. A link that breaks
   and its successor are two; a page that opens several links at its start has a few more. */
#define CHANGES_OF_ONE            4.0
#define CHANGES_OF_ONE_PER_SECOND 0.1
#define CHANGES_OF_ALL            100.0
#define CHANGES_OF_ALL_PER_SECOND 10.0

static struct session *session_due(struct deadline *deadline)
{
    return lws_container_of(deadline, struct session, deadline);
}

/* Returns when a session ends unless something happens before, and why. While the game server has
   not answered a session, only its next step renews the time. */
static double due(const struct session *session, enum session_end *why)
{
    const struct sessions_config *config = &session->sessions->config;
    const double idle =
        config->idle_timeout_seconds > 0.0 ? config->idle_timeout_seconds : INFINITY;
    double timeout = idle;
    *why = SESSION_END_IDLE;
    if (!session->allowance.answered && session->verdict == GATE_PASS) {
        timeout = config->answer_timeout_seconds;
        *why = SESSION_END_UNANSWERED;
        if (session->upstream.server_down) {
            timeout = fmin(timeout, DOWN_SECONDS);
            *why = SESSION_END_DOWN;
        }
    } else if (!session->allowance.answered && config->request_timeout_seconds < idle) {
        timeout = config->request_timeout_seconds;
        *why = SESSION_END_SILENT;
    }
    const double time = session->active + timeout;
    const double wait =
        session->away ? fmin(config->resume_seconds, SESSION_AWAY_SECONDS) : config->resume_seconds;
    const double unlinked = session->unlinked + wait;
    if (unlinked >= time)
        return time;
    *why = SESSION_END_UNLINKED;
    return unlinked;
}

/* Returns when a session begins to give way to others, unless the game server speaks to it before;
   INFINITY when it does already. */
static double silent_at(const struct session *session)
{
    return session->eviction.list
               ? INFINITY
               : session->last_answer + session->sessions->config.answer_timeout_seconds;
}

/* Sets the one timer that serves all sessions. */
static void arm(struct sessions *sessions, double now)
{
    const struct deadline *first = deadlines_first(&sessions->deadlines);
    if (!first || first->time >= sessions->timer_at)
        return;
    sessions->timer_at = first->time;
    loop_timer_start(sessions->loop, &sessions->timer, first->time - now);
}

static void set_deadline(struct session *session)
{
    enum session_end why;
    const double end = due(session, &why);
    deadlines_set(&session->sessions->deadlines, &session->deadline, fmin(end, silent_at(session)));
}

void session_hurry(struct session *session)
{
    set_deadline(session);
    arm(session->sessions, loop_now());
}

void session_step(struct session *session)
{
    session->active = loop_now();
    session_hurry(session);
}

/* Samples the round trips of a session, and logs when datagrams were dropped since the last line.
 */
static void sample(struct session *session)
{
    struct session_summary summary;
    struct drops sum = {0};
    session_describe(session, &summary);
    const uint64_t drops = drops_add(&sum, &summary.drops);
    if (session->newest && !isnan(summary.rtt))
        histogram_add(&session->sessions->stats->rtt_seconds, summary.rtt);
    if (drops > session->drops_told)
        session_log_change(session, "datagrams were dropped");
}

/* Ends the sessions that are due. Datagrams do not move deadlines: a session that is found to be
   due too early gets a new deadline, by which it has its turn even if that has passed already. So
   those that give way are in order also when the timer is late. */
static void on_timer(void *context)
{
    struct sessions *sessions = context;
    const double now = loop_now();
    struct deadline *first;
    sessions->timer_at = INFINITY;
    while ((first = deadlines_first(&sessions->deadlines)) && first->time <= now) {
        struct session *session = session_due(first);
        enum session_end why;
        if (due(session, &why) <= now) {
            session_end(session, why);
            continue;
        }
        sample(session);
        if (silent_at(session) <= first->time)
            eviction_append(&sessions->eviction, EVICTION_SILENT, &session->eviction);
        set_deadline(session);
    }
    arm(sessions, now);
}

static unsigned sessions_of_one_address(const struct sessions_config *config)
{
    const bool limited = config->max_per_address > 0;
    return limited && config->max_per_address < config->max_sessions ? config->max_per_address
                                                                     : config->max_sessions;
}

void sessions_set_limits(struct sessions *sessions, const struct sessions_config *config)
{
    const struct sessions_config old = sessions->config;
    sessions->config = *config;
    sessions->config.upstreams = old.upstreams;
    sessions->config.capacity = old.capacity;
    sessions->config.secret = old.secret;
    sessions->unanswered_most = ALLOWANCE_UNANSWERED * sessions_of_one_address(&sessions->config);
    /* All sessions are made due at once, and then each gets the deadline that it has by the new
       limits. */
    deadlines_set_all(&sessions->deadlines, loop_now());
    on_timer(sessions);
}

struct sessions *sessions_create(const struct sessions_config *config, struct loop *loop,
                                 struct stats *stats)
{
    struct sessions *sessions = calloc(1, sizeof *sessions);
    if (!sessions)
        return NULL;
    const unsigned capacity =
        config->capacity > config->max_sessions ? config->capacity : config->max_sessions;
    sessions->config = *config;
    sessions->config.capacity = capacity;
    sessions->loop = loop;
    sessions->stats = stats;
    sessions->timer.expired = on_timer;
    sessions->timer.context = sessions;
    sessions->timer_at = INFINITY;
    sessions->changes.level = INFINITY;
    sessions->index = session_index_create(capacity, config->secret);
    sessions->per_address = per_address_limit_create(capacity);
    sessions->opened = address_memory_create(OPENED_SECONDS);
    sessions->unanswered =
        address_memory_create(ALLOWANCE_UNANSWERED / ALLOWANCE_UNANSWERED_REFILL);
    sessions->upstream_common = upstream_common_create(loop, stats);
    sessions_set_limits(sessions, config);
    if (!deadlines_reserve(&sessions->deadlines, capacity) || !sessions->index ||
        !sessions->per_address || !sessions->opened || !sessions->unanswered ||
        !sessions->upstream_common) {
        sessions_destroy(sessions);
        return NULL;
    }
    return sessions;
}

void sessions_destroy(struct sessions *sessions)
{
    if (!sessions)
        return;
    loop_timer_stop(&sessions->timer);
    deadlines_free(&sessions->deadlines);
    session_index_destroy(sessions->index);
    per_address_limit_destroy(sessions->per_address);
    address_memory_destroy(sessions->opened);
    address_memory_destroy(sessions->unanswered);
    upstream_common_destroy(sessions->upstream_common);
    for (unsigned i = 0; i < SESSIONS_RECORDS_ENDED; i++)
        free(sessions->ended[i]);
    free(sessions);
}

unsigned sessions_count(const struct sessions *sessions)
{
    return sessions->count;
}

unsigned sessions_places_taken(const struct sessions *sessions)
{
    return sessions->count - sessions->evicted;
}

struct blocks *sessions_blocks(struct sessions *sessions)
{
    return &sessions->blocks;
}

struct session *sessions_at(const struct sessions *sessions, size_t index)
{
    return index < sessions->deadlines.count ? session_due(sessions->deadlines.heap[index]) : NULL;
}

bool sessions_are_settled(const struct sessions *sessions)
{
    for (size_t i = 0; i < sessions->deadlines.count; i++) {
        const struct session *session = session_due(sessions->deadlines.heap[i]);
        if (!session->newest && !session->away)
            return false;
    }
    return true;
}

void sessions_gauges(const struct sessions *sessions, struct gauges *out)
{
    struct gauges gauges = {.sessions_max = sessions->config.max_sessions};
    const struct socket_address *down;
    for (unsigned i = 0; (down = upstream_common_down(sessions->upstream_common, i)); i++) {
        const unsigned rule = upstreams_find(sessions->config.upstreams, down);
        if (rule < GAUGES_UPSTREAMS)
            gauges.upstreams_down[rule]++;
    }
    for (size_t i = 0; i < sessions->deadlines.count; i++) {
        const struct session *session = session_due(sessions->deadlines.heap[i]);
        gauges.sessions_unanswered += !session->allowance.answered;
        gauges.sessions_waiting += !session->newest;
        for (const struct session_link *link = session->newest; link; link = link->older)
            gauges.links[gauges_transport(link->transport->name)]++;
    }
    *out = gauges;
}

void sessions_count_overflow(struct sessions *sessions)
{
    for (size_t i = 0; i < sessions->deadlines.count; i++)
        upstream_count_overflow(&session_due(sessions->deadlines.heap[i])->upstream);
}

void sessions_drain(struct sessions *sessions, enum session_end why, void (*drained)(void *context),
                    void *context)
{
    sessions->draining = true;
    sessions->draining_why = why;
    sessions->drained = drained;
    sessions->drained_context = context;
    if (sessions->count == 0)
        drained(context);
}

void sessions_end_all(struct sessions *sessions)
{
    struct deadline *first;
    while ((first = deadlines_first(&sessions->deadlines)))
        session_end(session_due(first), sessions->draining_why);
}

/* Returns the newest link that is ready; the newest when none is ready. */
static struct session_link *choose_link(const struct session *session)
{
    struct session_link *link = session->newest;
    while (link && !link->transport->ready(link))
        link = link->older;
    return link ? link : session->newest;
}

/* Notes that the game server has spoken to a session, as it does ten times a second to a player. */
static void on_answer(struct session *session)
{
    session->last_answer = loop_now();
    if (!session->allowance.answered) {
        histogram_add(&session->sessions->stats->setup_seconds,
                      session->last_answer - session->opened);
        allowance_answered(&session->allowance);
        eviction_remove(&session->eviction);
        session_step(session);
        session_publish(session);
    } else if (session_is_silent(session)) {
        eviction_remove(&session->eviction);
        session_hurry(session);
    }
}

static void on_upstream_batch(void *context, const struct datagram *datagrams, size_t count)
{
    struct session *session = context;
    struct sessions *sessions = session->sessions;
    bool answers = false;
    for (size_t i = 0; i < count; i++) {
        session->traffic.upstream_datagrams++;
        session->traffic.upstream_bytes += datagrams[i].size;
        answers =
            answers || gate_is_answer(&sessions->config.gate, datagrams[i].data, datagrams[i].size);
    }
    if (answers)
        on_answer(session);
    if (session->allowance.answered)
        session->active = loop_now();
    session_record(session, false);
    struct session_link *link = choose_link(session);
    struct subflow *best = link && link->subflow ? subflows_choose(session->subflows, NULL) : NULL;
    if (best)
        link = best->link;
    if (link)
        link->transport->send_batch(link, datagrams, count);
    else
        STATS_DROPPED(sessions->stats, &session->drops, unlinked, count);
    session_update_subflows(session);
}

void session_identify(const struct sessions *sessions, const char *key, const char *origin,
                      struct link_request *request)
{
    session_index_hash(sessions->index, key, origin, &request->server, &request->hash);
}

/* Returns the next id. Its last two digits tell the worker, which makes it unique among all
   workers. */
static unsigned long next_id(struct sessions *sessions)
{
    sessions->last_id++;
    return sessions->config.worker == 0
               ? sessions->last_id
               : sessions->last_id * (SESSION_WORKERS_MAX + 1) + sessions->config.worker;
}

unsigned session_id_worker(unsigned long id)
{
    return (unsigned)(id % (SESSION_WORKERS_MAX + 1));
}

struct session *session_create(struct sessions *sessions, const unsigned char owner[16])
{
    struct session *session = calloc(1, sizeof *session);
    if (!session)
        return NULL;
    session->sessions = sessions;
    memcpy(session->owner, owner, sizeof session->owner);
    session->unlinked = INFINITY;
    session->rtt = NAN;
    session->changes.level = INFINITY;
    session->id = next_id(sessions);
    session->verdict = GATE_NO_REQUEST;
    allowance_init(&session->allowance);
    upstream_init(&session->upstream, sessions->upstream_common, &session->server,
                  on_upstream_batch, session, &session->drops);
    return session;
}

unsigned long session_id(const struct session *session)
{
    return session->id;
}

const struct socket_address *session_client(const struct session *session)
{
    return &session->client;
}

void session_describe(const struct session *session, struct session_summary *out)
{
    *out = (struct session_summary){
        .id = session->id,
        .token_id = session->token_id,
        .age_seconds = loop_now() - session->opened,
        .client = session->client,
        .server = session->server,
        .answered = session->allowance.answered,
        .rtt = session_rtt(session),
        .traffic = session->traffic,
        .drops = session->drops,
    };
    for (const struct session_link *link = session->newest; link; link = link->older)
        drops_add(&out->drops, &link->drops);
    upstream_local(&session->upstream, &out->source);
    for (const struct session_link *link = session->newest;
         link && out->transport_count < SESSION_SUMMARY_LINKS_MAX; link = link->older)
        out->transports[out->transport_count++] = gauges_transport(link->transport->name);
}

/* Returns whether the end of a session may be logged. Everybody can open sessions that the game
   server does not answer: one line in a while tells of those, and only at the level debug there is
   one for each. Every session of a player gets a line. */
static bool may_log(struct session *session, unsigned *others)
{
    *others = 0;
    return log_wants(LOG_INFO) &&
           (session->allowance.answered || log_wants(LOG_DEBUG) ||
            log_limit_pass(&session->sessions->ended_limit, loop_now(), others));
}

static const char *transport_name(const struct session *session)
{
    return session->transport ? session->transport->name : "none";
}

/* Logs the end of a session. Its socket must still be open, because the line has the socket's
   address. */
static void log_end(struct session *session, const char *why)
{
    struct session_summary summary;
    unsigned others;
    if (!may_log(session, &others))
        return;
    session_describe(session, &summary);
    session_summary_log(&summary, "session ended", transport_name(session), why, others);
}

/* Takes a line from a bucket. Returns false when there is none. */
static bool take_line(struct bucket *bucket, double per_second, double most)
{
    if (bucket_fill(bucket, per_second, most, loop_now()) < 1.0)
        return false;
    bucket->level -= 1.0;
    return true;
}

void session_log_change(struct session *session, const char *why)
{
    struct sessions *sessions = session->sessions;
    struct session_summary summary;
    struct drops sum = {0};
    if (!log_wants(session->allowance.answered ? LOG_INFO : LOG_DEBUG))
        return;
    if (!log_wants(LOG_DEBUG) &&
        (!take_line(&session->changes, CHANGES_OF_ONE_PER_SECOND, CHANGES_OF_ONE) ||
         !take_line(&sessions->changes, CHANGES_OF_ALL_PER_SECOND, CHANGES_OF_ALL))) {
        sessions->changes_held_back++;
        return;
    }
    session_describe(session, &summary);
    session->drops_told = drops_add(&sum, &summary.drops);
    session_summary_log(&summary, "session changed", transport_name(session), why,
                        sessions->changes_held_back);
    sessions->changes_held_back = 0;
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
    };
    struct sessions *sessions = session->sessions;
    const bool goes_on = why == SESSION_END_RESTART || why == SESSION_END_MOVED;
    if (session->ending)
        return;
    session->ending = true;
    switch (why) {
#define SESSION_END_COUNT(NAME, name, code, text, line)                                            \
    case SESSION_END_##NAME:                                                                       \
        sessions->stats->sessions_ended_##name++;                                                  \
        break;
        SESSION_ENDS(SESSION_END_COUNT)
#undef SESSION_END_COUNT
    }
    if (why != SESSION_END_RESTART)
        log_end(session, why == SESSION_END_PROTOCOL ? verdicts[session->verdict] : lines[why]);
    deadlines_remove(&sessions->deadlines, &session->deadline);
    session_withdraw(session, goes_on);
    if (!session->evicted)
        eviction_prepend(&sessions->eviction, EVICTION_UNPROVEN, &session->eviction);
    if (goes_on)
        upstream_leave(&session->upstream);
    else
        upstream_close(&session->upstream);
    if (session->newest)
        session_close_links(session, &session_farewells[why], why == SESSION_END_EVICTED);
    else
        session_free(session);
}

/* Returns whether the gate lets a datagram pass. Nothing is opened or sent for a session before the
   gate has let one pass. */
static bool passes(struct session *session, const uint8_t *data, size_t size)
{
    const struct gate *gate = &session->sessions->config.gate;
    if (session->verdict == GATE_PASS)
        return gate_passes(gate, data, size);
    session->verdict = gate_opens(gate, data, size);
    if (session->verdict != GATE_PASS)
        return false;
    session_step(session);
    return true;
}

/* Returns whether the address of a session may send to a game server that has not answered. So a
   client that ends sessions and begins others gets no more datagrams to the game server than one
   that keeps as many as an address may have. */
static bool address_may_ask(struct session *session, double now)
{
    struct sessions *sessions = session->sessions;
    if (address_memory_count(sessions->unanswered, session->owner, now) >
        sessions->unanswered_most - 1.0)
        return false;
    address_memory_add(sessions->unanswered, session->owner, now);
    return true;
}

static bool within_allowance(struct session *session, size_t size)
{
    struct sessions *sessions = session->sessions;
    const double now = loop_now();
    unsigned suppressed;
    if (session->allowance.answered)
        session->active = now;
    if (allowance_take(&session->allowance, &sessions->config.allowance, size, now) &&
        (session->allowance.answered || address_may_ask(session, now)))
        return true;
    if (!session->allowance.answered) {
        STATS_DROPPED(sessions->stats, &session->drops, unanswered, 1);
        return false;
    }
    STATS_DROPPED(sessions->stats, &session->drops, upstream_rate, 1);
    if (log_limit_pass(&sessions->rate_limit, now, &suppressed))
        log_warn("session %lu sends more than --upstream-packets or --upstream-bytes: dropped%s",
                 session->id, log_suppressed(suppressed).text);
    return false;
}

/* Drops a datagram that is empty or too long. Such datagrams count against the allowance too: the
   relay has to read them. */
static bool drop_misfit(struct session *session, size_t size)
{
    struct stats *stats = session->sessions->stats;
    if (!within_allowance(session, size))
        return false;
    if (size == 0)
        STATS_DROPPED(stats, &session->drops, from_browser_empty, 1);
    else
        STATS_DROPPED(stats, &session->drops, from_browser_oversize, 1);
    return true;
}

void sessions_discard(struct sessions *sessions, size_t size)
{
    if (size > SESSION_MESSAGE_MAX)
        return;
    sessions->stats->client_datagrams++;
    sessions->stats->client_bytes += size;
    sessions->stats->dropped_ended++;
}

/* Returns whether the session is known to be the only one of its page. Links of a page may come to
   two processes before the game server has answered, and each begins a session. The game server
   answers one of them, and the other then ends. While the directory does not answer, datagrams are
   dropped: a datagram from a second port would make the game server answer this session too, and
   the page would lose the other. */
static bool is_only_one(struct session *session)
{
    struct stats *stats = session->sessions->stats;
    const bool known =
        !session->entry.listed || sessions_look_up(session->sessions, &session->entry.hash);
    if (session->ending)
        stats->dropped_ended++;
    else if (!known)
        STATS_DROPPED(stats, &session->drops, unanswered, 1);
    return known && !session->ending;
}

bool session_receive(struct session *session, const uint8_t *data, size_t size)
{
    struct stats *stats = session->sessions->stats;
    if (session->ending) {
        sessions_discard(session->sessions, size);
        return false;
    }
    if (session->away)
        session_set_away(session, false);
    stats->client_datagrams++;
    stats->client_bytes += size;
    session->traffic.client_datagrams++;
    session->traffic.client_bytes += size;
    session_record(session, false);
    if (size == 0 || size > SESSION_DATAGRAM_MAX)
        return drop_misfit(session, size);
    if (!passes(session, data, size)) {
        STATS_DROPPED(stats, &session->drops, protocol, 1);
        if (++session->offences >= OFFENCES_MAX)
            session_end(session, SESSION_END_PROTOCOL);
        return !session->ending;
    }
    if (!session->allowance.answered && !is_only_one(session))
        return false;
    if (session->upstream.server_down && !session->allowance.answered)
        session_hurry(session);
    if (!within_allowance(session, size))
        return false;
    const uint64_t token_id = gate_token_id(data, size);
    if (token_id != 0)
        session->token_id = token_id;
    if (!upstream_send(&session->upstream, data, size)) {
        session_end(session, SESSION_END_RESOURCES);
        return false;
    }
    return true;
}

void session_free(struct session *session)
{
    struct sessions *sessions = session->sessions;
    if (!session->ending) {
        sessions->stats->sessions_ended_client++;
        log_end(session, "its browser ended it, or was lost");
    }
    upstream_close(&session->upstream);
    eviction_remove(&session->eviction);
    session_withdraw(session, false);
    deadlines_remove(&sessions->deadlines, &session->deadline);
    if (session->address)
        per_address_limit_leave(sessions->per_address, session->address);
    sessions->evicted -= session->evicted;
    sessions->count--;
    subflows_free(session->subflows);
    session_record_end(session);
    free(session);
    if (sessions->draining && sessions->count == 0)
        sessions->drained(sessions->drained_context);
}
