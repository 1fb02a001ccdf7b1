#include "session.h"

#include "addresses.h"
#include "log.h"
#include "upstream.h"

#include <stdlib.h>
#include <time.h>

/* Some may be damaged on the way, or come late from an earlier connection. */
#define OFFENCES_MAX 8

struct session {
    struct sessions *all;
    const struct transport *transport;
    void *link;
    struct address_count *address;
    struct session *older; /* neighbours in the order of their last datagram */
    struct session *newer;
    double active; /* when the last datagram came, from either side */
    unsigned long id;
    bool ending;
    enum gate_verdict verdict; /* on the latest of the datagrams that could begin it */
    unsigned offences;         /* datagrams that the gate has not let pass */
    struct allowance allowance;
    struct upstream upstream;
};

struct sessions {
    struct sessions_config config;
    struct loop *loop;
    struct stats *stats;
    struct addresses *addresses;
    struct upstream_batch *batch;
    struct session *oldest;
    struct session *newest;
    unsigned count;
    unsigned long last_id;
    struct loop_timer idle;
    bool idle_armed;
    bool draining;
    void (*drained)(void *context);
    void *drained_context;
    struct log_limit refused_limit;
    struct log_limit rate_limit;
};

static void list_remove(struct session *session)
{
    struct sessions *all = session->all;
    *(session->older ? &session->older->newer : &all->oldest) = session->newer;
    *(session->newer ? &session->newer->older : &all->newest) = session->older;
}

static void list_append(struct session *session)
{
    struct sessions *all = session->all;
    session->older = all->newest;
    session->newer = NULL;
    *(all->newest ? &all->newest->newer : &all->oldest) = session;
    all->newest = session;
}

/* One timer serves all: it is set for the session that has been quiet longest, and set again when
   it fires too early because that session has spoken since. */
static void arm_idle(struct sessions *all, double now)
{
    if (all->config.idle_timeout <= 0.0 || all->idle_armed || !all->oldest)
        return;
    all->idle_armed = true;
    loop_timer_start(all->loop, &all->idle, all->oldest->active + all->config.idle_timeout - now);
}

static void touch(struct session *session)
{
    session->active = loop_now();
    if (session->newer) {
        list_remove(session);
        list_append(session);
    }
}

static void on_idle(void *context)
{
    struct sessions *all = context;
    double now = loop_now();
    all->idle_armed = false;
    /* Those that end come back to the list with the time that it is, and must not be due again,
       however short the timeout. */
    while (all->oldest && all->oldest->active < now &&
           all->oldest->active + all->config.idle_timeout <= now) {
        struct session *session = all->oldest;
        /* An ending session stays until its transport closes it; it must not be found again. */
        session->active = now;
        list_remove(session);
        list_append(session);
        session_end(session, SESSION_END_IDLE);
    }
    arm_idle(all, now);
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
    all->idle.expired = on_idle;
    all->idle.context = all;
    all->addresses = addresses_create(config->max_sessions);
    all->batch = upstream_batch_create(loop, stats, &all->config.upstream);
    if (!all->addresses || !all->batch) {
        sessions_destroy(all);
        return NULL;
    }
    return all;
}

