#include "relay_internal.h"

#include <stdlib.h>
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

static void carry_out(void *context, const struct command *command, uint64_t ticket)
{
    struct relay *relay = context;
    struct session_facts *page = calloc(command->limit + 1, sizeof *page);
    struct command_result result = {0};
    if (page)
        result = command_run(relay->sessions, command, page);
    admin_tell(relay->admin, ticket, command, &result, page);
    free(page);
}

bool relay_open_admin(struct relay *relay, struct startup *startup)
{
    const struct admin_config config = {
        .address = relay->options->admin_local,
        .loop = relay->loop,
        .inherited = &startup->sockets,
        .blocks = sessions_blocks(relay->sessions),
        .carry_out = carry_out,
        .look = look,
        .unready = unready,
        .context = relay,
    };
    if (!relay->options->admin || relay->worker > 0)
        return true;
    relay->admin = admin_create(&config);
    return relay->admin != NULL;
}
