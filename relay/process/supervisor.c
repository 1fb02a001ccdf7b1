#include "http/descriptors.h"
#include "os/log.h"
#include "process/message.h"
#include "process/notify.h"
#include "process/supervisor_internal.h"
#include "rtc/webrtc.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For workers to close their links and end, a little more than they give themselves; and when they
   need not close them. */
#define CLOSE_SECONDS   6.0
#define AT_ONCE_SECONDS 0.5

void supervisor_log_stats(const struct supervisor *all)
{
    struct counters sum = all->past;
    for (unsigned i = 0; i < all->count; i++)
        counters_add(&sum, all->workers[i].counters);
    stats_log(&sum.stats, sum.sessions_open);
}

static void on_stop_over(void *context)
{
    log_warn("workers that did not end in time are killed");
    supervisor_signal(context, SIGKILL);
}

/* The workers end by themselves from now on, in so many seconds at most. */
static void stop(struct supervisor *all, enum supervisor_state state, double seconds)
{
    all->state = state;
    all->stop.expired = on_stop_over;
    all->stop.context = all;
    loop_timer_start(all->loop, &all->stop, seconds);
    upgrade_cancel(&all->upgrade);
    for (unsigned i = 0; i < all->count; i++)
        loop_timer_stop(&all->workers[i].again);
    if (!supervisor_has_workers(all))
        loop_stop(all->loop);
}

/* As each worker does, see relay_signals.c. */
static void on_stop_signal(struct supervisor *all, int signal_number)
{
    /* Those that were started anew may have another. */
    const double drain =
        fmax(all->options->drain_timeout_seconds, supervisor_options(all)->drain_timeout_seconds);
    notify_send("STOPPING=1");
    supervisor_signal(all, signal_number);
    if (all->state == SUPERVISOR_STOPPING)
        stop(all, SUPERVISOR_STOPPING, AT_ONCE_SECONDS);
    else if (all->state == SUPERVISOR_SERVING && signal_number == SIGTERM && drain > 0.0)
        stop(all, SUPERVISOR_DRAINING, drain + CLOSE_SECONDS);
    else
        stop(all, SUPERVISOR_STOPPING, CLOSE_SECONDS);
}

const struct options *supervisor_options(const struct supervisor *all)
{
    return all->reloaded.argv ? &all->reloaded : all->options;
}

/* All workers get what was read here, whatever becomes of the file meanwhile. */
static void reload(struct supervisor *all)
{
    struct options old = all->reloaded;
    struct options options;
    struct options_error error;
    if (!options_load(all->options->argc, all->options->argv, -1, &options, &error)) {
        log_error("not reloaded: %s", error.text);
        return;
    }
    if (!tls_reload(all->tls, &options.tls)) {
        log_error("not reloaded");
        options_free(&options);
        return;
    }
    all->reloaded = options;
    for (unsigned i = 0; i < all->count; i++)
        supervisor_reload_worker(&all->workers[i]);
    options_free(&old);
    log_set_level(options.log_level);
    log_set_format(options.log_format);
}

static void take_signal(void *context, int signal_number)
{
    struct supervisor *all = context;
    if (signal_number == SIGUSR1) {
        supervisor_count(all);
    } else if (signal_number == SIGUSR2 && all->state != SUPERVISOR_SERVING) {
        log_warn("no upgrade: this process is stopping");
    } else if (signal_number == SIGUSR2) {
        upgrade_begin(&all->upgrade);
    } else if (signal_number == SIGHUP) {
        notify_reloading();
        reload(all);
        notify_send("READY=1");
    } else {
        on_stop_signal(all, signal_number);
    }
}

static bool send_startup(void *context, int channel)
{
    const struct supervisor *all = context;
    bool sent = startup_send_hello(channel, session_index_secret(all->directory.index), 0, 0);
    for (unsigned i = 0; i < all->count; i++) {
        for (unsigned s = 0; s < all->workers[i].socket_count; s++)
            sent = sent && startup_send_socket(channel, all->workers[i].sockets[s]);
    }
    return sent && (!all->admin || startup_send_socket(channel, admin_socket(all->admin)));
}

static bool send_sessions(void *context, int channel)
{
    const struct supervisor *all = context;
    if (!startup_send_blocks(channel, &all->blocks))
        return false;
    for (const struct directory_entry *one = all->directory.first; one; one = one->next) {
        if (!message_send(channel, MESSAGE_SESSION, &one->state, sizeof one->state, one->fd))
            return false;
    }
    return true;
}

static void leave(void *context)
{
    struct supervisor *all = context;
    supervisor_tell(all, MESSAGE_REPLACED);
    admin_close(all->admin);
    stop(all, SUPERVISOR_STOPPING, CLOSE_SECONDS);
}

static bool adopt(void *context, const struct message *message)
{
    struct supervisor *all = context;
    if (message->type == MESSAGE_SESSION)
        directory_put(&all->directory, message->data, message->size, message->fd,
                      DIRECTORY_NO_WORKER, loop_now() + all->options->resume_seconds);
    else if (message->type == MESSAGE_BLOCKS)
        startup_take_blocks(&all->blocks, message->data, message->size);
    else
        return false;
    return true;
}

