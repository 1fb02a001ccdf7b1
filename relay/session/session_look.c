#include "session/session_look.h"

#include "session/session_internal.h"

#include <stdlib.h>
#include <string.h>

bool sessions_full(const struct sessions *all)
{
    return all->count - all->evicted >= all->config.max_sessions;
}

static struct session *session_at(const struct sessions *all, size_t index)
{
    return lws_container_of(all->deadlines.heap[index], struct session, deadline);
}

void sessions_look(const struct sessions *all, struct gauges *out)
{
    struct gauges gauges = {
        .sessions_max = all->config.max_sessions,
        .upstreams_down = upstream_common_down(all->upstream_common),
    };
    for (size_t i = 0; i < all->deadlines.count; i++) {
        const struct session *session = session_at(all, i);
        gauges.sessions_unanswered += !session->allowance.answered;
        gauges.sessions_waiting += !session->newest;
        for (const struct session_link *link = session->newest; link; link = link->older)
            gauges.links[gauges_transport(link->transport->name)]++;
    }
    *out = gauges;
}

static int by_number(const void *a, const void *b)
{
    const struct session *const *first = a;
    const struct session *const *second = b;
    return ((*first)->id > (*second)->id) - ((*first)->id < (*second)->id);
}

static void look(const struct session *session, double now, struct session_facts *out)
{
    *out = (struct session_facts){
        .id = session->id,
        .age_seconds = now - session->opened,
        .client = session->client,
        .server = session->server,
        .answered = session->allowance.answered,
        .rtt = session_rtt(session),
        .traffic = session->traffic,
    };
    upstream_local(&session->upstream, &out->source);
    for (const struct session_link *link = session->newest;
         link && out->transport_count < SESSIONS_TRANSPORTS_MAX; link = link->older)
        out->transports[out->transport_count++] = gauges_transport(link->transport->name);
}

unsigned sessions_list(const struct sessions *all, unsigned long after, size_t most,
                       struct session_facts *out, bool *more)
{
    const size_t count = all->deadlines.count;
    const double now = loop_now();
    const struct session **found = malloc((count + 1) * sizeof *found);
    size_t size = 0;
    unsigned written = 0;
    for (size_t i = 0; found && i < count; i++) {
        if (session_at(all, i)->id > after)
            found[size++] = session_at(all, i);
    }
    if (size > 0)
        qsort(found, size, sizeof(const struct session *), by_number);
    while (written < size && written < most) {
        look(found[written], now, &out[written]);
        written++;
    }
    free(found);
    *more = size > written;
    return written;
}

bool sessions_end_one(struct sessions *all, unsigned long id)
{
    for (size_t i = 0; i < all->deadlines.count; i++) {
        struct session *session = session_at(all, i);
        if (session->id == id) {
            session_end(session, SESSION_END_BLOCKED);
            return true;
        }
    }
    return false;
}

/* To end one moves the others. */
unsigned sessions_end_of(struct sessions *all, const struct prefix *prefix)
{
    const size_t count = all->deadlines.count;
    struct session **found = malloc((count + 1) * sizeof *found);
    unsigned size = 0;
    for (size_t i = 0; found && i < count; i++) {
        if (prefix_holds(prefix, &session_at(all, i)->client))
            found[size++] = session_at(all, i);
    }
    for (unsigned i = 0; i < size; i++)
        session_end(found[i], SESSION_END_BLOCKED);
    free(found);
    return size;
}

struct blocks *sessions_blocks(struct sessions *all)
{
    return &all->blocks;
}
