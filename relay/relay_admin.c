#include "relay_internal.h"
#include "session/session_look.h"

#include <unistd.h>

static void look(void *context, struct metrics *out)
{
    struct relay *relay = context;
    const struct options *options =
        relay->reloaded.upstreams.count > 0 ? &relay->reloaded : relay->options;
    relay_count(relay);
    out->counters = *relay->counters;
    out->upstream = upstream_list_is_single(&options->upstreams) ? options->upstream : NULL;
    out->processes[0] = getpid();
    out->process_count = 1;
}

static const char *unready(void *context)
{
    const struct relay *relay = context;
    if (relay->state != RELAY_SERVING)
        return "draining";
    return sessions_full(relay->sessions) ? "no place left" : NULL;
}

bool relay_open_admin(struct relay *relay, struct heritage *heritage)
{
    const struct admin_config config = {
        .address = relay->options->admin_local,
        .loop = relay->loop,
        .heritage = heritage,
        .sessions = relay->sessions,
        .look = look,
        .unready = unready,
        .context = relay,
    };
    if (!relay->options->admin || relay->worker > 0)
        return true;
    relay->admin = admin_create(&config);
    return relay->admin != NULL;
}
