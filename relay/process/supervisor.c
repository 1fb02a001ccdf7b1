#include "http/descriptors.h"
#include "os/log.h"
#include "process/message.h"
#include "process/notify.h"
#include "process/supervisor_internal.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Workers have this many seconds to close their links and end, a little more than they give
   themselves; and this many when they need not close them. */
#define CLOSE_SECONDS   6.0
#define AT_ONCE_SECONDS 0.5

static void add_up(const struct supervisor *supervisor, struct counters *sum)
{
    *sum = supervisor->past;
    for (unsigned i = 0; i < supervisor->count; i++)
        counters_add(sum, supervisor->workers[i].counters);
}

void supervisor_log_stats(const struct supervisor *supervisor)
{
    struct counters sum;
    add_up(supervisor, &sum);
    stats_log(&sum.stats, sum.sessions_open);
}

static void on_stop_over(void *context)
{
    log_warn("workers that did not end in time are killed");
    supervisor_signal(context, SIGKILL);
}

/* Begins to stop: the workers end by themselves from now on, in this many seconds at most. */
static void stop(struct supervisor *supervisor, enum supervisor_state state, double seconds)
{
    supervisor->state = state;
    supervisor->stop.expired = on_stop_over;
    supervisor->stop.context = supervisor;
    loop_timer_start(supervisor->loop, &supervisor->stop, seconds);
    upgrade_cancel(&supervisor->upgrade);
    for (unsigned i = 0; i < supervisor->count; i++)
        loop_timer_stop(&supervisor->workers[i].restart);
    if (!supervisor_has_workers(supervisor))
        loop_stop(supervisor->loop);
}

/* Drains or stops on a signal. Each worker does the same, see shutdown.c. */
static void on_stop_signal(struct supervisor *supervisor, int signal_number)
{
    /* Workers that were started anew may have another timeout. */
    const double drain = fmax(supervisor->options->drain_timeout_seconds,
                              supervisor_options(supervisor)->drain_timeout_seconds);
    notify_send("STOPPING=1");
    supervisor_signal(supervisor, signal_number);
    if (supervisor->state == SUPERVISOR_STOPPING)
        stop(supervisor, SUPERVISOR_STOPPING, AT_ONCE_SECONDS);
    else if (supervisor->state == SUPERVISOR_SERVING && signal_number == SIGTERM && drain > 0.0)
        stop(supervisor, SUPERVISOR_DRAINING, drain + CLOSE_SECONDS);
    else
        stop(supervisor, SUPERVISOR_STOPPING, CLOSE_SECONDS);
}

const struct options *supervisor_options(const struct supervisor *supervisor)
{
    return supervisor->reloaded.argv ? &supervisor->reloaded : supervisor->options;
}

/* Reads the options again. All workers get the file as it was read here, whatever becomes of it
   meanwhile. */
static void reload(struct supervisor *supervisor)
{
    struct options old = supervisor->reloaded;
    struct options options;
    struct options_error error;
    if (!options_load(supervisor->options->argc, supervisor->options->argv, -1, &options, &error)) {
        log_error("not reloaded: %s", error.text);
        return;
    }
    if (!tls_reload(supervisor->tls, &options.tls)) {
        log_error("not reloaded");
        options_free(&options);
        return;
    }
    supervisor->reloaded = options;
    for (unsigned i = 0; i < supervisor->count; i++)
        supervisor_reload_worker(&supervisor->workers[i]);
    options_free(&old);
    log_set_level(options.log_level);
    log_set_format(options.log_format);
}

static void take_signal(void *context, int signal_number)
{
    struct supervisor *supervisor = context;
    if (signal_number == SIGUSR1) {
        supervisor_count(supervisor);
    } else if (signal_number == SIGUSR2 && supervisor->state != SUPERVISOR_SERVING) {
        log_warn("no upgrade: this process is stopping");
    } else if (signal_number == SIGUSR2) {
        upgrade_begin(&supervisor->upgrade);
    } else if (signal_number == SIGHUP) {
        notify_reloading();
        reload(supervisor);
        notify_send("READY=1");
    } else {
        on_stop_signal(supervisor, signal_number);
    }
}

static bool send_startup(void *context, int channel)
{
    const struct supervisor *supervisor = context;
    bool sent =
        startup_send_hello(channel, session_index_secret(supervisor->directory.index), 0, 0);
    for (unsigned i = 0; i < supervisor->count; i++) {
        sent = sent && worker_sockets_send(&supervisor->sockets[i], channel);
    }
    return sent &&
           (!supervisor->admin || startup_send_socket(channel, admin_socket(supervisor->admin)));
}

static bool send_sessions(void *context, int channel)
{
    struct supervisor *supervisor = context;
    supervisor_read_workers(supervisor); /* a session may just have been published */
    if (!startup_send_blocks(channel, &supervisor->blocks))
        return false;
    for (const struct directory_entry *one = supervisor->directory.first; one; one = one->next) {
        if (!message_send(channel, MESSAGE_SESSION, &one->state, sizeof one->state, one->fd))
            return false;
    }
    return true;
}