static bool open_loop(struct supervisor *all)
{
    all->protocols[0] = (struct lws_protocols){.name = "none", .callback = lws_callback_http_dummy};
    all->protocols[1] = loop_protocol;
    struct lws_context_creation_info info = {.port = CONTEXT_PORT_NO_LISTEN_SERVER,
                                             .protocols = all->protocols};
    lws_set_log_level(0, NULL);
    all->loop = loop_create(&info);
    if (all->loop && signals_open(&all->signals, all->loop))
        return true;
    log_error("cannot set up the event loop: %s", strerror(errno));
    return false;
}

static bool take_over(struct supervisor *all, const struct startup *startup)
{
    const struct upgrade_owner owner = {send_startup, send_sessions, leave, all};
    upgrade_init(&all->upgrade, all->loop, all->options->argv, &owner);
    if (startup->channel < 0)
        return true;
    if (!upgrade_take_over(startup->channel, adopt, all)) {
        log_error("the process that started this one has gone");
        return false;
    }
    log_info("took over %s", log_count(all->directory.count, "session").text);
    supervisor_expire(all);
    return true;
}

static bool open_tls(struct supervisor *all)
{
    const struct tls_files *files = &all->options->tls;
    if (files->certificate_count == 0)
        return true;
    all->tls = tls_create(files);
    if (all->tls)
        tls_watch(all->tls, all->loop, supervisor_share_certificates, all);
    return all->tls != NULL;
}

/* Each worker reads the file by itself. */
static bool rtc_certificate_is_good(const struct options *options)
{
    if (!options->rtc_certificate)
        return true;
    struct dtls_identity *identity =
        webrtc_load_identity(options->rtc_certificate, options->rtc_key);
    dtls_identity_destroy(identity);
    return identity != NULL;
}

static bool start(struct supervisor *all, struct startup *startup)
{
    const struct options *options = all->options;
    struct descriptors descriptors;
    if (!descriptors_divide(options->max_sessions, &descriptors) || !open_loop(all))
        return false;
    if (!directory_create(&all->directory, 2 * descriptors.sessions,
                          startup->channel >= 0 ? startup->secret : NULL)) {
        log_error("no memory");
        return false;
    }
    return open_tls(all) && rtc_certificate_is_good(options) &&
           supervisor_open_sockets(all, startup) && supervisor_open_admin(all, startup) &&
           supervisor_start_workers(all) && take_over(all, startup) && supervisor_let_serve(all);
}

static void announce_socket(const struct supervisor *all, unsigned index, const char *what)
{
    struct socket_address local = {.size = sizeof local.address};
    char text[SOCKET_ADDRESS_TEXT];
    getsockname(all->workers[0].sockets[index], &local.address.any, &local.size);
    socket_address_format(&local, text);
    log_info("%u workers %s %s", all->count, what, text);
}

/* Whoever waits for these lines finds all that was asked for. */
static void announce(const struct supervisor *all)
{
    const unsigned listening = all->options->listen_count;
    admin_announce(all->admin);
    for (unsigned i = 0; i < all->options->http_redirect_count; i++)
        announce_socket(all, listening + i, "redirecting from");
    for (unsigned i = 0; i < listening; i++)
        announce_socket(all, i, "listening on");
}

static void destroy(struct supervisor *all)
{
    upgrade_cancel(&all->upgrade);
    for (unsigned i = 0; i < all->count; i++) {
        struct worker *worker = &all->workers[i];
        loop_timer_stop(&worker->again);
        child_end(&worker->child);
        for (unsigned s = 0; s < worker->socket_count; s++)
            close(worker->sockets[s]);
        if (worker->counters)
            close(worker->counters_fd);
        counters_destroy(worker->counters);
    }
    supervisor_drop_commands(all);
    admin_destroy(all->admin);
    loop_timer_stop(&all->count_late);
    loop_timer_stop(&all->stop);
    loop_timer_stop(&all->expiry);
    tls_destroy(all->tls);
    directory_destroy(&all->directory);
    loop_destroy(all->loop);
    signals_close(&all->signals);
    options_free(&all->reloaded);
    free(all);
}

bool supervisor_run(const struct options *options, struct startup *startup)
{
    struct supervisor *all = calloc(1, sizeof *all);
    if (!all)
        return false;
    all->options = options;
    all->count = options->workers;
    all->signals = (struct signals){.watch.fd = -1, .take = take_signal, .context = all};
    for (unsigned i = 0; i < all->count; i++) {
        all->workers[i].all = all;
        all->workers[i].number = i + 1;
    }
    const bool started = start(all, startup);
    startup_close(startup);
    if (started) {
        announce(all);
        notify_open(all->loop);
        notify_send("READY=1");
        loop_run(all->loop, NULL, NULL);
        notify_close();
        supervisor_log_stats(all);
    }
    destroy(all);
    return started;
}
