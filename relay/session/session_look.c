#include "session/session_look.h"

#include "session/session_internal.h"

#include <string.h>

bool sessions_full(const struct sessions *all)
{
    return all->count - all->evicted >= all->config.max_sessions;
}

static void count_link(const struct session_link *link, struct sessions_now *out)
{
    unsigned i = 0;
    while (i < out->transport_count && out->transports[i].name != link->transport->name)
        i++;
    if (i == SESSIONS_TRANSPORTS_MAX)
        return;
    if (i == out->transport_count)
        out->transports[out->transport_count++].name = link->transport->name;
    out->transports[i].links++;
}

void sessions_look(const struct sessions *all, struct sessions_now *out)
{
    *out = (struct sessions_now){
        .open = all->count,
        .max = all->config.max_sessions,
        .upstream_up = upstream_batch_up(all->batch),
    };
    socket_address_format(&all->config.upstream, out->upstream);
    for (size_t i = 0; i < all->deadlines.count; i++) {
        const struct session *session =
            lws_container_of(all->deadlines.heap[i], struct session, deadline);
        out->unanswered += !session->allowance.answered;
        out->waiting += !session->newest;
        for (const struct session_link *link = session->newest; link; link = link->older)
            count_link(link, out);
    }
}