static void leave(void *context)
{
    struct supervisor *supervisor = context;
    supervisor_send_all(supervisor, MESSAGE_REPLACED);
    admin_close(supervisor->admin);
    stop(supervisor, SUPERVISOR_STOPPING, CLOSE_SECONDS);
}

static bool is_settled(void *context)
{
    const struct supervisor *supervisor = context;
    for (const struct directory_entry *one = supervisor->directory.first; one; one = one->next) {
        if (one->worker == DIRECTORY_NO_WORKER && !one->state.away)
            return false;
    }
    return true;
}

static bool adopt(void *context, const struct message *message)
{
    struct supervisor *supervisor = context;
    if (message->type == MESSAGE_SESSION)
        directory_put(&supervisor->directory, message->data, message->size, message->fd,
                      DIRECTORY_NO_WORKER, loop_now() + supervisor->options->resume_seconds);
    else if (message->type == MESSAGE_BLOCKS)
        startup_take_blocks(&supervisor->blocks, message->data, message->size);
    else
        return false;
    return true;
}

static bool open_loop(struct supervisor *supervisor)
{
    supervisor->protocols[0] = http_protocol();
    supervisor->protocols[1] = loop_protocol;
    struct lws_context_creation_info info = {.port = CONTEXT_PORT_NO_LISTEN_SERVER,
                                             .protocols = supervisor->protocols};
    http_fill_info(&info);
    lws_set_log_level(0, NULL);
    supervisor->loop = loop_create(&info);
    supervisor->lingers = lingers_create(supervisor->loop);
    if (supervisor->loop && supervisor->lingers &&
        signals_open(&supervisor->signals, supervisor->loop))
        return true;
    log_error("cannot set up the event loop: %s", strerror(errno));
    return false;
}

static bool take_over(struct supervisor *supervisor, const struct startup *startup)
{
    const struct upgrade_owner owner = {send_startup, send_sessions, leave, is_settled, supervisor};
    upgrade_init(&supervisor->upgrade, supervisor->loop, supervisor->options->argv, &owner);
    if (startup->channel < 0)
        return true;
    if (!upgrade_take_over(&supervisor->upgrade, startup->channel, adopt, supervisor)) {
        log_error("the process that started this one has gone");
        return false;
    }
    log_info("took over %s", log_count(supervisor->directory.count, "session").text);
    supervisor_expire(supervisor);
    return true;
}

static bool open_tls(struct supervisor *supervisor)
{
    const struct tls_files *files = &supervisor->options->tls;
    if (files->certificate_count == 0)
        return true;
    supervisor->tls = tls_create(files);
    if (supervisor->tls)
        tls_watch(supervisor->tls, supervisor->loop, supervisor_share_certificates, supervisor);
    return supervisor->tls != NULL;
}

_Static_assert(METRICS_PROCESSES_MAX == 1 + OPTIONS_WORKERS_MAX,
               "each process has a place in the metrics");

static void look(void *context, struct metrics *out)
{
    const struct supervisor *supervisor = context;
    add_up(supervisor, &out->counters);
    out->certificate_expires = tls_expires(supervisor->tls);
    out->upstreams = &supervisor_options(supervisor)->upstreams;
    out->processes[0] = getpid();
    for (unsigned i = 0; i < supervisor->count; i++)
        out->processes[1 + i] = supervisor->workers[i].child.pid;
    out->process_count = 1 + supervisor->count;
}

static const char *unready(void *context)
{
    const struct supervisor *supervisor = context;
    if (supervisor->state != SUPERVISOR_SERVING)
        return "draining";
    return supervisor_has_workers(supervisor) ? NULL : "no worker lives";
}

static bool serves(void *context, unsigned worker)
{
    const struct supervisor *supervisor = context;
    return supervisor->workers[worker - 1].serving;
}

static bool send_command(void *context, unsigned worker, const struct command_message *message,
                         int fd)
{
    const struct supervisor *supervisor = context;
    return message_send(supervisor->workers[worker - 1].child.channel, MESSAGE_COMMAND, message,
                        sizeof *message, fd);
}

static void finish_command(void *context, uint64_t ticket, const struct command *command,
                           const struct command_result *result, const struct session_summary *page)
{
    const struct supervisor *supervisor = context;
    admin_answer(supervisor->admin, ticket, command, result, page);
}

/* Changes the supervisor's own list of blocks, which new workers get. */
static bool change_blocks(void *context, const struct command *command)
{
    struct supervisor *supervisor = context;
    const struct block *block = &command->block;
    if (command->kind == COMMAND_BLOCK)
        return blocks_add(&supervisor->blocks, &block->prefix, block->until, loop_now());
    return command->kind == COMMAND_UNBLOCK && blocks_remove(&supervisor->blocks, &block->prefix);
}