void sessions_destroy(struct sessions *all)
{
    if (!all)
        return;
    loop_timer_stop(&all->idle);
    addresses_destroy(all->addresses);
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

void sessions_drain(struct sessions *all, void (*drained)(void *context), void *context)
{
    all->draining = true;
    all->drained = drained;
    all->drained_context = context;
    if (all->count == 0) {
        drained(context);
        return;
    }
    /* A transport may close its session in the call, so the next is taken from the list. */
    struct session *next;
    for (struct session *session = all->oldest; session; session = next) {
        next = session->newer;
        session_end(session, SESSION_END_DRAIN);
    }
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

static enum session_refusal admit(struct sessions *all, const struct endpoint *client,
                                  struct session **out)
{
    if (all->draining)
        return SESSION_REFUSED_DRAINING;
    if (all->count >= all->config.max_sessions)
        return SESSION_REFUSED_FULL;
    bool full;
    struct address_count *address =
        addresses_enter(all->addresses, client, all->config.max_per_address, &full);
    if (!address)
        return full ? SESSION_REFUSED_ADDRESS : SESSION_REFUSED_MEMORY;
    struct session *session = calloc(1, sizeof *session);
    if (!session) {
        addresses_leave(all->addresses, address);
        return SESSION_REFUSED_MEMORY;
    }
    session->address = address;
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
    allowance_answered(&session->allowance);
    session->transport->send(session->link, data, size);
}

static void on_upstream_flush(void *context)
{
    struct session *session = context;
    if (session->ending)
        return;
    touch(session);
    session->transport->flush(session->link);
}

struct session *session_open(struct sessions *all, const struct transport *transport, void *link,
                             const struct endpoint *client, enum session_refusal *why)
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
    session->active = loop_now();
    allowance_init(&session->allowance);
    upstream_init(&session->upstream, all->batch, on_upstream_datagram, on_upstream_flush, session);
    list_append(session);
    all->count++;
    all->stats->sessions_opened++;
    arm_idle(all, session->active);
    if (log_wants(LOG_DEBUG)) {
        char text[ENDPOINT_TEXT];
        endpoint_format(client, text);
        log_debug("session %lu: %s from %s", session->id, transport->name, text);
    }
    return session;
}

void session_end(struct session *session, enum session_end why)
{
    static const char *const reasons[] = {
        [SESSION_END_IDLE] = "idle timeout",
        [SESSION_END_DRAIN] = "the relay is stopping",
        [SESSION_END_TEXT] = "it sent text",
        [SESSION_END_EMPTY] = "it sent an empty message",
        [SESSION_END_OVERSIZE] = "it sent an oversized message",
        [SESSION_END_RESOURCES] = "no socket or memory for it",
    };
    static const char *const verdicts[] = {
        [GATE_PASS] = "it sent what is no packet of a secure connection",
        [GATE_NO_REQUEST] = "it did not begin with the request of a secure connection",
        [GATE_PROTOCOL] = "it asked for a protocol that --protocol-id does not name",
        [GATE_EXPIRED] = "its connect token has expired",
    };
    if (session->ending)
        return;
    session->ending = true;
    struct stats *stats = session->all->stats;
    switch (why) {
    case SESSION_END_IDLE:
        stats->sessions_ended_idle++;
        break;
    case SESSION_END_DRAIN:
        stats->sessions_ended_drain++;
        break;
    case SESSION_END_TEXT:
        stats->sessions_ended_text++;
        break;
    case SESSION_END_EMPTY:
        stats->sessions_ended_empty++;
        break;
    case SESSION_END_OVERSIZE:
        stats->sessions_ended_oversize++;
        break;
    case SESSION_END_PROTOCOL:
        stats->sessions_ended_protocol++;
        break;
    case SESSION_END_RESOURCES:
        stats->sessions_ended_resources++;
        break;
    }
    log_debug("session %lu: ended: %s", session->id,
              why == SESSION_END_PROTOCOL ? verdicts[session->verdict] : reasons[why]);
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
    return session->verdict == GATE_PASS;
}

static bool within_allowance(struct session *session, size_t size)
{
    struct sessions *all = session->all;
    const double now = loop_now();
    unsigned held;
    if (allowance_take(&session->allowance, &all->config.allowance, size, now))
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

bool session_receive(struct session *session, const uint8_t *data, size_t size)
{
    struct stats *stats = session->all->stats;
    if (session->ending)
        return false;
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
    touch(session);
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
    addresses_leave(all->addresses, session->address);
    free(session);
    all->count--;
    if (all->draining && all->count == 0)
        all->drained(all->drained_context);
}

unsigned long session_id(const struct session *session)
{
    return session->id;
}
