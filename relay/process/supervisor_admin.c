#include "process/supervisor_internal.h"

#include <unistd.h>

_Static_assert(METRICS_PROCESSES_MAX == 1 + OPTIONS_WORKERS_MAX, "all of them are told of");

static void add_up(const struct supervisor *all, struct counters *sum)
{
    *sum = all->past;
    for (unsigned i = 0; i < all->count; i++)
        counters_add(sum, all->workers[i].counters);
}

static void look(void *context, struct metrics *out)
{
    const struct supervisor *all = context;
    const struct options *options = supervisor_options(all);
    add_up(all, &out->counters);
    out->upstream = upstream_list_is_single(&options->upstreams) ? options->upstream : NULL;
    out->processes[0] = getpid();
    for (unsigned i = 0; i < all->count; i++)
        out->processes[1 + i] = all->workers[i].child.pid;
    out->process_count = 1 + all->count;
}

static const char *unready(void *context)
{
    const struct supervisor *all = context;
    struct counters sum;
    add_up(all, &sum);
    if (all->state != SUPERVISOR_SERVING)
        return "draining";
    if (!supervisor_has_workers(all))
        return "no worker lives";
    return sum.sessions_open >= sum.gauges.sessions_max ? "no place left" : NULL;
}

bool supervisor_open_admin(struct supervisor *all, struct startup *startup)
{
    const struct admin_config config = {
        .address = all->options->admin_local,
        .loop = all->loop,
        .inherited = &startup->sockets,
        .blocks = &all->blocks,
        .carry_out = supervisor_carry_out,
        .look = look,
        .unready = unready,
        .context = all,
    };
    if (!all->options->admin)
        return true;
    all->admin = admin_create(&config);
    return all->admin != NULL;
}