static void carry_out(void *context, const struct command *command, uint64_t ticket)
{
    struct supervisor *supervisor = context;
    const bool done = change_blocks(supervisor, command);
    pending_commands_start(&supervisor->commands, command, ticket, done);
}

static bool open_block_list(struct supervisor *supervisor)
{
    const struct block_list_config config = {
        .url = supervisor->options->blocks_from,
        .seconds = supervisor->options->blocks_interval_seconds,
        .loop = supervisor->loop,
        .blocks = &supervisor->blocks,
        .carry_out = change_blocks,
        .context = supervisor,
        .stats = &supervisor->past.stats,
    };
    if (!config.url)
        return true;
    supervisor->block_list = block_list_create(&config);
    return supervisor->block_list != NULL;
}

static bool open_admin(struct supervisor *supervisor, struct startup *startup)
{
    const struct admin_config config = {
        .address = supervisor->options->admin_local,
        .http = {.loop = supervisor->loop,
                 .vhost = loop_vhost(supervisor->loop),
                 .lingers = supervisor->lingers},
        .inherited = &startup->sockets,
        .blocks = &supervisor->blocks,
        .carry_out = carry_out,
        .look = look,
        .unready = unready,
        .context = supervisor,
    };
    if (!supervisor->options->admin)
        return true;
    supervisor->commands.config = (struct pending_commands_config){
        .loop = supervisor->loop,
        .workers = supervisor->count,
        .serves = serves,
        .send = send_command,
        .finish = finish_command,
        .context = supervisor,
    };
    supervisor->admin = admin_create(&config);
    return supervisor->admin != NULL;
}

static bool start(struct supervisor *supervisor, struct startup *startup)
{
    const struct options *options = supervisor->options;
    struct descriptors descriptors;
    if (!descriptors_divide(options->max_sessions, &descriptors) || !open_loop(supervisor))
        return false;
    if (!directory_create(&supervisor->directory, 2 * descriptors.capacity,
                          startup->channel >= 0 ? startup->secret : NULL)) {
        log_error("no memory");
        return false;
    }
    return open_tls(supervisor) &&
           worker_sockets_open(options, &startup->sockets, supervisor->sockets) &&
           open_admin(supervisor, startup) && supervisor_start_workers(supervisor) &&
           take_over(supervisor, startup) && open_block_list(supervisor) &&
           supervisor_let_serve(supervisor);
}

/* Logs where the relay listens. It comes last, so that whoever waits for these lines finds
   everything open. */
static void announce(const struct supervisor *supervisor)
{
    admin_announce(supervisor->admin);
    worker_sockets_announce(&supervisor->sockets[0], supervisor->options);
}

static void destroy(struct supervisor *supervisor)
{
    upgrade_cancel(&supervisor->upgrade);
    block_list_destroy(supervisor->block_list);
    for (unsigned i = 0; i < supervisor->count; i++) {
        struct worker_process *worker = &supervisor->workers[i];
        loop_timer_stop(&worker->restart);
        child_end(&worker->child);
        worker_sockets_close(&supervisor->sockets[i]);
        if (worker->counters)
            close(worker->counters_fd);
        counters_destroy(worker->counters);
    }
    pending_commands_drop(&supervisor->commands);
    admin_close(supervisor->admin);
    lingers_close(supervisor->lingers);
    loop_timer_stop(&supervisor->count_late);
    loop_timer_stop(&supervisor->stop);
    loop_timer_stop(&supervisor->liveness);
    loop_timer_stop(&supervisor->expiry);
    tls_destroy(supervisor->tls);
    directory_destroy(&supervisor->directory);
    loop_destroy(supervisor->loop);
    admin_destroy(supervisor->admin);
    lingers_destroy(supervisor->lingers);
    signals_close(&supervisor->signals);
    options_free(&supervisor->reloaded);
    free(supervisor);
}

bool supervisor_run(const struct options *options, struct startup *startup)
{
    struct supervisor *supervisor = calloc(1, sizeof *supervisor);
    if (!supervisor)
        return false;
    supervisor->options = options;
    supervisor->count = options->workers;
    supervisor->signals =
        (struct signals){.watch.fd = -1, .take = take_signal, .context = supervisor};
    for (unsigned i = 0; i < supervisor->count; i++) {
        supervisor->workers[i].supervisor = supervisor;
        supervisor->workers[i].number = i + 1;
    }
    const bool started = start(supervisor, startup);
    startup_close(startup);
    if (started) {
        announce(supervisor);
        notify_open(supervisor->loop);
        notify_send("READY=1");
        supervisor_look_after_workers(supervisor);
        loop_run(supervisor->loop, NULL, NULL);
        notify_close();
        supervisor_log_stats(supervisor);
    }
    destroy(supervisor);
    return started;
}
